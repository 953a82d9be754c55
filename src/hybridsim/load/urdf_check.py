"""What a URDF must say before yourdfpy reads it.

yourdfpy is lenient where a simulator cannot be: a missing moment of inertia becomes 1, a missing mass 0, and a
missing <parent> an AttributeError without a line. So the tables below are checked first, on the XML itself.
"""

import math
import warnings
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from ..model import ModelError, ModelWarning
from .xml import line_of


class Rule(NamedTuple):
    """What an attribute may hold: text, or so many numbers."""

    counts: tuple[int, ...] = (1,)
    required: bool = False
    infinite: bool = False

    @property
    def wanted(self) -> str:
        numbers = " or ".join(map(str, self.counts)) + (" numbers" if self.counts != (1,) else " number")
        return numbers if self.counts else "a name"


_NUMBER, _THREE = Rule(), Rule((3,))
_NEEDED, _THREE_NEEDED = Rule(required=True), Rule((3,), required=True)
_NAME = Rule((), required=True)
_LIMIT = Rule(infinite=True)
_ORIGIN = {"xyz": _THREE, "rpy": _THREE}

_LINK = {
    "inertial/origin": _ORIGIN,
    "inertial/mass": {"value": _NEEDED},
    "inertial/inertia": {key: Rule(required=key[1] == key[2]) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")},
    "collision/origin": _ORIGIN,
    "collision/geometry/sphere": {"radius": _NEEDED},
    "collision/geometry/box": {"size": _THREE_NEEDED},
    "collision/geometry/cylinder": {"radius": _NEEDED, "length": _NEEDED},
    "collision/geometry/capsule": {"radius": _NEEDED, "length": _NEEDED},
    "contact/lateral_friction": {"value": _NEEDED},
    "collision/geometry/mesh": {"filename": _NAME, "scale": Rule((1, 3))},
}
_JOINT = {
    "parent": {"link": _NAME},
    "child": {"link": _NAME},
    "origin": _ORIGIN,
    "axis": {"xyz": _THREE},
    "limit": {"lower": _LIMIT, "upper": _LIMIT, "effort": _LIMIT, "velocity": _LIMIT},
    "dynamics": {"damping": _NUMBER, "friction": _NUMBER},
    "mimic": {"joint": _NAME, "multiplier": _NUMBER, "offset": _NUMBER},
}
_NEEDED_CHILDREN = {"link": ("inertial", ("mass", "inertia")), "joint": (".", ("parent", "child"))}
_SHAPES = ("sphere", "box", "cylinder", "capsule", "mesh")
_JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")


def check_urdf(path: Path, root: etree._Element) -> None:
    """Raises `ModelError` with the line of the first thing that is missing or is not a number."""
    if root.tag != "robot":
        raise ModelError(f"{path}, {line_of(root)}: the root element is <{root.tag}>; a URDF starts with <robot>")
    if root.find("link") is None:
        raise ModelError(f"{path}: it has no <link>; if it is a xacro file, expand it first: xacro in.xacro > out.urdf")
    for tag, table in (("link", _LINK), ("joint", _JOINT)):
        for number, element in enumerate(root.iterfind(tag)):
            place = f"{path}, {line_of(element)}"
            if not element.get("name"):
                raise ModelError(f'{place}: {tag} number {number + 1} has no name; add name="..."')
            _check_element(path, element, table)
    for joint in root.iterfind("joint"):
        if joint.get("type") not in _JOINT_TYPES:
            raise ModelError(
                f"{_where(path, joint, joint)}: its type is {joint.get('type')!r}; "
                f"the types are {', '.join(_JOINT_TYPES)}"
            )


def _where(path: Path, owner: etree._Element, element: etree._Element) -> str:
    return f"{path}, {line_of(element)}, {owner.tag} {owner.get('name')}"


def _check_element(path: Path, owner: etree._Element, table: dict[str, dict[str, Rule]]) -> None:
    """One link or joint against its table."""
    inner, children = _NEEDED_CHILDREN[owner.tag]
    for element in owner.iterfind(inner):
        for child in children:
            if element.find(child) is None:
                raise ModelError(f"{_where(path, owner, element)}: <{element.tag}> has no <{child}>; add one")
    for collision in owner.iterfind("collision"):
        _check_shape(path, owner, collision)
    for inner, rules in table.items():
        for element in owner.iterfind(inner):
            for attribute, rule in rules.items():
                _check_attribute(_where(path, owner, element), element, attribute, rule)
    for child in ("inertial", "origin", "axis", "limit", "dynamics", "mimic", "parent", "child"):
        if len(owner.findall(child)) > 1:
            warnings.warn(
                f"{_where(path, owner, owner)}: it has {len(owner.findall(child))} <{child}>; "
                "the first is used, remove the others",
                ModelWarning,
                stacklevel=2,
            )


def _check_shape(path: Path, owner: etree._Element, collision: etree._Element) -> None:
    shape = collision.find("geometry/*")
    found = "nothing" if shape is None else f"<{shape.tag}>"
    if shape is None or shape.tag not in _SHAPES:
        raise ModelError(
            f"{_where(path, owner, collision)}: the <geometry> of its <collision> holds {found}; "
            f"the shapes are {', '.join(_SHAPES)}"
        )


def _check_attribute(where: str, element: etree._Element, attribute: str, rule: Rule) -> None:
    text = element.get(attribute)
    if text is None:
        if rule.required:
            raise ModelError(f"{where}: <{element.tag}> has no {attribute}; give {rule.wanted}")
        return
    if not rule.counts:
        return
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        numbers = []
    fits = math.isfinite if not rule.infinite else lambda number: not math.isnan(number)
    if len(numbers) not in rule.counts or not all(map(fits, numbers)):
        raise ModelError(f"{where}: {attribute} of <{element.tag}> is {text!r}; give {rule.wanted}")
