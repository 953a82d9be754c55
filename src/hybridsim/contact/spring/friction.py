"""From a friction law, which knows magnitudes, to the force vector."""

import jax.numpy as jnp
from jaxtyping import Float

from ...spatial import Array
from .interface import FrictionLaw, PairNumbers


def friction_force(
    law: FrictionLaw,
    load: Float[Array, " points"],
    velocity: Float[Array, "points 3"],
    numbers: PairNumbers,
) -> Float[Array, "points 3"]:
    """Against the tangential velocity [N]: -load ratio(|v|) v/|v|; at rest zero, with derivative -load ratio'(0).

    ratio(|v|)/|v| is taken at no less than a speed at which every law is still a straight line to rounding, so that
    it is ratio'(0) at rest; times v this is exact, in value and derivative, with nothing to divide by zero.
    """
    velocity = jnp.asarray(velocity)
    # 3e-24 m/s in double, 4e-11 m/s in single precision: far below any transition speed, and yet its inverse cube,
    # which second derivatives need, does not overflow.
    slowest_squared = float(jnp.finfo(velocity.dtype).eps) ** 3
    speed = jnp.sqrt(jnp.maximum(jnp.sum(velocity * velocity, axis=-1), slowest_squared))
    secant = law.ratio(speed, numbers) / speed
    return -(load * secant)[..., None] * velocity
