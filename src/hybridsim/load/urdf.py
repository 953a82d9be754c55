"""URDF to `Spec`, read by yourdfpy without its meshes."""

import io
import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import yourdfpy
from lxml import etree

from ..model import WORLD, Joint, Link, ModelError, ModelWarning, Spec
from .urdf_check import check_urdf
from .urdf_joints import lead_directly, read_joint, warn_of_placeholders
from .urdf_links import MeshFinder, read_link
from .xml import line_of, parse_xml

# What has no part in the motion. yourdfpy would stop at what it does not know in there.
_LOOKS = ("visual", "material", "transmission", "safety_controller", "calibration", "gazebo")


def read_urdf(
    path: Path,
    base: str = "fixed",
    mimic: bool = True,
    package_dirs: Sequence[str | Path] = (),
    meshes: bool = True,
    concavity: float | None = None,
) -> Spec:
    """The records of a URDF file. Options as in `load`; `concavity` is that of `mesh_parts`."""
    root = parse_xml(path).getroot()
    check_urdf(path, root)
    robot = _parse(root)
    finder = MeshFinder(path.parent.resolve(), package_dirs, meshes, concavity)
    links = [read_link(link, e, finder) for link, e in zip(robot.links, root.iterfind("link"), strict=True)]
    joints = lead_directly(path, [read_joint(joint, mimic) for joint in robot.joints])
    finder.warn(path)
    warn_of_placeholders(path, robot.joints)
    elements = {f"{e.tag} {e.get('name')}": line_of(e) for e in root.iterfind("*") if e.tag in ("link", "joint")}

    world = _world_link(path, links, joints)
    links = [link for link in links if link is not world]
    return Spec(
        links=links,
        joints=_attach(path, links, joints, base, elements),
        world_geoms=() if world is None else world.geoms,
        source=str(path),
        elements=elements,
    )


def _parse(root: etree._Element) -> yourdfpy.Robot:
    """The elements that matter, as yourdfpy's records, in the order of the file."""
    copy = deepcopy(root)
    etree.strip_elements(copy, *_LOOKS, with_tail=False)
    copy.set("name", copy.get("name", ""))
    for capsule in copy.iter("capsule"):  # not in URDF, but used; it has the attributes of a cylinder
        capsule.tag = "cylinder"
    text = io.BytesIO(etree.tostring(copy))
    return yourdfpy.URDF.load(text, build_scene_graph=False, load_meshes=False).robot


def _world_link(path: Path, links: list[Link], joints: list[Joint]) -> Link | None:
    """The root link that is called "world", and so is the world: its shapes stand still, its mass has no effect."""
    moved = {joint.child for joint in joints}
    world = next((link for link in links if link.name == WORLD and WORLD not in moved), None)
    if world is not None and world.mass > 0:
        warnings.warn(
            f"{path}: the root link {WORLD!r} is the fixed world, so its mass of {world.mass:g} kg has no effect; "
            "rename the link if it is a body",
            ModelWarning,
            stacklevel=2,
        )
    return world


def _attach(path: Path, links: list[Link], joints: list[Joint], base: str, elements: dict[str, str]) -> list[Joint]:
    """The joints, and how the robot stands in the world."""
    moved = {joint.child for joint in joints}
    if not moved <= {link.name for link in links}:
        return joints  # `build` names the link that does not exist
    roots = list(dict.fromkeys(link.name for link in links if link.name not in moved))
    tied = [joint for joint in joints if joint.parent == WORLD]
    if len(roots) + bool(tied) > 1:
        places = [f"{name!r} ({elements[f'link {name}']})" for name in roots]
        places += [f"{WORLD!r}"] * bool(tied)
        raise ModelError(
            f"{path}: it has several roots, links that are no joint's child: {', '.join(places)}; "
            "join them by fixed joints, or split the file"
        )
    if tied:
        return joints if base == "fixed" else _release(path, joints, tied)
    if not roots:
        return joints  # `build` names the loop
    name = "root" if all(joint.name != "root" for joint in joints) else f"{roots[0]}_root"
    return [Joint(name, base, WORLD, roots[0]), *joints]


def _release(path: Path, joints: list[Joint], tied: list[Joint]) -> list[Joint]:
    """Joints that fix a robot to the world become free ones."""
    held = [f"{joint.name!r} ({joint.kind})" for joint in tied if joint.kind not in ("fixed", "free")]
    if held:
        raise ModelError(
            f'{path}: base="free" would release the joints at the world, but they move: {", ".join(held)}; '
            'load it with base="fixed", or make them fixed or floating'
        )
    return [replace(joint, kind="free") if joint.parent == WORLD else joint for joint in joints]
