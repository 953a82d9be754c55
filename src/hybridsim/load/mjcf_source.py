"""An MJCF file as MuJoCo's own compiler understands it, without what only the eye needs.

MuJoCo reads every mesh and texture that a file names and gives up where one is missing. Textures, materials,
skins, sensors and keyframes say nothing about the motion, and most meshes are only drawn: they are not read.
"""

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from lxml import etree

from ..model import ModelError
from .limits import check_expansion, check_mesh
from .xml import parse_xml

# A tetrahedron stands in for every mesh whose shape does not matter.
_CORNERS = np.array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1.0])
_FACES = np.array([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3])

_FIXES = (
    ("model type", "a fragment is loaded by the file that includes it; give that one"),
    ("opening file", "put the file there, or correct its path"),
    ("mass and inertia of moving", "give the body an <inertial> or a geom with mass; is the unit kg?"),
    ("A + B >= C", 'correct the inertia, or let MuJoCo change it: <compiler balanceinertia="true"/>'),
    ("free joint can only", "move the body to <worldbody>, or give it another joint"),
    ("repeated name", "rename one of the two"),
    ("Schema violation", f"correct it, or use the MuJoCo that it was written for; this is {mujoco.__version__}"),
    ("decod", "is it a Git LFS pointer instead of the file itself?"),
)


@dataclass(frozen=True)
class Source:
    """A compiled file: `model` has the numbers, `spec` what was written, `notes` what was left out on the way."""

    path: Path
    spec: mujoco.MjSpec
    model: mujoco.MjModel
    notes: tuple[str, ...]
    excludes: tuple[tuple[str, str], ...] = ()
    """Names of two bodies that never touch."""
    silent: tuple[int, ...] = ()
    """Geoms of meshes that collide, but were read without their meshes."""

    def off(self, *flags: str) -> bool:
        """Does the file switch one of these parts of the physics off (<option><flag NAME="disable"/>)?"""
        names = [f"mjDSBL_{flag.upper()}" for flag in flags]
        bits = mujoco.mjtDisableBit.__members__
        return any(self.model.opt.disableflags & bits[name] for name in names if name in bits)


