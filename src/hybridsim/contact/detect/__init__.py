"""Where two shapes touch: one function per pair of kinds of shape, found in `PAIRS`."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax

from ...spatial import Transform
from .box import sphere_box
from .box_box import box_box
from .capsule_box import capsule_box
from .convex_pair import convex_pair
from .extruded import cylinder_elliptic, cylinder_prism, sphere_cylinder, sphere_elliptic, sphere_prism
from .interface import Pair, Placed, Touch
from .patch import patch_with
from .plane import (
    box_plane,
    capsule_plane,
    cylinder_plane,
    ellipsoid_plane,
    elliptic_plane,
    points_plane,
    prism_plane,
    sphere_plane,
)
from .round import capsule_capsule, sphere_capsule, sphere_sphere

PAIRS: dict[tuple[str, str], Pair] = {
    ("sphere", "sphere"): sphere_sphere,
    ("sphere", "capsule"): sphere_capsule,
    ("capsule", "capsule"): capsule_capsule,
    ("sphere", "cylinder"): sphere_cylinder,
    ("sphere", "box"): sphere_box,
    ("capsule", "box"): capsule_box,
    ("sphere", "prism"): sphere_prism,
    ("sphere", "elliptic"): sphere_elliptic,
    ("box", "box"): box_box,
    ("sphere", "plane"): sphere_plane,
    ("capsule", "plane"): capsule_plane,
    ("cylinder", "plane"): cylinder_plane,
    ("box", "plane"): box_plane,
    ("ellipsoid", "plane"): ellipsoid_plane,
    ("points", "plane"): points_plane,
    ("prism", "plane"): prism_plane,
    ("elliptic", "plane"): elliptic_plane,
}
"""Kinds of shape (a, b), ordered as in `model.geometry.SHAPES`, and where they touch."""

UPRIGHT: dict[tuple[str, str], Pair] = {
    ("cylinder", "prism"): cylinder_prism,
    ("cylinder", "elliptic"): cylinder_elliptic,
}
"""The same of shapes whose axes are parallel in every configuration, see `model.upright`."""

_CONVEX = ("sphere", "capsule", "cylinder", "box", "ellipsoid", "points", "prism", "elliptic")
for _i, _a in enumerate(_CONVEX):
    for _b in _CONVEX[_i:]:
        PAIRS.setdefault((_a, _b), convex_pair(_a, _b))

for _other in _CONVEX[1:]:
    PAIRS[_other, "patch"] = patch_with(PAIRS["sphere", _other], patch_first=False)
PAIRS["sphere", "patch"] = patch_with(sphere_sphere, patch_first=False)
PAIRS["patch", "plane"] = patch_with(sphere_plane, patch_first=True)


_SEARCHING = {PAIRS[kinds] for kinds in PAIRS if PAIRS[kinds].__module__ == convex_pair.__module__}


def how_many(pair: Pair, points_a: int = 0, points_b: int = 0) -> int:
    """How many points a pair returns; `points_a` and `points_b` are the lengths of `Placed.points`."""

    def placed(points: int) -> Placed:
        return Placed(Transform(np.eye(3), np.zeros(3)), np.ones(3), np.zeros((points, 3)))

    return jax.eval_shape(pair, placed(points_a), placed(points_b)).distance.shape[0]


MANY = 6
"""Pairs of one kind beyond which they go one after the other, so that programs do not grow with the number of shapes."""


def each(pair: Pair, count: int) -> Callable[[Callable, Any], Touch]:
    """How to apply `one(pair, shapes)` to many shapes along a leading axis.

    Many go one after the other, and so do those that search, each as long as it needs; few go together. A gradient computes
    what many have touched again, rather than keep how.
    """
    if pair in _SEARCHING:
        return lambda one, shapes: lax.map(lambda x: one(pair, x), shapes)
    if count > MANY:
        return lambda one, shapes: lax.map(jax.checkpoint(lambda x: one(pair, x)), shapes)
    return lambda one, shapes: jax.vmap(lambda x: one(pair, x))(shapes)


__all__ = ["PAIRS", "UPRIGHT", "Pair", "Placed", "Touch", "each", "how_many"]
