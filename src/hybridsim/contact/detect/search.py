"""The direction in which two convex shapes are furthest apart, or overlap least.

All differences a - b of a point of a and a point of b make a convex set, which contains the origin where the shapes
overlap. `separation(n)`, the least product of n with any difference, is how far the shapes are apart along n, and the
largest of these over all n is their distance. Shapes apart: the closest point of the set to the origin gives n (Gilbert,
Johnson, Keerthi 1988). Shapes that overlap: n takes the place of the origin by a target just outside of the set,
beyond its best supporting plane so far; the closest point to that one gives a better n, until it is the same.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float, Int

from ...spatial import Array, Scalar, Vector3, cross
from .convex import Convex
from .simplex import closest_on_simplex

MOST_STEPS = 256
"""Supports that are asked for at most. Hulls and boxes need about ten, discs and ellipsoids about thirty."""
OUTSIDE = 1e-2
"""How far outside of the set the target is where shapes overlap, in sizes of the shapes."""
FLAT_ENOUGH, ROUND_ENOUGH = 1e-13, 1e-10
"""Error of the distance, in sizes of the shapes, at which a search ends; of round shapes Newton's method does the rest."""
ROUNDING = 4.0
"""Roundings of a point of the shapes by which a normal may be wrong."""
DEEP = 1e-4
"""Overlap, in sizes of the shapes, from which on the search begins again elsewhere, as there may be less of it."""
RESTARTS = 8
TILT = 1.2
"""By how much the directions of new beginnings differ from the best so far: the tangent of the angle."""
_TURN = 2 * np.pi * np.arange(RESTARTS) / RESTARTS
_AROUND = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=-1)


class Meeting(eqx.Module):
    """What a search found: a direction and the corners that meet there."""

    normal: Vector3
    """Of unit length, from b to a."""
    corners_a: Int[Array, "4"]
    """Indices of corners of a..."""
    corners_b: Int[Array, "4"]
    """...and of b, whose differences surround the closest point..."""
    weights: Float[Array, "4"]
    """...with these weights, which add up to 1."""


class _Search(eqx.Module):
    """The state of a search."""

    points: Float[Array, "4 3"]
    """Differences a - b; which of them are used, and their corners."""
    used: Bool[Array, "4"]
    corners_a: Int[Array, "4"]
    corners_b: Int[Array, "4"]
    target: Vector3
    """The point of which the closest one is looked for."""
    overlap: Bool[Array, ""]
    normal: Vector3
    """The best of this beginning, and the separation along it."""
    separation: Float[Array, ""]
    best: Meeting
    """Of all beginnings."""
    best_separation: Float[Array, ""]
    steps: Int[Array, ""]
    begun: Int[Array, ""]
    """How often it began again."""
    fresh: Bool[Array, ""]
    """Whether `normal` is a new beginning, of which the separation is not known."""
    done: Bool[Array, ""]


def separation(a: Convex, b: Convex, normal: Vector3) -> tuple[Float[Array, ""], Vector3, Array, Array]:
    """Along a normal, balls left out; the difference that is furthest back; its corners."""
    on_a, corner_a = a.furthest(-normal)
    on_b, corner_b = b.furthest(normal)
    difference = on_a - on_b
    return jnp.sum(normal * difference), difference, corner_a, corner_b


def across(normal: Vector3) -> Float[Array, "2 3"]:
    """Two directions perpendicular to a normal and to each other, in a right-handed frame."""
    axis = jnp.where(jnp.abs(normal[2]) < 0.7, np.eye(3)[2], np.eye(3)[0]).astype(normal.dtype)
    first = cross(axis, normal)
    first = first / jnp.sqrt(jnp.sum(first * first))
    return jnp.stack([first, cross(normal, first)])


