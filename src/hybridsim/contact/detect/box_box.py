"""Box against box: the corners of each against the other, and one pair of edges.

The closest features of two boxes apart are a corner and a face, edge or corner, or two edges (Ericson, Real-Time
Collision Detection, 4.4 and 5.5). The direction between two edges is that of their cross product, so the edges to look
at are those whose cross product separates the boxes most, or lets them overlap least.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ...spatial import Array, Vector3, cross, rotate, rotate_back
from .box import largest, side, to_box
from .interface import Placed, Touch
from .plane import CORNERS
from .round import PARALLEL, crossing
from .witness import length_and_direction, touch

# Two edges count as the contact of boxes that overlap only if along their normal the overlap is less than this part of
# that along every face's: of boxes that lie flat, each cross product is a face normal or rounding error.
EDGES_BEFORE_FACES = 0.999


class Edges(eqx.Module):
    """The edges of two boxes that come closest, and how far the boxes are apart along their common normal."""

    normal: Vector3
    separation: Float[Array, ""]
    """Negative if the boxes overlap along the normal [m]."""
    direction_a: Vector3
    """1 for the axis of box a that the edge follows, 0 for the others."""
    direction_b: Vector3


def faces(a: Placed, b: Placed) -> tuple[Float[Array, ""], Vector3]:
    """The face of b, as its normal in b's frame, beyond which most of a lies, and the separation along it."""
    centre = rotate_back(b.pose.rotation, a.pose.position - b.pose.position)
    extent = jnp.abs(b.pose.rotation.T @ a.pose.rotation) @ a.size
    gap = jnp.abs(centre) - extent - b.size
    return jnp.max(gap), side(centre) * largest(gap)


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


def edge_edge(a: Placed, b: Placed, separation_of_faces: Float[Array, ""]) -> Touch:
    """The closest points of the two edges; their distance is negative only if edges are what parts the boxes soonest.

    Otherwise it is the distance of two segments, which is never less than that of the boxes.
    """
    edges = closest_edges(a, b)
    # Each box's edge furthest along the normal towards the other: at the middle of its own axis, at an end of others.
    corner_a = -side(rotate_back(a.pose.rotation, edges.normal)) * (1 - edges.direction_a) * a.size
    corner_b = side(rotate_back(b.pose.rotation, edges.normal)) * (1 - edges.direction_b) * b.size
    middle_a, middle_b = a.pose.apply(corner_a), b.pose.apply(corner_b)
    axis_a, axis_b = rotate(a.pose.rotation, edges.direction_a), rotate(b.pose.rotation, edges.direction_b)
    half_a, half_b = jnp.sum(edges.direction_a * a.size), jnp.sum(edges.direction_b * b.size)
    place_a, place_b = crossing(middle_a, axis_a, half_a, middle_b, axis_b, half_b)
    on_a = middle_a + place_a * axis_a
    between = on_a - (middle_b + place_b * axis_b)

    overlap = jnp.maximum(edges.separation, separation_of_faces) < 0
    parted_by_edges = overlap & (edges.separation > EDGES_BEFORE_FACES * separation_of_faces)
    length, direction = length_and_direction(between, edges.normal)
    distance = jnp.where(parted_by_edges, jnp.sum(edges.normal * between), length)
    normal = jnp.where(parted_by_edges, edges.normal, direction)
    return touch(distance[None], normal, on_a[None])


def corners_of(a: Placed, b: Placed, face: Vector3) -> tuple[Array, Vector3, Vector3]:
    """The corners of a, their signed distances from b and the normals of b there; those inside leave by this face.

    One face for all, instead of the nearest one for each: of a box that stands on another of the same size each corner
    is as near to a side as one can be, and is held by the top nevertheless.
    """
    corners = a.pose.apply(CORNERS.astype(a.size.dtype) * a.size)
    distance, normal = to_box(rotate_back(b.pose.rotation, corners - b.pose.position), b.size, face)
    return distance, rotate(b.pose.rotation, normal), corners


def box_box(a: Placed, b: Placed) -> Touch:
    """Seventeen points: the corners of a, the corners of b, and one pair of edges.

    What they miss: where faces lie flat on each other, edges that cross. Two boards laid crosswise, with no corner of
    one over the other, fall through each other.
    """
    separation_b, face_b = faces(a, b)
    separation_a, face_a = faces(b, a)
    distance_a, normal_a, corners_a = corners_of(a, b, face_b)
    distance_b, outward, corners_b = corners_of(b, a, face_a)
    edges = edge_edge(a, b, jnp.maximum(separation_a, separation_b))
    return touch(
        jnp.concatenate([distance_a, distance_b, edges.distance]),
        jnp.concatenate([normal_a, -outward, edges.normal]),
        jnp.concatenate([corners_a, corners_b - distance_b[:, None] * outward, edges.on_a]),
    )
