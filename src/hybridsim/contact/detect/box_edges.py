"""The edges of two boxes that come closest, and where.

The direction between two edges is that of their cross product, so the edges to look at are those whose cross product
separates the boxes most, or lets them overlap least (Ericson, Real-Time Collision Detection, 4.4 and 5.5).
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ...spatial import Array, Vector3, cross, rotate, rotate_back
from .box import side
from .interface import Placed
from .round import PARALLEL, crossing


class Edges(eqx.Module):
    """The edges of two boxes that come closest, and how far the boxes are apart along their common normal."""

    normal: Vector3
    separation: Float[Array, ""]
    """Negative if the boxes overlap along the normal [m]."""
    direction_a: Vector3
    """1 for the axis of box a that the edge follows, 0 for the others."""
    direction_b: Vector3


def closest_edges(a: Placed, b: Placed) -> Edges:
    """Among the nine cross products of edges, the one along which the boxes are furthest apart."""
    axes_a, axes_b = a.pose.rotation.T, b.pose.rotation.T
    normals = cross(axes_a[:, None], axes_b[None]).reshape(9, 3)
    squared = jnp.sum(normals * normals, axis=-1)
    parallel = squared < PARALLEL
    between = a.pose.position - b.pose.position
    scale = side(normals @ between) / jnp.sqrt(jnp.where(parallel, 1.0, squared))
    normals = scale[:, None] * normals
    extent = jnp.abs(normals @ a.pose.rotation) @ a.size + jnp.abs(normals @ b.pose.rotation) @ b.size
    separation = jnp.where(parallel, -jnp.inf, normals @ between - extent)
    chosen = jnp.arange(9) == jnp.argmax(separation)
    weight = chosen.astype(normals.dtype)
    which = weight.reshape(3, 3)
    best = jnp.sum(jnp.where(chosen, separation, 0.0))
    return Edges(weight @ normals, best, jnp.sum(which, axis=1), jnp.sum(which, axis=0))


def closest_points(a: Placed, b: Placed, edges: Edges) -> tuple[Vector3, Vector3]:
    """Of each box's edge furthest along the normal towards the other, where it is closest to the other's edge."""
    # At the middle of its own axis, at an end of others.
    corner_a = -side(rotate_back(a.pose.rotation, edges.normal)) * (1 - edges.direction_a) * a.size
    corner_b = side(rotate_back(b.pose.rotation, edges.normal)) * (1 - edges.direction_b) * b.size
    middle_a, middle_b = a.pose.apply(corner_a), b.pose.apply(corner_b)
    axis_a, axis_b = rotate(a.pose.rotation, edges.direction_a), rotate(b.pose.rotation, edges.direction_b)
    half_a, half_b = jnp.sum(edges.direction_a * a.size), jnp.sum(edges.direction_b * b.size)
    place_a, place_b = crossing(middle_a, axis_a, half_a, middle_b, axis_b, half_b)
    return middle_a + place_a * axis_a, middle_b + place_b * axis_b
