"""Capsule against box: balls about points of a segment."""

import jax.numpy as jnp
from jaxtyping import Float

from ...spatial import Array, Scalar, Vector3, rotate, rotate_back
from .box import nearest_face, to_box
from .interface import Placed, Touch
from .witness import touch

# Places nearer than this part of the sizes count as one.
SAME = 1e-6


def passing(centre: Vector3, direction: Vector3, half: Scalar, half_sizes: Vector3, level) -> tuple[Array, Array]:
    """Where a segment passes the planes of a box's faces, for each axis: first and last, within the segment."""
    step = jnp.where(level, 1.0, direction)
    one, other = (-half_sizes - centre) / step, (half_sizes - centre) / step
    inside = jnp.abs(centre) <= half_sizes
    first = jnp.where(level, jnp.where(inside, -half, half), jnp.minimum(one, other))
    last = jnp.where(level, jnp.where(inside, half, -half), jnp.maximum(one, other))
    return jnp.clip(first, -half, half), jnp.clip(last, -half, half)


def closest(
    centre: Vector3, direction: Vector3, half: Scalar, half_sizes: Vector3, planes: Float[Array, "6"], tiny: Scalar
) -> Float[Array, ""]:
    """Where a segment is closest to a box, or the middle of all such places.

    Half the derivative of the squared distance along the segment does not decrease and is linear between the places
    where the segment passes the planes of faces: what it is there says where it vanishes.
    """
    places = jnp.concatenate([jnp.stack([-half, half]), planes])
    points = centre + places[:, None] * direction
    slope = (points - jnp.clip(points, -half_sizes, half_sizes)) @ direction
    falls, rises = slope < -tiny, slope > tiny
    level = ~(falls | rises)
    lower, upper = jnp.max(jnp.where(falls, places, -half)), jnp.min(jnp.where(rises, places, half))
    # The slopes there are the largest negative one and the smallest positive one.
    down = jnp.max(jnp.where(falls, slope, -jnp.inf))
    up = jnp.min(jnp.where(rises, slope, jnp.inf))
    both = jnp.any(falls) & jnp.any(rises)
    down, up = jnp.where(both, down, -1.0), jnp.where(both, up, 1.0)
    between = lower + (upper - lower) * (-down / (up - down))
    end = jnp.where(jnp.any(falls), half, -half)
    flat = (jnp.min(jnp.where(level, places, half)) + jnp.max(jnp.where(level, places, -half))) / 2
    return jnp.where(jnp.any(level), flat, jnp.where(both, between, end))


def capsule_box(a: Placed, b: Placed) -> Touch:
    """Five points: both ends, both ends of the part of the axis above a face, and where the axis is closest to the box.

    The third and fourth hold a capsule that lies across a box and is longer than it. Each is the true distance of a
    ball from the box, hence no false contact; where two would be the same ball, the distance of one is larger than the
    shapes. Balls centred inside leave by the nearest face; of an axis that passes through the box the middle of the part
    inside counts as closest.

    The third and fourth slide along the axis while the shapes move, and so does that middle: only of an axis parallel to
    the face do their distances change as the velocities of the witnesses say.
    """
    radius, half = a.size[0], a.size[1]
    size = radius + half + jnp.sum(b.size)
    centre = rotate_back(b.pose.rotation, a.pose.position - b.pose.position)
    direction = rotate_back(b.pose.rotation, a.pose.rotation[:, 2])
    first, last = passing(centre, direction, half, b.size, jnp.abs(direction) <= SAME)
    tiny = 64 * jnp.finfo(size.dtype).eps * size
    nearest = closest(centre, direction, half, b.size, jnp.concatenate([first, last]), tiny)

    across = nearest_face(centre + nearest * direction, b.size) == 0
    enter, leave = jnp.max(jnp.where(across, first, -half)), jnp.min(jnp.where(across, last, half))
    same = SAME * size
    over = enter <= leave
    enters = over & (jnp.abs(enter) < half - same)
    leaves = over & (leave < half - same) & (leave > enter + same)
    places = jnp.stack([-half, half, enter, leave, nearest])
    centres = centre + places[:, None] * direction
    distance, normal = to_box(centres, b.size, nearest_face(centres, b.size))
    # Above a face the distance has no minimum but at an end.
    above = (nearest > enter - same) & (nearest < leave + same) & (distance[4] > -same)
    between = (jnp.abs(nearest) < half - same) & ~above
    one = jnp.ones_like(over)
    counts = jnp.stack([one, one, enters, leaves, between])
    distance = distance - radius + jnp.where(counts, 0.0, 2 * size)
    normal = rotate(b.pose.rotation, normal)
    balls = a.pose.position + places[:, None] * a.pose.rotation[:, 2]
    return touch(distance, normal, balls - radius * normal)
