"""What all pairs share: the result from its parts, and the direction between two points that may coincide."""

import jax.numpy as jnp
from jaxtyping import Bool, Float

from ...spatial import Array, Vector3
from .interface import Touch

# Points nearer than 1e-10 m count as one: the direction between them would be rounding error. Third powers of the
# distance, as derivatives have them, are still far from underflow in float32.
COINCIDENT_SQUARED = 1e-20


def touch(distance: Float[Array, " points"], normal: Vector3, on_a: Float[Array, "points 3"]) -> Touch:
    """A touch from the witnesses on a; those on b follow. One normal may serve all points."""
    return Touch(distance, jnp.broadcast_to(normal, on_a.shape), on_a, on_a - distance[..., None] * normal)


def apart(between: Float[Array, "*batch n"]) -> Bool[Array, "*batch"]:
    """Whether the ends of a vector are different points."""
    return jnp.sum(between * between, axis=-1) > COINCIDENT_SQUARED


def length_and_direction(
    between: Float[Array, "*batch n"], otherwise: Float[Array, "*#batch n"]
) -> tuple[Float[Array, "*batch"], Float[Array, "*batch n"]]:
    """Of a vector between two points; the direction is `otherwise`, of unit length, where the points coincide.

    The length is taken along the direction, so that its derivative is the approaching speed there too.
    """
    chosen = jnp.where(apart(between)[..., None], between, otherwise)
    direction = chosen / jnp.sqrt(jnp.sum(chosen * chosen, axis=-1, keepdims=True))
    return jnp.sum(direction * between, axis=-1), direction
