"""Paths of shapes, of pairs of shapes that touch, and of joint limits."""

from collections.abc import Iterator

import numpy as np

from ..model import Model
from ..model.joints import Prismatic
from .changes import FACTOR, TURN, of_plane
from .place import XYZ, Place, row

SIZE_FACTOR, OUTLINE_FACTOR = "size_factor", "outline_factor"
_LENGTHS = {
    "sphere": ("radius",),
    "capsule": ("radius", "half_length"),
    "cylinder": ("radius", "half_length"),
    "prism": ("half_length",),
}
"""Of each kind of shape, the names of its sizes; of others these are half sizes along x, y and z."""
_OF_IMPULSES = {"restitution": "1", "position_gain": "1", "velocity_gain": "1"}
_CONTACT = {
    "friction": "1",
    **_OF_IMPULSES,
    "softness": "1/kg",
    "stiffness": "N/m^exponent",
    "dissipation": "N s/m^(exponent+1)",
    "exponent": "1",
    "static_friction": "1",
    "transition_speed": "m/s",
}
_LIMIT = {
    "restitution": ("1", "1"),
    "position_gain": ("1", "1"),
    "velocity_gain": ("1", "1"),
    "softness": ("1/(kg m^2)", "1/kg"),
    "stiffness": ("N m/rad", "N/m"),
    "dissipation": ("N m s/rad^2", "N s/m^2"),
}
_POSITIVE = ("stiffness", "exponent", "transition_speed")


def shape_places(model: Model) -> Iterator[Place]:
    """Sizes and poses of shapes: each is one number, in however many pairs the shape is."""
    geometry = model.geometry
    for i, (name, kind) in enumerate(zip(geometry.names, geometry.shapes, strict=True)):
        shape = f"shape/{name}"
        yield from _sizes(shape, kind, i, 3 * len(geometry.points[i]))
        if kind == "plane":
            height, tilt = of_plane(np.asarray(geometry.quaternion[i], dtype=float))
            yield Place(f"{shape}/height", "model.geometry", "position", row(i, 3), "m", change=height)
            yield Place(f"{shape}/tilt", "model.geometry", "quaternion", row(i, 4), "rad", labels=XYZ[:2], change=tilt)
        else:
            yield Place(f"{shape}/position", "model.geometry", "position", row(i, 3), "m", labels=XYZ)
            yield Place(f"{shape}/rotation", "model.geometry", "quaternion", row(i, 4), "rad", labels=XYZ, change=TURN)


def _sizes(shape: str, kind: str, i: int, points: int) -> Iterator[Place]:
    first = 3 * i
    if kind in ("points", "prism"):
        word = SIZE_FACTOR if kind == "points" else OUTLINE_FACTOR
        index = tuple(range(points))
        yield Place(f"{shape}/{word}", "model.geometry", f"points.{i}", index, "times", "positive", change=FACTOR)
    if kind in _LENGTHS:
        for k, length in enumerate(_LENGTHS[kind]):
            # A capsule may have no length.
            sign = "not negative" if (kind, length) == ("capsule", "half_length") else "positive"
            yield Place(f"{shape}/{length}", "model.geometry", "size", (first + k,), "m", sign)
    elif kind in ("box", "ellipsoid", "elliptic"):
        yield Place(f"{shape}/size", "model.geometry", "size", row(i, 3), "m", "positive", XYZ)
    if kind not in ("points", "prism", "plane"):
        index = tuple(range(first, first + len(_LENGTHS.get(kind, XYZ))))
        yield Place(f"{shape}/{SIZE_FACTOR}", "model.geometry", "size", index, "times", "positive", change=FACTOR)


def pair_places(model: Model) -> Iterator[Place]:
    """Numbers of pairs."""
    for i, (a, b) in enumerate(model.contacts.pairs):
        pair = f"contact/{model.geometry.names[a]}/{model.geometry.names[b]}"
        for field, unit in _CONTACT.items():
            yield _number(f"{pair}/{field}", "model.contacts", field, i, unit)


def limit_places(model: Model) -> Iterator[Place]:
    """Where joints stop, and the numbers of their stops."""
    topology = model.topology
    rows = {freedom: i for i, freedom in enumerate(model.limits.freedoms)}
    for name, kind, v in zip(topology.joint_names, topology.kinds, topology.v_slices, strict=True):
        slides = isinstance(kind, Prismatic)
        for freedom in range(v.start, v.stop):
            if freedom not in rows:
                continue
            label = "" if kind.nv == 1 else f"[{freedom - v.start}]"
            for field in ("lower", "upper"):
                if np.isfinite(np.asarray(getattr(model.joints, field))[freedom]):
                    unit = "rad or m" if kind.nv > 1 else "m" if slides else "rad"
                    yield Place(f"limit/{name}/{field}{label}", "model.joints", field, (freedom,), unit)
            for field, units in _LIMIT.items():
                unit = " or ".join(dict.fromkeys(units)) if kind.nv > 1 else units[slides]
                yield _number(f"limit/{name}/{field}{label}", "model.limits", field, rows[freedom], unit)


def _number(path: str, owner: str, field: str, i: int, unit: str) -> Place:
    kind = "positive" if field in _POSITIVE else "not negative"
    lower = 1.0 if field == "exponent" else 0.0
    return Place(path, owner, field, (i,), unit, kind, lower=lower, upper=1.0 if field in _OF_IMPULSES else np.inf)
