"""Every convex shape in one form: the hull of corners, widened by an ellipsoid and by a ball (a Minkowski sum).

A box is eight corners; a sphere one corner and a ball; a capsule two corners and a ball; a cylinder two corners and a
disc, which is an ellipsoid with hardly any height. What is furthest in a direction is the furthest corner and the
furthest point of the ellipsoid and of the ball, so that is all that a search has to know.
"""

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float, Int

from ...spatial import Array, Scalar, Transform, Vector3, rotate, rotate_back
from .interface import Placed
from .plane import CORNERS, DOME, ENDS


class Convex(eqx.Module):
    """A convex shape somewhere in the world."""

    pose: Transform
    corners: Float[Array, "n 3"]
    """In the shape's frame [m]."""
    half_axes: Vector3 | None
    """Of the ellipsoid, along the axes of the shape's frame, all positive [m]; None where there is no ellipsoid."""
    radius: Scalar
    """Of the ball [m]."""

    @property
    def size(self) -> Float[Array, ""]:
        """Roughly half the shape's extent [m]."""
        reach = jnp.max(jnp.abs(self.corners)) + self.radius
        return reach if self.half_axes is None else reach + jnp.max(self.half_axes)

    def corner(self, index: Int[Array, ""]) -> Vector3:
        """A corner in the world."""
        return self.pose.apply(lax.dynamic_index_in_dim(self.corners, index, keepdims=False))

    def furthest(self, direction: Vector3) -> tuple[Vector3, Int[Array, ""]]:
        """The furthest point in a direction, ball left out, and the index of its corner."""
        local = rotate_back(self.pose.rotation, direction)
        index = jnp.argmax(self.corners @ local).astype(jnp.int32)
        return self.corner(index) + self.bulge(direction), index

    def bulge(self, direction: Vector3) -> Vector3:
        """The point of the ellipsoid furthest in a direction, from its centre; zero where there is no ellipsoid."""
        if self.half_axes is None:
            return jnp.zeros_like(direction)
        scaled = self.half_axes * rotate_back(self.pose.rotation, direction)
        return rotate(self.pose.rotation, self.half_axes * scaled / jnp.sqrt(jnp.sum(scaled * scaled)))

    def bending(self, direction: Vector3) -> Float[Array, "3 3"]:
        """How the furthest point of the ellipsoid moves as a unit direction turns: its radii of curvature [m]."""
        if self.half_axes is None:
            return jnp.zeros((3, 3), dtype=direction.dtype)
        axes = self.pose.rotation * self.half_axes
        length = jnp.sqrt(jnp.sum((direction @ axes) ** 2))
        point = axes @ (direction @ axes) / length
        return (axes @ axes.T - point[:, None] * point) / length


def convex(kind: str, a: Placed) -> Convex:
    """A placed shape of some kind in this form.

    The ends of cylinders and extruded ellipses are domes that touch the true ends from inside, see `plane.py`: what is
    furthest is then a smooth function of the direction.
    """
    size, zero = a.size, jnp.zeros((), dtype=a.size.dtype)
    ends = ENDS.astype(size.dtype)
    if kind == "sphere":
        return Convex(a.pose, jnp.zeros((1, 3), dtype=size.dtype), None, size[0])
    if kind == "capsule":
        return Convex(a.pose, ends * size[1], None, size[0])
    if kind == "ellipsoid":
        return Convex(a.pose, jnp.zeros((1, 3), dtype=size.dtype), size, zero)
    if kind in EXTRUDED:
        radii, half_length = extruded_sizes(kind, a)
        dome = DOME * jnp.minimum(radii[0], radii[1])
        axes = jnp.stack([radii[0], radii[1], dome])
        return Convex(a.pose, ends * jnp.maximum(half_length - dome, 0.0), axes, zero)
    if kind == "box":
        return Convex(a.pose, CORNERS.astype(size.dtype) * size, None, zero)
    if kind == "prism":
        return Convex(a.pose, (a.points + size[0] * ends[:, None]).reshape(-1, 3), None, zero)
    return Convex(a.pose, a.points, None, zero)


EXTRUDED = ("cylinder", "elliptic")
"""Kinds with an ellipse for an outline."""


def extruded_sizes(kind: str, a: Placed) -> tuple[Float[Array, "2"], Scalar]:
    """Half axes of the outline, and half the length."""
    if kind == "cylinder":
        return jnp.stack([a.size[0], a.size[0]]), a.size[1]
    return a.size[:2], a.size[2]