def open_mjcf(path: Path, meshes: bool = True) -> Source:
    """Parse and compile. Raises `ModelError` with MuJoCo's own words where it refuses the file.

    `meshes`: with False, meshes do not collide, and only those are read that give a body its inertia.
    """
    _check_xml(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spec = _parse(path)
        excludes = _excludes(path, spec)
        _leave_out_what_does_not_move(spec)
        silent = _leave_out_meshes(spec, meshes)
        _check_files(path, spec)
        model, missing = _compile(path, spec)
    notes = [listed("files not found, their shapes left out", missing)]
    notes += [f"MuJoCo says: {warning.message}" for warning in caught if "deprecated" not in str(warning.message)]
    ids = tuple(sorted(geom.id for geom in silent))
    return Source(path, spec, model, tuple(note for note in notes if note), excludes, ids)


def listed(what: str, names: list[str]) -> str:
    """`equality: 3 (a, b, c)`; empty if there are none."""
    if not names:
        return ""
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return f"{what}: {len(names)} ({shown})"


def _check_xml(main: Path) -> None:
    """Every file that is read must be well-formed, without entities, and not too large, before MuJoCo sees it."""
    counts: dict[Path, int] = {}

    def elements(file: Path) -> int:
        """How many there are in a file, with those of the files that it includes or attaches."""
        if file not in counts:
            counts[file] = 0  # a file that includes itself is for MuJoCo to refuse
            root = parse_xml(file).getroot()
            models = {e.get("name", ""): e.get("file", "") for e in root.iterfind("asset/model")}

            def brought(element: etree._Element) -> int:
                if element.tag == "include":
                    return elements(find_include(main, file, element.get("file", "")))
                attached = main.parent / models.get(element.get("model", ""), "")
                return elements(attached) if attached.is_file() else 0

            counts[file] = check_expansion(file, root, brought)
        return counts[file]

    elements(main)


def find_include(main: Path, including: Path, name: str) -> Path:
    """MuJoCo looks beside the main file, then beside the including one."""
    candidates = [main.parent / name, including.parent / name]
    for file in candidates:
        if file.is_file():
            return file
    raise ModelError(f"{including}: it includes the file {name!r}, which is not there; put it at {candidates[0]}")


def _parse(path: Path) -> mujoco.MjSpec:
    try:
        return mujoco.MjSpec.from_file(str(path))
    except ValueError as error:
        raise _refusal(path, error) from None


def _excludes(path: Path, spec: mujoco.MjSpec) -> tuple[tuple[str, str], ...]:
    """Names of two bodies that never touch. MuJoCo does not see them, so that names have to be looked up here."""
    bodies = [body.name for body in spec.bodies]
    found = tuple((exclude.bodyname1, exclude.bodyname2) for exclude in spec.excludes)
    for name in (name for names in found for name in names):
        if name not in bodies:
            known = ", ".join([body for body in bodies if body][:20])
            raise ModelError(
                f"{path}: <exclude> names the body {name!r}, which the file does not have; bodies: {known}"
            )
    return found


def _refusal(path: Path, error: Exception) -> ModelError:
    message = " ".join(str(error).split())
    fixes = [fix for part, fix in _FIXES if part in message]
    return ModelError(f"{path}: MuJoCo refuses it: {message}" + (f"; {fixes[0]}" if fixes else ""))


def _leave_out_what_does_not_move(spec: mujoco.MjSpec) -> None:
    for element in [*spec.geoms, *spec.sites, *spec.tendons, *spec.meshes, *spec.flexes]:
        element.material = ""
    looks, uses = [spec.textures, spec.materials, spec.skins], [spec.sensors, spec.keys, spec.tuples]
    for elements in [*looks, *uses, spec.excludes]:
        for element in list(elements):
            spec.delete(element)
    spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE
    # A fused body would lose its name; kept apart it costs nothing here.
    spec.compiler.fusestatic = False


def _leave_out_meshes(spec: mujoco.MjSpec, colliding: bool) -> list:
    """Give every mesh a stand-in that neither collides nor weighs anything; returns the geoms that would collide."""
    silent = []
    paired = {name for pair in spec.pairs for name in (pair.geomname1, pair.geomname2)}
    if not colliding:
        silent = [
            geom
            for geom in spec.geoms
            if geom.type == mujoco.mjtGeom.mjGEOM_MESH and (_collides(geom) or geom.name in paired)
        ]
        for geom in silent:
            geom.contype = geom.conaffinity = 0
        paired = set()
    needed = {geom.meshname for geom in spec.geoms if _collides(geom) or geom.name in paired or _weighs(spec, geom)}
    for mesh in spec.meshes:
        if mesh.file and _name(mesh) not in needed:
            _stand_in(mesh)
    return silent


def _check_files(path: Path, spec: mujoco.MjSpec) -> None:
    """MuJoCo reads whatever is there, also a device that never ends."""
    for asset in (*spec.meshes, *spec.hfields):
        compiler = getattr(asset, "compiler", spec.compiler)
        file = path.parent / getattr(compiler, "meshdir", spec.meshdir) / asset.file
        if asset.file and file.exists():
            check_mesh(file)


def _name(mesh) -> str:
    """By which geoms call it."""
    return mesh.name or Path(mesh.file).stem


def _collides(geom) -> bool:
    return bool(geom.contype or geom.conaffinity)


def _weighs(spec: mujoco.MjSpec, geom) -> bool:
    """Does MuJoCo infer the inertia of a body from this geom?"""
    body, compiler = geom.parent, getattr(geom, "compiler", spec.compiler)
    rule = compiler.inertiafromgeom
    inferred = rule == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE or (
        rule == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO and not body.explicitinertial
    )
    low, high = compiler.inertiagrouprange
    weight = geom.density if np.isnan(geom.mass) else geom.mass
    return bool(inferred and low <= geom.group <= high and weight != 0 and body.name != "world")


def _stand_in(mesh) -> None:
    mesh.name, mesh.file = _name(mesh), ""
    mesh.uservert, mesh.userface = _CORNERS, _FACES


def _compile(path: Path, spec: mujoco.MjSpec) -> tuple[mujoco.MjModel, list[str]]:
    """The compiled model, and the files without which it had to be compiled."""
    missing: list[str] = []
    heavy = {geom.meshname: geom.parent for geom in spec.geoms if _weighs(spec, geom) and _moves(geom.parent)}
    while True:
        try:
            return spec.compile(), missing
        except ValueError as error:
            file = _missing_file(error)
            if not file or not _do_without(path, spec, file, heavy):
                raise _refusal(path, error) from None
            missing.append(file)


def _moves(body) -> bool:
    """Is there a joint between this body and the world?"""
    while body is not None and body.name != "world":
        if body.joints:
            return True
        body = body.parent
    return False


def _missing_file(error: Exception) -> str:
    match = re.search(r"opening file '(.+?)'", str(error))
    return Path(match[1]).name if match else ""


def _do_without(path: Path, spec: mujoco.MjSpec, file: str, heavy: dict) -> bool:
    """Leave out the shapes that need a file; False if nothing that can be spared names it."""
    meshes = [mesh for mesh in spec.meshes if Path(mesh.file).name == file]
    fields = [field for field in spec.hfields if Path(field.file).name == file]
    for mesh in meshes:
        if _name(mesh) in heavy:
            body = heavy[_name(mesh)]
            place = "" if body.info in ("", "line 0") else f", {body.info}"
            raise ModelError(
                f"{path}{place}: body {body.name or '(without name)'} takes its inertia from the mesh file {file}, "
                "which was not found; put the file there, or give the body an <inertial>"
            )
        for geom in spec.geoms:
            if geom.meshname == _name(mesh):
                geom.contype = geom.conaffinity = geom.mass = 0
        _stand_in(mesh)
    for field in fields:
        field.file, field.nrow, field.ncol, field.userdata = "", 2, 2, np.zeros(4)
    return bool(meshes or fields)
