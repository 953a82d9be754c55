"""Points and spheres against a box."""

import jax.numpy as jnp
from jaxtyping import Float

from ...spatial import Array, Vector3, rotate, rotate_back
from .interface import Placed, Touch
from .witness import apart, length_and_direction, touch


def side(x: Array) -> Array:
    """1 or -1: the side of zero, with zero itself on the positive side."""
    return jnp.where(x < 0, -1.0, 1.0).astype(x.dtype)


def largest(x: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3"]:
    """1 at the largest of three numbers, the first one of equals; 0 elsewhere."""
    first, second, third = x[..., 0], x[..., 1], x[..., 2]
    is_first = (first >= second) & (first >= third)
    is_second = ~is_first & (second >= third)
    return jnp.stack([is_first, is_second, ~(is_first | is_second)], axis=-1).astype(x.dtype)


def nearest_face(point: Vector3, half_sizes: Vector3) -> Vector3:
    """The outward normal of the face by which a point inside leaves a box soonest; both in the box's frame."""
    sign = side(point)
    return sign * largest(sign * point - half_sizes)


def to_box(point: Vector3, half_sizes: Vector3, face: Vector3) -> tuple[Array, Vector3]:
    """Signed distance and normal of points from a box, in its frame; points inside leave by the face with this normal.

    A point on the surface, or outside by rounding error only, counts as inside, because its direction from the box
    is not defined.
    """
    outside = point - jnp.clip(point, -half_sizes, half_sizes)
    length, direction = length_and_direction(outside, face)
    through = jnp.sum(face * point - jnp.abs(face) * half_sizes, axis=-1)
    return jnp.where(apart(outside), length, through), direction


def sphere_box(a: Placed, b: Placed) -> Touch:
    """One point; a sphere centred inside leaves by the nearest face, the first of equals, positive before negative."""
    centre = rotate_back(b.pose.rotation, a.pose.position - b.pose.position)[None]
    distance, normal = to_box(centre, b.size, nearest_face(centre, b.size))
    normal = rotate(b.pose.rotation, normal)
    return touch(distance - a.size[0], normal, a.pose.position - a.size[0] * normal)
