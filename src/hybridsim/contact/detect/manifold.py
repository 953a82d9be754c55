"""The part of two convex shapes' surfaces where they lie on each other, as a few points.

Of each shape, the corners that are furthest towards the other when looked at from eight sides, a little obliquely, make
a polygon: a face, an edge or a single corner. Seen along the normal, the outline of what the two polygons share is
where the shapes hold each other: each edge of a's polygon is cut to b's (Cyrus and Beck 1978), and corners of b's polygon
within a's are added.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float

from ...spatial import Array, Scalar, Vector3, cross, pick
from .convex import EXTRUDED, Convex, extruded_sizes
from .interface import Placed
from .plane import INSET

SIDES = 8
"""From how many sides polygons are looked at, and how many points are returned."""
OBLIQUE = 0.05
"""Tangent of the angle: a face that is tilted by more is seen by its edge or corner only."""
ROCKING = 0.999
"""Cosine of the angle between two faces below which they do not lie on each other, see `common_normal`."""
SAME = 1e-8
"""What is nearer than this part of the sizes is one point."""
BESIDE = 1e-3
"""Part of the sizes by which two parallel lines, such as the mantles of two cylinders, may be beside each other."""
PARALLEL = 1e-3
"""Squared sine of the angle below which two lines are parallel."""
THIN = 1e-6
"""A polygon with less area, in squared sizes, is a line."""

_TURN = 2 * np.pi * np.arange(SIDES) / SIDES
ROUND = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=-1)
_NEXT = np.roll(np.arange(SIDES), -1)


class Polygon(eqx.Module):
    """Corners of a shape around a normal, repeated where there are fewer than `SIDES`."""

    corners: Float[Array, "sides 3"]
    plane: Vector3
    """Normal of its plane, on the side of the contact normal; the contact normal if it has no area."""
    top: Vector3
    """A point of the plane: the corner nearest to the other shape."""
    flat: Bool[Array, ""]
    """Whether it has an area."""


def holding_points(kind: str, placed: Placed, shape: Convex, towards: Vector3) -> Float[Array, "n 3"]:
    """The points by which a shape may hold another one in a direction, in the world.

    Cylinders roll on the line of their mantle that is furthest, and stand on points of their ends, a little inside of
    the rim, for a rolling one not to bump on them.
    """
    corners = shape.pose.apply(shape.corners) + shape.radius * towards
    if kind not in EXTRUDED:
        return corners
    radii, half_length = extruded_sizes(kind, placed)
    rim = jnp.asarray(INSET * ROUND, dtype=towards.dtype) * radii
    ends = jnp.concatenate(
        [jnp.concatenate([rim, jnp.full((SIDES, 1), z * half_length)], axis=-1) for z in (-1.0, 1.0)]
    )
    return jnp.concatenate([corners + shape.bulge(towards), shape.pose.apply(ends)])


def polygon(points: Float[Array, "n 3"], towards: Vector3, around: Float[Array, "sides 3"], size: Scalar) -> Polygon:
    """The corners among points that are furthest in a direction, seen from all sides."""
    oblique = lax.stop_gradient(towards + OBLIQUE * around)
    chosen = jnp.argmax(lax.stop_gradient(points) @ oblique.T, axis=0)
    corners = jnp.take(points, chosen, axis=0, mode="clip")
    ahead = pick(corners, _NEXT) - corners
    area = jnp.sum(cross(corners - corners[0], ahead), axis=0) / 2
    along = jnp.sum(area * towards)
    squared = jnp.sum(area * area)
    flat = (squared > (THIN * size * size) ** 2) & (jnp.abs(along) > 0.9 * jnp.sqrt(squared))
    # Corners run around `around`, whose sense about `towards` depends on the shape.
    sign = jnp.where(along < 0, -1.0, 1.0).astype(towards.dtype)
    plane = jnp.where(flat, area * sign, towards)
    plane = plane / jnp.sqrt(jnp.sum(plane * plane))
    top = lax.dynamic_index_in_dim(corners, jnp.argmax(corners @ plane), keepdims=False)
    return Polygon(corners, plane, top, flat)


def common_normal(normal: Vector3, on_a: Polygon, on_b: Polygon) -> Vector3:
    """The mean of the normals of two faces that are parallel; from there, over a tilt of a few degrees, the normal itself.

    Whichever of the faces gave the normal, which the smallest tilt decides, the result and its derivative are the same.
    """

    def share(face: Vector3) -> Array:
        return jnp.clip((jnp.sum(face * normal) - ROCKING) / (1 - ROCKING), 0.0, 1.0)

    both = jnp.where(on_a.flat & on_b.flat, share(-on_a.plane) * share(on_b.plane), 0.0)
    mixed = (1 - both) * normal + both / 2 * (on_b.plane - on_a.plane)
    return mixed / jnp.sqrt(jnp.sum(mixed * mixed))


def _half_planes(
    outline: Float[Array, "sides 2"], tiny: Scalar
) -> tuple[Float[Array, "sides 2"], Float[Array, " sides"]]:
    """Outward normals of an outline's edges, and how far along them the outline reaches.

    Where an edge has no length, the normal is that of the direction midway between those from which its corner was seen.
    """
    ahead = pick(outline, _NEXT) - outline
    squared = jnp.sum(ahead * ahead, axis=-1)
    long = squared > tiny * tiny
    outward = jnp.stack([ahead[:, 1], -ahead[:, 0]], axis=-1) / jnp.sqrt(jnp.where(long, squared, 1.0))[:, None]
    midway = np.stack([np.cos(_TURN + np.pi / SIDES), np.sin(_TURN + np.pi / SIDES)], axis=-1).astype(outline.dtype)
    normals = jnp.where(long[:, None], outward, midway)
    return normals, jnp.sum(normals * outline, axis=-1)


def _cut(
    start: Float[Array, "sides 2"], ahead: Float[Array, "sides 2"], normals, reach: Float[Array, " sides"], tiny: Scalar
) -> tuple[Float[Array, " sides"], Float[Array, " sides"]]:
    """The parts of lines at which they enter and leave an outline, within 0 and 1; missed if left before entered."""
    room = reach - start @ normals.T
    speed = ahead @ normals.T
    level = jnp.abs(speed) <= tiny
    part = room / jnp.where(level, 1.0, speed)
    outside = level & (room < 0)
    enter = jnp.max(jnp.where(level | (speed > 0), 0.0, part), axis=1)
    leave = jnp.min(jnp.where(level | (speed < 0), 1.0, part), axis=1)
    missed = jnp.any(outside, axis=1) | (enter > leave)
    return jnp.where(missed, 1.0, jnp.minimum(enter, 1.0)), jnp.where(missed, 0.0, jnp.maximum(leave, 0.0))


def _parallel(one: Float[Array, "sides 2"], other: Float[Array, "sides 2"], width: Scalar) -> Bool[Array, ""]:
    """Whether two outlines without an area are lines that lie along each other."""

    def longest(outline):
        edges = pick(outline, _NEXT) - outline
        return lax.dynamic_index_in_dim(edges, jnp.argmax(jnp.sum(edges * edges, axis=-1)), keepdims=False)

    u, v = longest(one), longest(other)
    lengths = jnp.sum(u * u), jnp.sum(v * v)
    sine = u[0] * v[1] - u[1] * v[0]
    long = jnp.minimum(*lengths) > (10 * width) ** 2
    return long & (sine * sine < PARALLEL * lengths[0] * lengths[1])


def shared_points(
    on_a: Polygon, on_b: Polygon, normal: Vector3, across: Float[Array, "2 3"], size: Scalar
) -> tuple[Float[Array, "slots"], Float[Array, "slots 3"], Bool[Array, "slots"]]:
    """Distances along the normal, points on a, and which count, of the outline that two polygons share."""
    same = max(SAME, 16 * float(jnp.finfo(normal.dtype).eps)) * size
    flat_a, flat_b = on_a.corners @ across.T, on_b.corners @ across.T
    lines = ~on_a.flat & ~on_b.flat & _parallel(flat_a, flat_b, BESIDE * size)
    wide = jnp.where(lines, BESIDE * size, same)
    normals_a, reach_a = _half_planes(flat_a, same)
    normals_b, reach_b = _half_planes(flat_b, same)
    ahead = pick(flat_a, _NEXT) - flat_a
    enter, leave = _cut(flat_a, ahead, normals_b, reach_b + wide, same)
    hit = enter <= leave
    edges = pick(on_a.corners, _NEXT) - on_a.corners
    of_a = jnp.concatenate([on_a.corners + enter[:, None] * edges, on_a.corners + leave[:, None] * edges])
    above = (of_a - on_b.top) @ on_b.plane / jnp.sum(normal * on_b.plane)
    within = jnp.all(flat_b @ normals_a.T < reach_a + jnp.where(lines, wide, -same), axis=1)
    below = -((on_b.corners - on_a.top) @ on_a.plane) / jnp.sum(normal * on_a.plane)
    distance = jnp.concatenate([above, below])
    points = jnp.concatenate([of_a, on_b.corners + below[:, None] * normal])
    return distance, points, jnp.concatenate([hit, hit, within])


def outermost(
    places: Float[Array, "n 2"], counts: Bool[Array, " n"], directions: Float[Array, "slots 2"], tiny: Scalar
) -> tuple[Array, Bool[Array, " slots"]]:
    """Indices of the places that are furthest in some directions, and which of these are any and not repeated."""
    places, counts = lax.stop_gradient((places, counts))
    chosen = jnp.argmax(jnp.where(counts, directions @ places.T, -jnp.inf), axis=1)
    spots = jnp.take(places, chosen, axis=0, mode="clip")
    gaps = jnp.sum((spots[:, None] - spots) ** 2, axis=-1)
    earlier = np.tril(np.full((len(directions), len(directions)), True), -1)
    repeated = jnp.any((gaps <= tiny * tiny) & earlier, axis=1)
    return chosen, jnp.any(counts) & ~repeated
