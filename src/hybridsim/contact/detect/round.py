"""Spheres and capsules: balls about the closest points of points and segments."""

import jax.numpy as jnp
import numpy as np

from ...spatial import Array, Scalar, Vector3, cross
from .interface import Placed, Touch
from .witness import length_and_direction, touch

UP = np.array([0.0, 0.0, 1.0])

# Squared sine of the angle below which two segments count as parallel.
PARALLEL = 1e-8


def balls(centre_a: Vector3, radius_a: Scalar, centre_b: Vector3, radius_b: Scalar, otherwise: Vector3) -> Touch:
    """Ball against ball, for several of them; the normal is `otherwise` where their centres coincide."""
    length, normal = length_and_direction(centre_a - centre_b, otherwise)
    return touch(length - (radius_a + radius_b), normal, centre_a - radius_a * normal)


def sphere_sphere(a: Placed, b: Placed) -> Touch:
    """One point; spheres with one centre part upwards."""
    up = UP.astype(a.size.dtype)
    return balls(a.pose.position[None], a.size[0], b.pose.position[None], b.size[0], up)


def along(point: Vector3, centre: Vector3, direction: Vector3, half_length: Scalar) -> Array:
    """Where a segment is closest to a point, measured from the segment's centre."""
    return jnp.clip(jnp.sum((point - centre) * direction, axis=-1), -half_length, half_length)


def sphere_capsule(a: Placed, b: Placed) -> Touch:
    """One point; a sphere centred on the capsule's axis leaves it along the x axis of the capsule."""
    centre, axis = b.pose.position, b.pose.rotation[:, 2]
    nearest = centre + along(a.pose.position, centre, axis, b.size[1]) * axis
    return balls(a.pose.position[None], a.size[0], nearest[None], b.size[0], b.pose.rotation[:, 0])


def crossing(
    centre_a: Vector3, axis_a: Vector3, half_a: Scalar, centre_b: Vector3, axis_b: Vector3, half_b: Scalar
) -> tuple[Array, Array]:
    """Where two segments are closest, measured from their centres (Ericson, Real-Time Collision Detection, 5.1.9).

    Of parallel segments all places may be equally close: a's is then the middle of the part of a that b faces.
    """
    between = centre_a - centre_b
    cosine = jnp.sum(axis_a * axis_b, axis=-1)
    from_a, from_b = jnp.sum(axis_a * between, axis=-1), jnp.sum(axis_b * between, axis=-1)
    # Not 1 - cosine^2, which is rounding error for nearly parallel segments.
    normal = cross(axis_a, axis_b)
    sine_squared = jnp.sum(normal * normal, axis=-1)
    parallel = sine_squared < PARALLEL
    lower = jnp.clip(-from_a - cosine * half_b, -half_a, half_a)
    upper = jnp.clip(-from_a + cosine * half_b, -half_a, half_a)
    meeting = (cosine * from_b - from_a) / jnp.where(parallel, 1.0, sine_squared)
    on_a = jnp.where(parallel, (lower + upper) / 2, jnp.clip(meeting, -half_a, half_a))
    on_b = jnp.clip(cosine * on_a + from_b, -half_b, half_b)
    return jnp.clip(cosine * on_b - from_a, -half_a, half_a), on_b


def capsule_capsule(a: Placed, b: Placed) -> Touch:
    """Five points: both ends of a against b, both ends of b against a, and where the axes are closest.

    The first four support capsules that lie along each other: the ends of the part where they overlap are among
    them. Each is a true distance between parts of the shapes, hence no false contact. Capsules whose axes meet part
    along the common perpendicular, or along the x axis of a if there is more than one.
    """
    centre_a, axis_a, half_a = a.pose.position, a.pose.rotation[:, 2], a.size[1]
    centre_b, axis_b, half_b = b.pose.position, b.pose.rotation[:, 2], b.size[1]
    ends_a = jnp.stack([-half_a, half_a])
    ends_b = jnp.stack([-half_b, half_b])
    facing_a = along(centre_b + ends_b[:, None] * axis_b, centre_a, axis_a, half_a)
    facing_b = along(centre_a + ends_a[:, None] * axis_a, centre_b, axis_b, half_b)
    meeting_a, meeting_b = crossing(centre_a, axis_a, half_a, centre_b, axis_b, half_b)
    places_a = jnp.concatenate([ends_a, facing_a, meeting_a[None]])
    places_b = jnp.concatenate([facing_b, ends_b, meeting_b[None]])

    common = cross(axis_a, axis_b)
    parallel = jnp.sum(common * common) < PARALLEL
    perpendicular = jnp.where(parallel, a.pose.rotation[:, 0], common)
    perpendicular = perpendicular / jnp.sqrt(jnp.sum(perpendicular * perpendicular))
    on_a, on_b = centre_a + places_a[:, None] * axis_a, centre_b + places_b[:, None] * axis_b
    return balls(on_a, a.size[0], on_b, b.size[0], perpendicular)
