"""A model's numbers into a copy of its URDF."""

import re
import warnings
from pathlib import Path

import numpy as np
from lxml import etree

from ..model import WORLD, Model, ModelError, ModelWarning, build_spec
from .differences import Name, changed_meshes, differences, mesh_rows, named_numbers, primitive_rows, without_added
from .edit_xml import Document
from .massless import fix_massless
from .pair_friction import with_shape_friction
from .poses import matrix_from_rpy, roll_pitch_yaw
from .urdf import read_urdf
from .urdf_links import link_friction

# Rotations are written as angles and inertias in the axes of the file; both come back to rounding.
_READ_BACK = 1e-12

_INERTIA = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_JOINT_PLACES = {
    "damping": ("dynamics", "damping"),
    "friction": ("dynamics", "friction"),
    "lower": ("limit", "lower"),
    "upper": ("limit", "upper"),
    "effort": ("limit", "effort"),
    "mimic_ratio": ("mimic", "multiplier"),
    "mimic_offset": ("mimic", "offset"),
}


def save_urdf(model: Model, path: Path, like: Path) -> None:
    """Writes what changed, reads it back, and warns of every number that did not survive.

    Names of meshes stay as they are, so relative ones are found only beside the original.
    """
    document = Document(like)
    loaded = _like(model, like)
    model = with_shape_friction(model, loaded, by_link=True)
    old = _said(loaded, document.root)
    numbers = _numbers(model, old)
    changed = differences(numbers, old)
    writer = _Writer(document.root, numbers)
    for name in changed:
        writer.write(name)
    writer.write_chained_mimics(changed, model)
    lost: list[Name] = []

    def read_back(temporary: Path) -> None:
        try:
            said = _said(_like(model, temporary), Document(temporary).root)
        except ModelError as error:
            raise ModelError(f"{path}: not written, because loading it would fail: {error}") from None
        lost.extend(without_added(differences(numbers, said, _READ_BACK), model, said))
        if mesh_rows(model.geometry):
            # A copy in another folder may not find its meshes.
            lost.extend(changed_meshes(model, _like(model, like, meshes=True)))

    document.write(path, read_back)
    if lost:
        warnings.warn(
            f"{path}: URDF cannot hold these numbers of the model, so loading it gives others: "
            f"{', '.join(map(str, lost))}",
            ModelWarning,
            stacklevel=3,
        )


def _said(loaded: Model, root: etree._Element) -> dict[Name, np.ndarray]:
    """The numbers of a file; friction of links whose meshes were left out too."""
    links = {link.get("name"): link_friction(link) for link in root.iterfind("link")}
    return named_numbers(loaded) | {Name("link", name, "friction"): np.asarray(mu) for name, mu in links.items()}


def _numbers(model: Model, file: dict[Name, np.ndarray]) -> dict[Name, np.ndarray]:
    """Those of the model, with one friction for the shapes of a link where they agree: so URDF has it."""
    table, geometry = named_numbers(model), model.geometry
    counted = {i: owner for owner, i in primitive_rows(geometry, model.link_names).items()}
    for link in set(geometry.links):
        rows = [i for i, other in enumerate(geometry.links) if other == link]
        name = Name("link", model.link_names[link] if link >= 0 else WORLD, "friction")
        if name in file and np.ptp(friction := np.asarray(geometry.friction)[rows]) == 0:
            for i in set(rows) & set(counted):
                table.pop(Name("shape", counted[i], "friction"))
            table[name] = np.asarray(friction[0])
    return table


def _like(model: Model, path: Path, meshes: bool = False) -> Model:
    """The file loaded as the model was, without meshes unless they are asked for."""
    t = model.topology
    standing = [kind.name for kind, parent in zip(t.kinds, t.parents, strict=True) if parent < 0]
    base = "free" if standing and all(kind == "free" for kind in standing) else "fixed"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        loaded = build_spec(fix_massless(read_urdf(path, base, mimic=t.has_mimics, meshes=meshes)), strict=False)
    _same_mechanism(model, loaded, path)
    return loaded


def _same_mechanism(model: Model, file: Model, path: Path) -> None:
    ours, theirs = model.topology.unprescribed, file.topology
    for what, a, b in (
        ("links", ours.link_names, theirs.link_names),
        ("joints", ours.joint_names, theirs.joint_names),
    ):
        if set(a) != set(b):
            raise ModelError(
                f"{path}: it is another mechanism than the model; {what} only in the model: {_list(set(a) - set(b))}; "
                f"only in the file: {_list(set(b) - set(a))}; give the file that the model was loaded from"
            )
    if ours != theirs or not _same_shapes(model, file):
        raise ModelError(
            f"{path}: it has the names of the model, but other joint kinds, parents or shapes; "
            "give the file that the model was loaded from"
        )


