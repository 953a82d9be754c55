"""Spheres and upright cylinders against a shape extruded along z: outlines from `outline`, seen from above."""

import jax.numpy as jnp

from ...spatial import Array, Scalar, Vector3, rotate, rotate_back
from .box import side
from .interface import Placed, Touch
from .outline import to_circle, to_ellipse, to_polygon
from .witness import apart, length_and_direction, touch


def _combine(lateral: Array, outward: Array, vertical: Array, up: Array) -> tuple[Array, Vector3]:
    """Distance and normal of a shape that is beyond the other by `lateral` along `outward` and `vertical` along z.

    Beyond both: the distance of two edges. Else the direction in which the shapes overlap least or are apart.
    """
    beside = lateral >= vertical
    flat = jnp.concatenate([jnp.where(beside, outward, 0.0), jnp.where(beside, 0.0, up)[None]])
    beyond = jnp.concatenate([jnp.maximum(lateral, 0.0) * outward, (up * jnp.maximum(vertical, 0.0))[None]])
    length, normal = length_and_direction(beyond, flat)
    return jnp.where(apart(beyond), length, jnp.maximum(lateral, vertical)), normal


def _sphere(a: Placed, b: Placed, outline, half_length: Scalar) -> Touch:
    centre = rotate_back(b.pose.rotation, a.pose.position - b.pose.position)
    lateral, outward = outline(centre[:2])
    up = side(centre[2])
    distance, normal = _combine(lateral, outward, up * centre[2] - half_length, up)
    normal = rotate(b.pose.rotation, normal)
    return touch((distance - a.size[0])[None], normal, (a.pose.position - a.size[0] * normal)[None])


def sphere_cylinder(a: Placed, b: Placed) -> Touch:
    """One point; a sphere centred inside leaves by the nearest face, the mantle before the ends."""
    return _sphere(a, b, lambda point: to_circle(point, b.size[0]), b.size[1])


def sphere_prism(a: Placed, b: Placed) -> Touch:
    """One point; a sphere centred inside leaves by the nearest face."""
    return _sphere(a, b, lambda point: to_polygon(point, b.points[:, :2]), b.size[0])


def sphere_elliptic(a: Placed, b: Placed) -> Touch:
    """One point; a sphere centred inside leaves by the nearest face, the mantle before the ends."""
    return _sphere(a, b, lambda point: to_ellipse(point, b.size[:2]), b.size[2])


def _upright_cylinder(a: Placed, b: Placed, outline, half_length: Scalar) -> Touch:
    """One point, at the middle of the heights that the shapes share. THE AXES ARE TAKEN AS PARALLEL.

    At that height the cylinder is a disc about a point of its axis; so a small tilt moves the disc as it should, though
    it does not change its form. Past each other's ends the shapes are apart, whatever they look like from above.
    """
    radius, half_a = a.size[0], a.size[1]
    centre = rotate_back(b.pose.rotation, a.pose.position - b.pose.position)
    axis = rotate_back(b.pose.rotation, a.pose.rotation[:, 2])
    height = centre[2]
    middle = (jnp.maximum(height - half_a, -half_length) + jnp.minimum(height + half_a, half_length)) / 2
    disc = centre + (middle - height) * side(axis[2]) * axis

    lateral, outward = outline(disc[:2])
    up = side(height)
    vertical = up * height - (half_a + half_length)
    distance, normal = _combine(lateral - radius, outward, vertical, up)

    # Where one stands on the other, the point is in the middle of what they share, not on the cylinder's mantle.
    shared = (radius + jnp.clip(lateral, -radius, radius)) / 2
    standing = vertical > lateral - radius
    beside = jnp.where(standing, shared, radius)
    level = middle + jnp.where(standing | (vertical > 0), up * vertical / 2, 0.0)
    on_a = jnp.concatenate([disc[:2] - beside * outward, level[None]])
    return touch(distance[None], rotate(b.pose.rotation, normal), b.pose.apply(on_a)[None])


def cylinder_prism(a: Placed, b: Placed) -> Touch:
    """One point of an upright cylinder at an extruded polygon, see `_upright_cylinder`: axes are taken as parallel."""
    return _upright_cylinder(a, b, lambda point: to_polygon(point, b.points[:, :2]), b.size[0])


def cylinder_elliptic(a: Placed, b: Placed) -> Touch:
    """One point of an upright cylinder at an extruded ellipse, see `_upright_cylinder`: axes are taken as parallel."""
    return _upright_cylinder(a, b, lambda point: to_ellipse(point, b.size[:2]), b.size[2])
