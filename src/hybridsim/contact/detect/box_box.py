"""Box against box: the part of a face above a face of the other box, or one pair of edges.

Of the directions that may separate boxes, the normals of faces and the cross products of edges, the one along which
they overlap least, or are furthest apart, says which features touch (Gottschalk et al. 1996, OBBTree; Ericson,
Real-Time Collision Detection, 4.4).
"""

import jax
import jax.numpy as jnp
import numpy as np

from ...spatial import rotate, rotate_back, unit
from .box import largest, side
from .box_edges import closest_edges, closest_points
from .box_faces import SAME, Face, above, face_of, opposed, separations
from .interface import Placed, Touch
from .witness import length_and_direction

# Of equal overlaps, those along faces of b come first, then of a, then along edges: another is taken only if it is less
# than this part of the one before, so that rounding error does not choose. The face so preferred has a point that deep.
PREFERENCE = 1 - 1e-6
# Cosine of the angle between two edges' normal and a face's below which the edges are all that touches. Faces that lie
# on each other and rock by a little are parted soonest by edges, but stay on each other.
ROCKING = 0.999


def better(separation, than, tiny):
    """Whether a separation is larger than another, by enough."""
    return separation > than + (1 - PREFERENCE) * jnp.maximum(-than, 0.0) + tiny


def outside(corners, box: Placed, otherwise):
    """Distance and direction of points outside of a box from it; `otherwise` is the direction of any others."""
    local = rotate_back(box.pose.rotation, corners - box.pose.position)
    gap = local - jnp.clip(local, -box.size, box.size)
    return length_and_direction(rotate(box.pose.rotation, gap), otherwise)


def box_box(a: Placed, b: Placed) -> Touch:
    """Thirteen points: twelve for a face above a face, and one for two edges.

    The reference face is the one beyond which most of the other box lies; the incident face, of the other box, is
    the most opposed one. Points are the corners of the part of the incident face above the reference face (`above`);
    their distances are their heights along the normal of the faces (`common_normal`). If edges part the boxes, the
    distance is that of the edges, along their common normal. One point of boxes that overlap is as deep as they are, by
    the least translation that parts them, and none is deeper by more than a thousandth.

    Of boxes apart no distance is negative. With faces above each other or edges that cross, the smallest one is that
    of the boxes. Unless parallel faces are above each other, corners of both faces are taken against the other box as
    well: the smallest distance is that of the boxes or a little more, since the nearest corners may be others.

    Slots without a point have a distance larger than the boxes.

    Corners of incident faces, and edges, are points of their bodies, and distances change as the velocities of the
    witnesses say. Other points of faces slide along them: where an edge crosses the outline of the reference face, and
    above its corners, that holds only for parallel faces. Derivatives are those of the distance here too.
    """
    size = jnp.sum(a.size) + jnp.sum(b.size)
    tiny = 64 * jnp.finfo(size.dtype).eps * size
    gap_b, centre_a = separations(a, b)
    gap_a, centre_b = separations(b, a)
    swap = better(jnp.max(gap_a), jnp.max(gap_b), tiny)

    def select(x, y):
        return jnp.where(swap, x, y)

    held = Placed(jax.tree.map(select, b.pose, a.pose), select(b.size, a.size), a.points)
    holding = Placed(jax.tree.map(select, a.pose, b.pose), select(a.size, b.size), b.points)
    gap, centre = select(gap_a, gap_b), select(centre_b, centre_a)
    reference = face_of(holding, side(centre) * largest(gap))
    incident = opposed(held, reference.normal)
    sign = select(-1.0, 1.0).astype(size.dtype)
    by_faces = jnp.max(gap)

    edges = closest_edges(a, b)
    parted_by_edges = better(edges.separation, by_faces, tiny)
    rocking = sign * jnp.sum(edges.normal * reference.normal) > ROCKING
    # Boxes that touch exactly are not apart: else corners that rounding puts below the face would touch nothing.
    apart = jnp.maximum(by_faces, edges.separation) > tiny

    same = max(SAME, 16 * float(jnp.finfo(size.dtype).eps)) * size
    on_incident, normal, distance, loose = of_faces(
        reference, incident, held, holding, apart, rocking | ~parted_by_edges, same, 2 * size
    )
    on_reference = on_incident - distance[:, None] * normal

    edge_a, edge_b = closest_points(a, b, edges)
    between = edge_a - edge_b
    length, direction = length_and_direction(between, edges.normal)
    deep = parted_by_edges & ~apart
    counts = deep | (apart & (parted_by_edges | loose))
    edge_normal = jnp.where(deep, edges.normal, direction)
    edge_distance = jnp.where(deep, jnp.sum(edges.normal * between), length) + jnp.where(counts, 0.0, 2 * size)

    distances = jnp.append(distance, edge_distance)
    normals = jnp.concatenate([sign * normal, edge_normal[None]])
    on_a = jnp.concatenate([select(on_reference, on_incident), edge_a[None]])
    on_b = jnp.concatenate([select(on_incident, on_reference), (edge_a - edge_distance * edge_normal)[None]])
    return Touch(distances, normals, on_a, on_b)


def common_normal(reference: Face, incident: Face):
    """Of parallel faces the mean of both normals; from there, over a tilt of a few degrees, to the reference face's.

    Whichever of two faces that lie on each other is the reference, which the smallest tilt decides, the normal and its
    derivative are the same.
    """
    facing = -jnp.sum(reference.normal * incident.normal)
    half = jnp.clip((facing - ROCKING) / (1 - ROCKING), 0.0, 1.0) / 2
    return unit((1 - half) * reference.normal - half * incident.normal)


def of_faces(reference: Face, incident: Face, held: Placed, holding: Placed, apart, lying, same, far):
    """Points on the incident face, normals and distances from the reference face; whether corners count by themselves."""
    points, counts = above(reference, incident, same)
    common = common_normal(reference, incident)
    steepness = jnp.sum(common * reference.normal)
    height = (points - reference.centre) @ reference.normal
    # A point so far below the face that it is below the box touches nothing.
    counts = counts & lying & ~(apart & (height <= 0))
    parallel = -jnp.sum(reference.normal * incident.normal) > ROCKING
    loose = apart & ~(parallel & jnp.any(counts))

    corners, below = incident.corners, reference.corners
    length, direction = outside(corners, holding, reference.normal)
    length_below, direction_below = outside(below, held, -reference.normal)
    alone = jnp.concatenate([corners, corners, below - length_below[:, None] * direction_below])
    normal_alone = jnp.concatenate([direction, direction, -direction_below])
    distance_alone = jnp.concatenate([length, length, length_below])

    corner_counts = loose & ~counts & (np.arange(12) // 4 != 1)
    filler = jnp.concatenate([corners, corners, corners])
    some = counts | corner_counts
    chosen = jnp.where(corner_counts[:, None], alone, jnp.where(counts[:, None], points, filler))
    normal = jnp.where(corner_counts[:, None], normal_alone, common)
    raised = (chosen - reference.centre) @ reference.normal / steepness + jnp.where(some, 0.0, far)
    return chosen, normal, jnp.where(corner_counts, distance_alone, raised), loose
