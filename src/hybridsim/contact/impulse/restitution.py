"""Restitution that never gains energy.

Newton's law, speed after = e times speed before, can give bodies energy where contacts have friction or are several
(Kane's paradox). Stopping without a bounce always takes energy, and both impulses lie in the friction cone. So the impulse is
stopping + s (bouncing - stopping) with the largest s in [0, 1] for which the kinetic energy does not grow.
"""

import jax.numpy as jnp
from jaxtyping import Float

from ...dynamics import row_velocities
from ...spatial import Array
from .assemble import Assembly
from .settle import Settled


def without_gain(assembly: Assembly, settled: Settled) -> Float[Array, " nv"]:
    """The change of velocity, given the solutions of stopping and of bouncing."""
    now, actions = assembly.now, assembly.actions()
    stop, bounce = settled.velocity[0], settled.velocity[1]
    x_stop, x_bounce = (_flat(settled, i) for i in (0, 1))
    more = x_bounce - x_stop
    seen = assembly.row_velocities()
    by_stop = row_velocities(now.mechanism, now.conf, actions, stop)
    by_more = row_velocities(now.mechanism, now.conf, actions, bounce - stop)
    # Work of x is x . (v + A x / 2), and A x is the change of row velocities: a polynomial c + b s + a s^2.
    c = jnp.minimum(jnp.sum(x_stop * (seen + by_stop / 2)), 0.0)
    b = jnp.sum(more * (seen + by_stop))
    a = jnp.sum(more * by_more) / 2
    gains = a + b + c > 0
    root = jnp.sqrt(jnp.where(gains, jnp.maximum(b * b - 4 * a * c, 0.0), 1.0))
    share = jnp.where(gains, (root - b) / jnp.where(gains, 2 * a, 1.0), 1.0)
    return stop + jnp.clip(share, 0.0, 1.0) * (bounce - stop)


def _flat(settled: Settled, goal: int) -> Float[Array, " rows"]:
    return jnp.concatenate([settled.impulse.contacts[goal].ravel(), settled.impulse.bounded[goal]])
