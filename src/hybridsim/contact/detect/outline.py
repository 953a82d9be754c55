"""Signed distance of a point from a convex outline in the plane, with the outward normal there."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float

from ...spatial import Array, Scalar, pick, safe_norm
from .witness import apart, length_and_direction

Point = Float[Array, "2"]


def to_circle(point: Point, radius: Scalar) -> tuple[Float[Array, ""], Point]:
    """Of a circle about the origin; its centre leaves along x."""
    length, normal = length_and_direction(point, np.array([1.0, 0.0], dtype=point.dtype))
    return length - radius, normal


def to_polygon(point: Point, corners: Float[Array, "n 2"]) -> tuple[Float[Array, ""], Point]:
    """Of a convex polygon with corners counter-clockwise; repeated corners are one. On a bisector the first edge counts."""
    n = corners.shape[0]
    along = pick(corners, np.arange(1, n + 1) % n) - corners
    squared = jnp.sum(along * along, axis=-1)
    is_edge = squared > 0
    divisor = jnp.where(is_edge, squared, 1.0)
    outward = jnp.stack([along[:, 1], -along[:, 0]], axis=-1) / jnp.sqrt(divisor)[:, None]
    between = point - corners

    # Inside, and on the outline, the line least far away counts.
    beyond = jnp.where(is_edge, jnp.sum(outward * between, axis=-1), -jnp.inf)
    line = jnp.arange(n) == jnp.argmax(beyond)
    depth, inner = jnp.sum(jnp.where(line, beyond, 0.0)), jnp.sum(jnp.where(line[:, None], outward, 0.0), axis=0)

    # Outside, the closest of the edges counts.
    place = jnp.clip(jnp.sum(between * along, axis=-1) / divisor, 0.0, 1.0)
    gaps = between - place[:, None] * along
    edge = jnp.arange(n) == jnp.argmin(jnp.sum(gaps * gaps, axis=-1))
    gap = jnp.sum(jnp.where(edge[:, None], gaps, 0.0), axis=0)

    outside = (depth > 0) & apart(gap)
    length, normal = length_and_direction(jnp.where(outside, gap, inner), inner)
    return jnp.where(outside, length, depth), normal


# Together they reach rounding error for half axes up to 1 : 100, inside and outside (tests/contact/detect/test_distance.py).
ROUNDS = 4
NEWTON_STEPS = 3
# Least slope of f that Newton's steps divide by, in products of the half axes.
FLATTEST = 1e-6


def _search(point: Point, radii: Point) -> Point:
    """Cosine and sine of the ellipse's angle closest to a point of the first quadrant, roughly.

    Each round takes the ellipse for its circle of curvature, whose closest point is known (Chatfield, Simple Method for
    Distance to Ellipse, 2017). It stays in the quadrant and needs no care for any point.
    """
    focal = radii[0] * radii[0] - radii[1] * radii[1]
    evolute = jnp.stack([focal, -focal]) / radii
    turn = jnp.full_like(point, np.sqrt(0.5))
    for _ in range(ROUNDS):
        centre = evolute * turn * turn * turn
        radius = safe_norm(radii * turn - centre)
        away = point - centre
        distance = safe_norm(away)
        guess = jnp.clip((centre + away * (radius / jnp.where(distance > 0, distance, 1.0))) / radii, 0.0, 1.0)
        size = safe_norm(guess)
        turn = jnp.where(size > 0, guess / jnp.where(size > 0, size, 1.0), turn)
    return turn


def to_ellipse(point: Point, radii: Point) -> tuple[Float[Array, ""], Point]:
    """Of an ellipse about the origin with half axes along x and y; its centre leaves along the shorter one.

    The closest point (a cos t, b sin t) solves f(t) = (b^2 - a^2) sin t cos t + a x sin t - b y cos t = 0. A search gives
    t without derivatives; Newton's steps give its last digits and its derivatives, each step one order.
    """
    sign = jnp.where(point < 0, -1.0, 1.0).astype(point.dtype)
    turn = lax.stop_gradient(sign * _search(jnp.abs(point), radii))
    focal = radii[0] * radii[0] - radii[1] * radii[1]
    x, y = radii[0] * point[0], radii[1] * point[1]
    # Where the slope vanishes, at the ends of the ellipse's inner axis, the closest point is about to become two.
    flattest = FLATTEST * radii[0] * radii[1]
    c, s = turn[0], turn[1]
    for _ in range(NEWTON_STEPS):
        slope = jnp.maximum(x * c + y * s - focal * (c * c - s * s), flattest)
        step = (focal * s * c - x * s + y * c) / slope
        c, s = c - step * s, s + step * c
        size = jnp.sqrt(c * c + s * s)
        c, s = c / size, s / size
    normal = jnp.stack([radii[1] * c, radii[0] * s])
    normal = normal / jnp.sqrt(jnp.sum(normal * normal))
    return jnp.sum(normal * (point - radii * jnp.stack([c, s]))), normal
