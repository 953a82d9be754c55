"""Any two convex shapes: the deepest point, and the corners of what they share where faces or edges lie on each other."""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from ...spatial import Array
from .convex import EXTRUDED, Convex, convex
from .interface import Pair, Placed, Touch
from .manifold import ROUND, SAME, common_normal, holding_points, outermost, polygon, shared_points
from .plane import DOME
from .polish import Contact, polished
from .search import across, search

ROUNDED = ("sphere", "ellipsoid")
"""Kinds that touch any other shape at one point."""


def convex_pair(kind_a: str, kind_b: str) -> Pair:
    """The touch of two convex shapes of these kinds.

    One point where one of them is rounded, three where one is a capsule, else nine. The last point is the deepest one, or
    the closest one of shapes apart. The others are corners of what two faces, or a face and an edge, or two edges share, seen
    along the normal (`manifold.py`); their distances are taken along the common normal of the faces. Where one of these is
    as deep as the deepest, which is then one of them or between them, the last one does not count. Points that do not count have
    a distance larger than the shapes.
    """

    def touch(a: Placed, b: Placed) -> Touch:
        one, two = convex(kind_a, a), convex(kind_b, b)
        size = one.size + two.size
        fixed = lax.stop_gradient((one, two, size))
        contact = polished(one, two, lax.stop_gradient(search(*fixed)), size)
        if kind_a in ROUNDED or kind_b in ROUNDED:
            return Touch(contact.distance[None], contact.normal[None], contact.on_a[None], contact.on_b[None])
        return _with_shared((kind_a, kind_b), (a, b), (one, two), contact, size)

    return touch


def _with_shared(kinds, placed, shapes: tuple[Convex, Convex], contact: Contact, size: Float[Array, ""]) -> Touch:
    """The touch with the points that the shapes share, and the deepest one."""
    normal = contact.normal
    around = jnp.asarray(ROUND, dtype=size.dtype) @ across(normal)
    on_a, on_b = (
        polygon(holding_points(kind, p, shape, towards), towards, around, size)
        for kind, p, shape, towards in zip(kinds, placed, shapes, (-normal, normal), strict=True)
    )
    normal = common_normal(normal, on_a, on_b)
    sideways = across(normal)
    distance, points, counts = shared_points(on_a, on_b, normal, sideways, size)
    same = max(SAME, 16 * float(jnp.finfo(size.dtype).eps)) * size
    directions = _directions(kinds, shapes, sideways, size)
    chosen, valid = outermost(points @ sideways.T, counts, directions, 4 * same)
    distance, points = (jnp.take(x, chosen, axis=0, mode="clip") for x in (distance, points))
    # No point is deeper than the shapes are; those on the ends of cylinders are beyond the dome by its height at most.
    deeper = DOME * size if any(kind in EXTRUDED for kind in kinds) else 0.0
    distance = jnp.maximum(distance, contact.distance - deeper)

    far = 4 * size
    covered = jnp.any(valid & (distance <= contact.distance + same))
    distance = jnp.append(distance + jnp.where(valid, 0.0, far), contact.distance + jnp.where(covered, far, 0.0))
    normals = jnp.concatenate([jnp.broadcast_to(normal, points.shape), contact.normal[None]])
    points = jnp.concatenate([points, contact.on_a[None]])
    return Touch(distance, normals, points, points - distance[:, None] * normals)


def _directions(kinds, shapes, sideways, size: Float[Array, ""]) -> Array:
    """In which points of what is shared are looked for: around, or where one shape is a capsule, along it."""
    if "capsule" not in kinds:
        return jnp.asarray(ROUND, dtype=size.dtype)
    axis = lax.stop_gradient(shapes[kinds.index("capsule")].pose.rotation[:, 2])
    along = sideways @ axis
    return jnp.stack([along, -along])
