"""Faces of two boxes that oppose each other, and the points of one above the other."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ...spatial import Array, Vector3, pick, rotate, rotate_back
from .box import largest, side
from .interface import Placed

# Around a rectangle, in half sizes.
AROUND = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
NEXT = np.array([1, 2, 3, 0])

# What is nearer than this part of the boxes' sizes counts as the same: equal boxes lie on each other by four corners,
# whatever rounding error says about which of them are inside.
SAME = 1e-8


class Face(eqx.Module):
    """One face of a box, in the world."""

    centre: Vector3
    normal: Vector3
    """Outward."""
    along: Float[Array, "2 3"]
    """Directions of its sides..."""
    half: Float[Array, "2"]
    """...and half their lengths [m]."""

    @property
    def corners(self) -> Float[Array, "4 3"]:
        """One after the other along the outline."""
        return self.centre + (AROUND.astype(self.half.dtype) * self.half) @ self.along


def separations(a: Placed, b: Placed) -> tuple[Vector3, Vector3]:
    """How far a is beyond each of b's faces on its side, and the centre of a, both in b's frame."""
    centre = rotate_back(b.pose.rotation, a.pose.position - b.pose.position)
    extent = jnp.abs(b.pose.rotation.T @ a.pose.rotation) @ a.size
    return jnp.abs(centre) - extent - b.size, centre


def face_of(box: Placed, outward: Vector3) -> Face:
    """The face with this normal, which is 1 or -1 for one axis of the box."""
    axis = jnp.abs(outward)
    # The next axis and the one after it.
    axes = jnp.stack([pick(axis, np.array([2, 0, 1])), pick(axis, np.array([1, 2, 0]))])
    normal = rotate(box.pose.rotation, outward)
    return Face(
        box.pose.position + jnp.sum(axis * box.size) * normal, normal, axes @ box.pose.rotation.T, axes @ box.size
    )


def opposed(box: Placed, normal: Vector3) -> Face:
    """The face most opposed to a direction."""
    local = rotate_back(box.pose.rotation, normal)
    return face_of(box, -side(local) * largest(jnp.abs(local)))


def clip(
    start: Float[Array, "4 2"], ahead: Float[Array, "4 2"], half: Float[Array, "2"], same: Float[Array, ""]
) -> tuple[Float[Array, "4"], Float[Array, "4"]]:
    """The parts of lines at which they enter and leave a rectangle (Liang and Barsky 1984); missed if left before entered.

    Both are within 0 and 1. The rectangle is wider by `same` than said.
    """
    half = half + same
    level = jnp.abs(ahead) <= same
    step = jnp.where(level, 1.0, ahead)
    one, other = (-half - start) / step, (half - start) / step
    outside = jnp.abs(start) > half
    enter = jnp.where(level, jnp.where(outside, 2.0, -1.0), jnp.minimum(one, other))
    leave = jnp.where(level, jnp.where(outside, -1.0, 2.0), jnp.maximum(one, other))
    entering = jnp.clip(jnp.maximum(enter[:, 0], enter[:, 1]), 0.0, 1.0)
    leaving = jnp.clip(jnp.minimum(leave[:, 0], leave[:, 1]), 0.0, 1.0)
    # Beyond an end: what is entered after the end, or left before the start, is missed.
    missed = jnp.any((enter > 1) | (leave < 0), axis=-1)
    return jnp.where(missed, 1.0, entering), jnp.where(missed, 0.0, leaving)


def above(reference: Face, incident: Face, same: Float[Array, ""]) -> tuple[Float[Array, "12 3"], Bool[Array, "12"]]:
    """The outline of the part of the incident face above the reference face, and which of the points are any.

    Of each incident edge: where it enters the rectangle of the reference face, or its first corner if that is inside,
    and where it leaves, unless its last corner is inside, which is the next edge's first. Then the points above the
    corners of the reference face.
    """
    corners = incident.corners
    ahead = pick(corners, NEXT) - corners
    enter, leave = clip(
        (corners - reference.centre) @ reference.along.T, ahead @ reference.along.T, reference.half, same
    )
    hit = enter <= leave
    crosses = (leave < 1) & (leave > enter + SAME)

    below = reference.corners
    slope = jnp.sum(reference.normal * incident.normal)
    height = ((incident.centre - below) @ incident.normal) / slope
    lifted = below + height[:, None] * reference.normal
    covered = jnp.all(jnp.abs((lifted - incident.centre) @ incident.along.T) < incident.half - same, axis=-1)

    points = jnp.concatenate([corners + enter[:, None] * ahead, corners + leave[:, None] * ahead, lifted])
    return points, jnp.concatenate([hit, hit & crosses, covered])
