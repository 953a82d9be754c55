"""Robot files: URDF and MJCF in, and the numbers of a model back into the file that it came from."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..model import Model, ModelError, ModelWarning, build_spec, pairs_left_out

__all__ = ["is_urdf", "load", "save"]


def load(
    path: str | Path,
    base: str = "fixed",
    mimic: bool = True,
    massless: str = "error",
    package_dirs: Sequence[str | Path] = (),
    strict: bool = False,
    meshes: bool = True,
    decompose: bool | float = False,
    self_collision: bool | None = None,
) -> Model:
    """A model from a URDF or MJCF file; which of them it is, its root element says.

    Raises `ModelError` with file, line and fix where the file is broken or describes no mechanism, and warns
    with `ModelWarning` of what is repaired or left out.

    `base`: "fixed" or "free": how the root link of a URDF stands in the world, by a joint called "root". A root
    link that is called "world" is the world itself: then joints of the file hold the robot, and base="free" makes
    the fixed ones among them free. An MJCF file says this itself.
    `mimic`: with False, joints that copy others move by themselves.
    `massless`: "error" or "fix": what becomes of joints that move no inertia.
    `package_dirs`: folders in which to look for the packages of package:// names, besides ROS_PACKAGE_PATH and
    the folders above the file.
    `strict`: an inertia that no body has is an error, not a warning.
    `meshes`: with False, collision meshes are left out. Otherwise they become the corners of their convex hull, as in
    MuJoCo; a hull of more than 128 corners is simplified.
    `decompose`: with True, a collision mesh becomes several convex parts (by CoACD, which `pip install "hybridsim[shapes]"`
    brings; seconds for a mesh, remembered), so that things fit into its hollows. A number says how concave parts may be, 0.01 for
    many parts to 1 for few; True is 0.05.
    `self_collision`: whether links of one mechanism may touch each other, where the file's collision filters allow it.
    Separate mechanisms, and what is fixed in the world, always may. None is False with a warning where MuJoCo would
    let links of an MJCF file's mechanism touch.
    """
    path = Path(path)
    if path.suffix == ".hybrid" or (path / "model.json").is_file():
        raise ModelError(f"{path}: it is a model with networks, not a robot's file; use hs.load_hybrid(path)")
    _one_of("base", base, ("fixed", "free"))
    _one_of("massless", massless, ("error", "fix"))
    from .decomposition import concavity_of
    from .limits import check_counts

    concavity = concavity_of(decompose)
    is_mjcf = _root_tag(path) == "mujoco"
    if not is_mjcf:
        from .urdf import read_urdf

        spec, notes = read_urdf(path, base, mimic, package_dirs, meshes, concavity), []
    else:
        from .mjcf import read_mjcf

        if base != "fixed":
            raise ModelError(f"{path}: base={base!r} is for URDF; an MJCF body is free by a <freejoint/>")
        spec, notes = read_mjcf(path, meshes, concavity)
    check_counts(spec)
    if massless == "fix":
        from .massless import fix_massless

        spec = fix_massless(spec)
    model = build_spec(replace(spec, self_collision=bool(self_collision)), strict=strict)
    if self_collision is None and is_mjcf:
        notes += _pairs_left_out(model, spec.excludes)
    if notes:
        warnings.warn(f"{path}: not simulated: {'; '.join(notes)}", ModelWarning, stacklevel=2)
    return model


def _pairs_left_out(model: Model, excludes: Sequence[tuple[str, str]]) -> list[str]:
    """A note on contact that MuJoCo would see."""
    left_out = [f"{a} with {b}" for a, b in pairs_left_out(model, excludes)]
    if not left_out:
        return []
    shown = ", ".join(left_out[:2]) + (", ..." if len(left_out) > 2 else "")
    return [f"contact within a mechanism: {len(left_out)} pairs ({shown}), unless self_collision=True is given"]


def save(model: Model, path: str | Path, like: str | Path | None = None) -> None:
    """Writes the numbers of `model` into a copy of the file `like` that it was loaded from.

    Only numbers that differ from those in `like` are written; all else, such as comments, looks and layout, stays
    as it is. `path` and `like` may be the same. Warns with `ModelWarning` of numbers that the file cannot hold, and of
    networks, which it cannot hold either: `hs.save_hybrid` keeps them.
    """
    if Path(path).suffix == ".hybrid":
        raise ModelError(f"{path}: hs.save writes URDF and MJCF; a model with its networks is saved by hs.save_hybrid")
    if like is None:
        raise ModelError(f"{path}: a model does not remember its file; name it: hs.save(model, path, like=original)")
    like, path = Path(like), Path(path)
    if _root_tag(like) == "robot":
        from .save_urdf import save_urdf

        save_urdf(model, path, like)
    else:
        from .save_mjcf import save_mjcf

        save_mjcf(model, path, like)
    if model.augmentation is not None:
        warnings.warn(
            f"{path}: the model's networks are not in it, so loading it gives another motion; hs.save_hybrid keeps them",
            ModelWarning,
            stacklevel=2,
        )


def is_urdf(path: str | Path) -> bool:
    """Whether a file is a URDF rather than an MJCF file, by its root element."""
    return _root_tag(Path(path)) == "robot"


def _root_tag(path: Path) -> str:
    """Whether a file is a URDF ("robot") or MJCF ("mujoco")."""
    from .xml import line_of, parse_xml

    root = parse_xml(path).getroot()
    if root.tag not in ("robot", "mujoco"):
        raise ModelError(
            f"{path}, {line_of(root)}: the root element is <{root.tag}>; URDF starts with <robot>, MJCF with <mujoco>"
        )
    return root.tag


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ModelError(f"{what} is {value!r}; it must be one of {', '.join(map(repr, allowed))}")