def _same_shapes(model: Model, file: Model) -> bool:
    """Of each link, meshes left out; a world may have more of them, such as a ground that was added."""

    def shapes(m: Model, link: int) -> list[str]:
        owned = zip(m.geometry.shapes, m.geometry.links, strict=True)
        return [shape for shape, owner in owned if owner == link and shape != "points"]

    links = range(len(model.link_names))
    in_file = shapes(file, -1)
    return all(shapes(model, i) == shapes(file, i) for i in links) and shapes(model, -1)[: len(in_file)] == in_file


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


class _Writer:
    """Puts numbers of a model at their places in the tree of a URDF."""

    def __init__(self, root: etree._Element, numbers: dict[Name, np.ndarray]):
        self.numbers = numbers
        self.links = {element.get("name"): element for element in root.iterfind("link")}
        self.joints = {element.get("name"): element for element in root.iterfind("joint")}

    def write(self, name: Name) -> None:
        """One number or array, if URDF has a place for it."""
        if name.what == "link":
            self._link(self.links[name.owner], name)
        elif name.what == "joint" and name.owner in self.joints:
            self._joint(self.joints[name.owner], name)
        elif name.what == "shape":
            self._shape(name)

    def write_chained_mimics(self, changed: list[Name], model: Model) -> None:
        """Where a joint copies a copy, a changed ratio changes both; so both are made to copy the first."""
        if not any(name.field.startswith("mimic") for name in changed):
            return
        t = model.topology
        for joint, copied in zip(t.joint_names, t.mimics, strict=True):
            if copied < 0 or self.joints[joint].find("mimic").get("joint") == t.joint_names[copied]:
                continue
            self.joints[joint].find("mimic").set("joint", t.joint_names[copied])
            for field in ("mimic_ratio", "mimic_offset"):
                self.write(Name("joint", joint, field))

    def _link(self, link: etree._Element, name: Name) -> None:
        if name.field == "friction":
            _set(_child(_child(link, "contact"), "lateral_friction"), "value", self.numbers[name])
            return
        new = link.find("inertial") is None
        inertial = _child(link, "inertial")
        fields = ("com", "mass", "inertia") if new else (name.field,)
        for field in fields:
            value = self.numbers[Name("link", name.owner, field)]
            if field == "mass":
                _set(_child(inertial, "mass"), "value", value)
            elif field == "com":
                _set(_child(inertial, "origin"), "xyz", value)
            else:
                self._inertia(inertial, value)

    def _inertia(self, inertial: etree._Element, six: np.ndarray) -> None:
        """In the file the inertia is along the axes of its <origin>."""
        origin = inertial.find("origin")
        text = "0 0 0" if origin is None else origin.get("rpy", "0 0 0")
        rpy = np.array(text.split(), dtype=float)
        if np.any(rpy):
            R = matrix_from_rpy(rpy)
            tensor = R.T @ six[[0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(3, 3) @ R
            six = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        for key, value in zip(_INERTIA, six, strict=True):
            _set(_child(inertial, "inertia"), key, value)

    def _joint(self, joint: etree._Element, name: Name) -> None:
        value = self.numbers[name]
        if name.field in ("position", "quaternion"):
            _set_pose(joint, name.field, value)
        elif name.field == "axis":
            _set(_child(joint, "axis"), "xyz", value)
        elif name.field in _JOINT_PLACES and np.all(np.isfinite(value)) and np.ptp(value) == 0:
            tag, attribute = _JOINT_PLACES[name.field]
            _set(_child(joint, tag), attribute, np.ravel(value)[0])

    def _shape(self, name: Name) -> None:
        link, _, count = name.owner.rpartition("/")
        if link not in self.links:
            return  # of the world, and added to the file's mechanism
        collisions = [c for c in self.links[link].iterfind("collision") if c.find("geometry/mesh") is None]
        if int(count) >= len(collisions):
            return
        collision = collisions[int(count)]
        value = self.numbers[name]
        if name.field in ("position", "quaternion"):
            _set_pose(collision, name.field, value)
        elif name.field == "size":
            shape = collision.find("geometry/*")
            if shape.tag == "box":
                _set(shape, "size", 2 * value)
            else:
                _set(shape, "radius", value[0])
            if shape.tag in ("cylinder", "capsule"):
                _set(shape, "length", 2 * value[1])


def _child(parent: etree._Element, tag: str) -> etree._Element:
    """The child of that name, made if it is not there."""
    found = parent.find(tag)
    return etree.SubElement(parent, tag) if found is None else found


def _set_pose(owner: etree._Element, field: str, value: np.ndarray) -> None:
    attribute, numbers = ("xyz", value) if field == "position" else ("rpy", roll_pitch_yaw(value))
    _set(_child(owner, "origin"), attribute, numbers)


def _set(element: etree._Element, attribute: str, values: np.ndarray | np.floating) -> None:
    """Writes numbers, each with the digits that give it back; those that did not change keep their text."""
    values = np.ravel(values)
    old = element.get(attribute, "")
    words = old.split()
    if len(words) != len(values):
        element.set(attribute, " ".join(map(str, values)))
        return
    number = values.dtype.type
    new = iter([word if number(word) == value else str(value) for word, value in zip(words, values, strict=True)])
    element.set(attribute, re.sub(r"\S+", lambda _: next(new), old))
