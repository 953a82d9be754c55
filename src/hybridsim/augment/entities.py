"""Whose the numbers of a variable are: joints, links, pairs of shapes, actuators, by name."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

import numpy as np

from ..contact import pairs_of_points
from ..model import VARIABLES, Axis, Model

_COMMA = re.compile(r"(?<!\[),|,(?!\])")
"""In [,] it is part of a name."""
_SPECIAL = re.compile(r"[*?\[,]|^\s|\s$")
_JOINTS = ("coordinate", "freedom", "joint")


def rows_of(model: Model, name: str, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Of each entity the places of its numbers in the flattened variable: rows (contact points; else one) and columns."""
    axis = VARIABLES[name].axis
    if axis == "world":
        return {"world": np.arange(int(np.prod(shape)))[None]}
    if axis in _JOINTS:
        return _joints(model, axis)
    places = np.arange(int(np.prod(shape))).reshape(shape[0], -1)
    if axis == "pair":
        owner = pairs_of_points(model)
        return {name: places[owner == i] for i, name in enumerate(pair_names(model))}
    owners = model.link_names if axis == "link" else model.actuators.names
    return {name: row[None] for name, row in zip(owners, places, strict=True)}


def pair_names(model: Model) -> list[str]:
    """Both shapes of every contact pair, "foot/ground"."""
    shapes = model.geometry.names
    return [f"{shapes[a]}/{shapes[b]}" for a, b in model.contacts.pairs]


def _joints(model: Model, axis: Axis) -> dict[str, np.ndarray]:
    topology, found, start = model.topology, {}, 0
    for name, kind, mimic in zip(topology.joint_names, topology.kinds, topology.mimics, strict=True):
        size = kind.nq if axis == "coordinate" else kind.nv
        if size and (mimic < 0 or axis == "joint"):
            found[name] = np.arange(start, start + size)[None]
            start += size
    return found


def matching(names: Iterable[str], patterns: str) -> list[str]:
    """Names that are, or match, one of the patterns, which commas separate; in their own order."""
    wanted = separate(patterns)
    return [name for name in names if any(name == pattern or fnmatchcase(name, pattern) for pattern in wanted)]


def separate(patterns: str) -> list[str]:
    """The patterns that commas separate."""
    return [pattern.strip() for pattern in _COMMA.split(patterns)]


def exactly(names: Iterable[str]) -> str:
    """Patterns that match these names and no others, whatever characters they have."""
    return ",".join(_SPECIAL.sub(r"[\g<0>]", name) for name in names)


def related(model: Model, entity: str, of: Axis, axis: Axis) -> list[str] | None:
    """The entities on another axis that belong to one: a joint's link and actuators, a link's joint; None for no rule."""
    topology, actuators = model.topology, model.actuators
    if of == axis or (of in _JOINTS and axis in _JOINTS):
        return [entity]
    if axis == "world":
        return ["world"]
    if of in _JOINTS and axis == "link":
        return [topology.link_names[i] for i, j in enumerate(topology.link_joints) if j == topology.joint(entity)]
    if of == "link" and axis in _JOINTS:
        return [topology.joint_names[topology.link_joints[topology.link(entity)]]]
    if of in _JOINTS and axis == "actuator":
        return [n for n, j in zip(actuators.names, actuators.joints, strict=True) if j == topology.joint(entity)]
    if of == "actuator" and axis in _JOINTS:
        return [topology.joint_names[actuators.joints[actuators.names.index(entity)]]]
    return None
