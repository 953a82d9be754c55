"""Points of a flat patch against other shapes: each one is a sphere without a radius."""

import equinox as eqx
import jax
import jax.numpy as jnp

from ...spatial import Transform
from .interface import Pair, Placed, Touch


def patch_with(sphere_with: Pair, patch_first: bool) -> Pair:
    """The touch of every point of a patch with a shape, from that of a sphere with it.

    `patch_first` says whether the patch is shape a; the sphere always is.
    """

    def patch(a: Placed, b: Placed) -> Touch:
        points, other = (a, b) if patch_first else (b, a)

        def one(position) -> Touch:
            point = Placed(Transform(points.pose.rotation, position), jnp.zeros_like(points.size), points.points)
            return sphere_with(point, other)

        touch = jax.vmap(one)(points.pose.apply(points.points))
        touch = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), touch)
        return touch if patch_first else _reversed(touch)

    return patch


def _reversed(touch: Touch) -> Touch:
    normal_and_witnesses = (-touch.normal, touch.on_b, touch.on_a)
    return eqx.tree_at(lambda t: (t.normal, t.on_a, t.on_b), touch, normal_and_witnesses)
