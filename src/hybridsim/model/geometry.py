"""Collision shapes: numbers as arrays over all shapes, kinds and owners static."""

import equinox as eqx
from jaxtyping import Float

from ..spatial import Array, Quaternion, Vector3

SHAPES = ("sphere", "capsule", "cylinder", "box", "ellipsoid", "points", "prism", "elliptic", "patch", "plane")
"""`points` is a convex set of points, such as the hull of a mesh; `prism` a convex polygon extruded along z, `elliptic`
an ellipse extruded along z; `patch` points that stand for a flat area on which a load rests."""
SIZES = {
    "sphere": 1,
    "capsule": 1,
    "cylinder": 2,
    "box": 3,
    "ellipsoid": 3,
    "points": 0,
    "prism": 1,
    "elliptic": 3,
    "patch": 0,
    "plane": 0,
}
"""How many positive sizes a shape needs; a capsule may have no length."""


class Geometry(eqx.Module):
    """All collision shapes of a model, one row each."""

    position: Vector3
    """Of the shape's frame in its link [m]."""
    quaternion: Quaternion
    """Of the shape's frame in its link (w, x, y, z)."""
    size: Float[Array, "shapes 3"]
    """Sphere: radius. Capsule, cylinder (along z): radius, half length. Box, ellipsoid, elliptic: half sizes. Prism
    (along z): half length. Plane (normal z), points, patch: nothing. [m]"""
    friction: Float[Array, " shapes"]
    """Coulomb coefficient of the file; a pair starts with the larger one of its two shapes (see `Contacts`)."""
    points: tuple[Float[Array, "_ 3"], ...]
    """Of each shape, its points in its own frame [m]; of a prism the corners of its polygon, counter-clockwise about z
    and with z = 0; empty for all but points, prisms and patches."""
    areas: tuple[Float[Array, " _"] | None, ...]
    """Of each patch, the area that each of its points stands for [m^2]; None for all other shapes."""

    names: tuple[str, ...] = eqx.field(static=True)
    shapes: tuple[str, ...] = eqx.field(static=True)
    links: tuple[int, ...] = eqx.field(static=True)
    """Index of the link that owns each shape; -1 for the world."""
    groups: tuple[tuple[int, int], ...] = eqx.field(static=True)
    """Collision filter bits (type, affinity): shapes a and b may touch if a's type meets b's affinity or the
    other way round."""
