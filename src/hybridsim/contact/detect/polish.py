"""From the corners that meet to the normal and the witnesses, with their derivatives.

The corners that meet are one difference of a corner of a and a corner of b, and up to two edges that lead from it to others.
The normal is perpendicular to the edges; where they leave it a freedom, the separation is largest there (`search.py`).
With n * separation = difference - bulges + edges @ shares, that is one equation for the normal, which Newton's method
solves. Its last steps are differentiated, each for one order.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float

from ...spatial import Array, Scalar, Vector3, cross
from .convex import Convex
from .search import Meeting
from .witness import length_and_direction

NEWTON_STEPS = 4
"""Without derivatives, for the last digits of what a search found."""
DIFFERENTIATED = 2
# Squared sine of the angle below which edges count as parallel.
PARALLEL = 1e-12
# Least radius of curvature and distance together, in sizes of the shapes, that Newton's steps divide by.
SHARPEST = 1e-9


class Contact(eqx.Module):
    """Where two convex shapes meet."""

    normal: Vector3
    """Of unit length, from b to a."""
    distance: Float[Array, ""]
    on_a: Vector3
    on_b: Vector3


class _Corners(eqx.Module):
    """The corners that meet, in the world."""

    on_a: Vector3
    on_b: Vector3
    edges_a: Float[Array, "2 3"]
    """From these to the others; zero where there is none."""
    edges_b: Float[Array, "2 3"]
    freedoms: Array
    """How many the edges leave to the normal: 2, 1 or 0."""

    @property
    def edges(self) -> Float[Array, "2 3"]:
        return self.edges_a - self.edges_b


def _corners(a: Convex, b: Convex, found: Meeting) -> _Corners:
    """The corner of most weight, and the edges to those others that count."""
    order = jnp.argsort(-found.weights)
    index_a, index_b, weights = found.corners_a[order], found.corners_b[order], found.weights[order]
    on_a, on_b = a.corner(index_a[0]), b.corner(index_b[0])

    def edge(k: int) -> tuple[Array, Array]:
        """To the k-th corner, zero if it is the first one again or does not count."""
        counts = weights[k] > 0
        across_a = jnp.where(counts & (index_a[k] != index_a[0]), a.corner(index_a[k]) - on_a, 0.0)
        return across_a, jnp.where(counts & (index_b[k] != index_b[0]), b.corner(index_b[k]) - on_b, 0.0)

    (one_a, one_b), (two_a, two_b) = edge(1), edge(2)
    one, two = one_a - one_b, two_a - two_b
    has_one, has_two = jnp.sum(one * one) > 0, jnp.sum(two * two) > 0
    # The first of the edges exists if any does.
    first_a, first_b = jnp.where(has_one, one_a, two_a), jnp.where(has_one, one_b, two_b)
    normal = cross(one, two)
    both = jnp.sum(normal * normal) > PARALLEL * jnp.sum(one * one) * jnp.sum(two * two)
    second_a, second_b = jnp.where(both, two_a, 0.0), jnp.where(both, two_b, 0.0)
    freedoms = jnp.where(both, 0, jnp.where(has_one | has_two, 1, 2))
    return _Corners(on_a, on_b, jnp.stack([first_a, second_a]), jnp.stack([first_b, second_b]), freedoms)


def _unit(x: Vector3, otherwise: Vector3) -> Vector3:
    return length_and_direction(x, otherwise)[1]


def _scaled(edge: Vector3) -> Vector3:
    """An edge that is about as long as a unit vector; its direction is all that matters."""
    squared = lax.stop_gradient(jnp.sum(edge * edge))
    return edge / jnp.sqrt(jnp.where(squared > 0, squared, 1.0))


def _perpendicular(normal: Vector3, corners: _Corners, otherwise: Vector3) -> Vector3:
    """The direction perpendicular to the edges that is nearest to a vector; `otherwise` if there is none."""
    one, two = _scaled(corners.edges[0]), _scaled(corners.edges[1])
    across = cross(one, two)
    across = across * jnp.where(jnp.sum(across * otherwise) < 0, -1.0, 1.0).astype(normal.dtype)
    squared = jnp.sum(one * one)
    beside = normal - one * (jnp.sum(one * normal) / jnp.where(squared > 0, squared, 1.0))
    free = corners.freedoms
    return _unit(jnp.where(free == 0, across, jnp.where(free == 1, beside, normal)), otherwise)


def _newton(a: Convex, b: Convex, corners: _Corners, normal: Vector3, size: Scalar) -> Vector3:
    """One step towards the normal along which the shapes are furthest apart."""
    normal = _perpendicular(normal, corners, normal)
    difference = corners.on_a + a.bulge(-normal) - corners.on_b - b.bulge(normal)
    separation = jnp.sum(normal * difference)
    bending = a.bending(-normal) + b.bending(normal)
    if a.half_axes is None and b.half_axes is None:
        # Nothing is round: of all directions that the edges leave, that of the difference itself.
        towards = _perpendicular(difference, corners, normal)
        return jnp.where(separation > SHARPEST * size, towards, normal)

    one = corners.edges[0]
    axis = jnp.where(jnp.abs(normal[2]) < 0.7, np.eye(3)[2], np.eye(3)[0]).astype(normal.dtype)
    along = jnp.where(corners.freedoms == 1, _scaled(one), axis)
    u = _unit(cross(along, normal), cross(axis, normal))
    v = cross(normal, u)
    least = max(SHARPEST, 4 * float(jnp.finfo(normal.dtype).eps)) * size
    uu, uv, vv = u @ bending @ u + separation, u @ bending @ v, v @ bending @ v + separation
    by_u, by_v = jnp.sum(u * difference), jnp.sum(v * difference)
    # Where shapes overlap by more than they are curved, this is no maximum, and there is no step to one.
    determinant = uu * vv - uv * uv
    both = (corners.freedoms == 2) & (determinant > least * jnp.maximum(uu + vv, least)) & (uu + vv > 0)
    single = (corners.freedoms == 1) & (uu > least)
    safe = jnp.where(both, determinant, 1.0)
    along_u = jnp.where(both, (vv * by_u - uv * by_v) / safe, jnp.where(single, by_u / jnp.where(single, uu, 1.0), 0.0))
    along_v = jnp.where(both, (uu * by_v - uv * by_u) / safe, 0.0)
    step = along_u * u + along_v * v
    return _unit(normal + step, normal)


def polished(a: Convex, b: Convex, found: Meeting, size: Scalar) -> Contact:
    """The contact that a search found, to the last digits and with derivatives."""
    corners = _corners(a, b, found)
    normal = found.normal
    if a.half_axes is not None or b.half_axes is not None:
        fixed_a, fixed_b, fixed = lax.stop_gradient((a, b, corners))
        worth = _worth(fixed_a, fixed_b)

        def improve(_, best):
            step = _newton(fixed_a, fixed_b, fixed, best, lax.stop_gradient(size))
            return jnp.where(worth(step) >= worth(best), step, best)

        normal = lax.fori_loop(0, NEWTON_STEPS, improve, normal)
    normal = lax.stop_gradient(normal)
    for _ in range(DIFFERENTIATED):
        normal = _newton(a, b, corners, normal, size)

    on_a, on_b = corners.on_a + a.bulge(-normal), corners.on_b + b.bulge(normal)
    difference = on_a - on_b
    separation = jnp.sum(normal * difference)
    shares = _shares(corners.edges, separation * normal - difference, corners.freedoms)
    distance = separation - a.radius - b.radius
    on_a = on_a + shares @ corners.edges_a - a.radius * normal
    return Contact(normal, distance, on_a, on_a - distance * normal)


def _worth(a: Convex, b: Convex):
    """How far two shapes are apart along a normal."""

    def worth(normal: Vector3) -> Array:
        return jnp.sum(normal * (a.furthest(-normal)[0] - b.furthest(normal)[0]))

    return worth


def _shares(edges: Float[Array, "2 3"], wanted: Vector3, freedoms: Array) -> Float[Array, "2"]:
    """Of the edges, which add up to a vector in their plane."""
    one, two = edges[0], edges[1]
    a, b, d = jnp.sum(one * one), jnp.sum(one * two), jnp.sum(two * two)
    p, q = jnp.sum(one * wanted), jnp.sum(two * wanted)
    determinant = jnp.where(freedoms == 0, a * d - b * b, 1.0)
    single = p / jnp.where(freedoms == 1, a, 1.0)
    first = jnp.where(freedoms == 0, (d * p - b * q) / determinant, jnp.where(freedoms == 1, single, 0.0))
    return jnp.stack([first, jnp.where(freedoms == 0, (a * q - b * p) / determinant, 0.0)])
