"""Restitution that never gains energy.

Newton's law, speed after = e times speed before, can give bodies energy where contacts have friction or are several
(Kane's paradox). Stopping without a bounce always takes energy, and both impulses lie in the friction cone. So the impulse is
stopping + s (bouncing - stopping) with the largest s in [0, 1] for which the kinetic energy does not grow.
"""

import jax.numpy as jnp
from jaxtyping import Float

from ...spatial import Array


def without_gain(
    seen: Float[Array, " nv"],
    velocity: tuple[Float[Array, " nv"], Float[Array, " nv"]],
    force: tuple[Float[Array, " nv"], Float[Array, " nv"]],
) -> Float[Array, " nv"]:
    """The change of velocity, given those of stopping and of bouncing and the joint impulses J^T x that cause them."""
    (stop, bounce), (by_stop, by_bounce) = velocity, force
    more, by_more = bounce - stop, by_bounce - by_stop
    # Work of x is J^T x . (v + change / 2): a polynomial c + b s + a s^2.
    c = jnp.minimum(jnp.sum(by_stop * (seen + stop / 2)), 0.0)
    b = jnp.sum(by_more * (seen + stop))
    a = jnp.sum(by_more * more) / 2
    gains = a + b + c > 0
    root = jnp.sqrt(jnp.where(gains, jnp.maximum(b * b - 4 * a * c, 0.0), 1.0))
    share = jnp.where(gains, (root - b) / jnp.where(gains, 2 * a, 1.0), 1.0)
    return stop + jnp.clip(share, 0.0, 1.0) * more