def search(a: Convex, b: Convex, size: Scalar) -> Meeting:
    """Where two shapes meet. `size` is about that of both. Not differentiable."""
    dtype = a.corners.dtype
    curved = a.half_axes is not None or b.half_axes is not None
    tiny = max(ROUND_ENOUGH if curved else FLAT_ENOUGH, 4 * float(jnp.finfo(dtype).eps)) * size

    def first() -> _Search:
        centre = a.pose.apply(jnp.mean(a.corners, axis=0)) - b.pose.apply(jnp.mean(b.corners, axis=0))
        length = jnp.sqrt(jnp.sum(centre * centre))
        up = np.array([0.0, 0.0, 1.0], dtype=dtype)
        normal = jnp.where(length > tiny, centre / jnp.where(length > tiny, length, 1.0), up)
        far, difference, corner_a, corner_b = separation(a, b, normal)
        slot = np.array([1.0, 0.0, 0.0, 0.0], dtype=dtype)
        corners_a, corners_b = (jnp.full(4, corner, dtype=jnp.int32) for corner in (corner_a, corner_b))
        return _Search(
            points=jnp.broadcast_to(difference, (4, 3)),
            used=jnp.asarray(slot > 0),
            corners_a=corners_a,
            corners_b=corners_b,
            target=jnp.zeros(3, dtype=dtype),
            overlap=jnp.asarray(False),
            normal=normal,
            separation=far,
            best=Meeting(normal, corners_a, corners_b, jnp.asarray(slot)),
            best_separation=jnp.full_like(far, -jnp.inf),
            steps=jnp.int32(0),
            begun=jnp.int32(0),
            fresh=jnp.asarray(False),
            done=jnp.asarray(False),
        )

    def once(now: _Search) -> _Search:
        weights, squared = closest_on_simplex(now.points, now.used, now.target)
        distance = jnp.sqrt(squared)
        # Four weights: the tetrahedron holds the target, however inexactly they give it back where it is flat.
        inside = ((distance <= tiny) | jnp.all(weights > 0)) & ~now.fresh
        away = (weights @ now.points - now.target) / jnp.where(distance <= tiny, 1.0, distance)
        keep = inside | now.fresh
        normal = jnp.where(keep, now.normal, away)
        far, difference, corner_a, corner_b = separation(a, b, normal)
        gap = jnp.sum(normal * (weights @ now.points)) - far
        # No progress is left if the support is in the simplex. Near the target rounding tilts the normal, so that the gap
        # stays above any tolerance; the corners alone do not tell where on the round parts the support is.
        known = jnp.any(now.used & (now.corners_a == corner_a) & (now.corners_b == corner_b))
        rounding = ROUNDING * float(jnp.finfo(dtype).eps) * size * size / jnp.maximum(distance, tiny)
        close = ~keep & ((gap <= tiny) | (known & (gap <= rounding) if curved else known))

        better = now.fresh | (~inside & (far > now.separation))
        advance = better & (far > now.separation + tiny)
        best_here, far_here = jnp.where(better, normal, now.normal), jnp.where(better, far, now.separation)
        # Once the origin is found inside, the target moves along with every better direction.
        overlap = now.overlap | inside
        settled = close & ~(now.overlap & advance)

        # A better direction may have been found from corners that are not those that meet. The last ones are, of shapes apart.
        last = close & (~overlap | (far >= now.best_separation - jnp.maximum(tiny, rounding)))
        best_of_all = ~keep & ((far > now.best_separation) | last)
        found = Meeting(normal, now.corners_a, now.corners_b, weights)
        best = _choose(best_of_all, found, now.best)
        best_separation = jnp.where(best_of_all, jnp.maximum(far, now.best_separation), now.best_separation)

        again = settled & overlap & (best_separation < -DEEP * size) & (now.begun < RESTARTS)
        turn = lax.dynamic_index_in_dim(jnp.asarray(_AROUND, dtype=dtype), now.begun % RESTARTS, keepdims=False)
        beside = best.normal + TILT * turn @ across(best.normal)
        beside = beside / jnp.sqrt(jnp.sum(beside * beside))
        next_normal = jnp.where(again, beside, best_here)
        target = jnp.where(overlap, next_normal * (far_here - OUTSIDE * size), now.target)

        kept = weights > 0
        add = ~keep & ~close & ~jnp.all(kept)
        slot = (jnp.arange(4) == jnp.argmin(kept)) & add
        return _Search(
            points=jnp.where(slot[:, None], difference, now.points),
            used=jnp.where(keep, now.used, kept | slot),
            corners_a=jnp.where(slot, corner_a, now.corners_a),
            corners_b=jnp.where(slot, corner_b, now.corners_b),
            target=target,
            overlap=overlap,
            normal=next_normal,
            separation=far_here,
            best=best,
            best_separation=best_separation,
            steps=now.steps + 1,
            begun=now.begun + again,
            fresh=again,
            done=settled & ~again,
        )

    return lax.while_loop(lambda now: ~now.done & (now.steps < MOST_STEPS), once, first()).best


def _choose(first: Bool[Array, ""], one: Meeting, other: Meeting) -> Meeting:
    return jax.tree.map(lambda x, y: jnp.where(first, x, y), one, other)
