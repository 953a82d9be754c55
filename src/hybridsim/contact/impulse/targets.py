"""The velocity that a closing row is to have after the step, for momentum and for position.

A row has a gap g and closes at speed -v. It touches within the step if g + dt v <= 0, at the fraction tau of the step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Bool, Float

from ...spatial import Array, Scalar
from .problem import NOTHING

# Below about this speed restitution fades away [m/s]: a body at rest would otherwise be at a kink of the law, and a
# bouncing one would bounce infinitely often.
FADING_SPEED = 1e-3
ROUNDING = 16
"""Units in the last place of one metre by which rounding changes the gap of bodies that touch exactly."""


class Closing(eqx.Module):
    """Contact points or joint limits, one row each."""

    gap: Float[Array, "*rows"]
    before: Float[Array, "*rows"]
    """Rate of the gap at the start of the step."""
    free: Float[Array, "*rows"]
    """Rate of the gap without contact."""
    restitution: Float[Array, "*rows"]
    position_gain: Float[Array, "*rows"]
    velocity_gain: Float[Array, "*rows"]

    def near(self, dt: Scalar) -> Bool[Array, "*rows"]:
        return self.gap + dt * jnp.minimum(self.free, 0.0) <= rounding(self.gap.dtype)

    def touches(self, dt: Scalar) -> Bool[Array, "*rows"]:
        """Whether the gap closes within the step, if nothing else acts."""
        return self.gap + dt * self.free <= rounding(self.gap.dtype)


def rounding(dtype) -> float:
    """A gap that is none [m].

    Bodies that fall alike, one resting on the other, are at the kink between touching and apart. Were rounding errors to
    choose a side for each corner by itself, the derivative would be that of neither side.
    """
    return ROUNDING * float(jnp.finfo(dtype).eps)


@dataclass(frozen=True)
class Targets:
    """Of each row: the least rate of its gap, and the part of the free tangential velocity that friction is to leave."""

    wanted: Callable[[Closing, Scalar], tuple[Float[Array, "*rows"], Float[Array, "*rows"]]]
    keeps_apart: bool = True
    """Whether no gap may close in the step, also one that would be open if nothing else acted."""

    def __call__(self, closing: Closing, dt: Scalar) -> tuple[Float[Array, "*rows"], Float[Array, "*rows"]]:
        return self.wanted(closing, dt)


@Targets
def of_momentum(closing: Closing, dt: Scalar):
    """What touches within the step stops approaching, or bounces; what others push may close its gap."""
    stopped, left = of_stopping(closing, dt)
    return stopped + bounces(closing, dt), left


@Targets
def of_stopping(closing: Closing, dt: Scalar):
    """The same without any bounce."""
    stopped = (1 - closing.velocity_gain) * closing.free
    return jnp.where(closing.touches(dt), stopped, -closing.gap / dt), jnp.zeros_like(closing.gap)


def bounces(closing: Closing, dt: Scalar) -> Float[Array, "*rows"]:
    """Speed with which what touches within the step leaves."""
    return jnp.where(closing.touches(dt), _bounce(closing, _impact(closing, dt)), 0.0)


@Targets
def of_position(closing: Closing, dt: Scalar):
    """The step ends where shapes touch, or where a bounce at the time of impact leads; overlap is taken back."""
    gap, tau = closing.gap, _impact(closing, dt)
    closed = jnp.where(gap >= 0, -gap, -closing.position_gain * gap) / dt
    # Overlap means that the impact is past, so the whole step is left to the bounce. Friction, too, begins with the
    # impact; but at rest there is none, and every corner of a box would have its own tau.
    impact = jnp.where(tau > 0, tau * _fast(jnp.maximum(-closing.before, 0.0)), 0.0)
    return closed + (1 - jnp.maximum(tau, 0.0)) * _bounce(closing, tau), impact


@partial(Targets, keeps_apart=False)
def baumgarte(closing: Closing, dt: Scalar):
    """What overlaps gets a velocity that takes a part of the overlap back, as in TDS."""
    target = (1 - closing.velocity_gain - closing.restitution) * closing.free - closing.position_gain * closing.gap / dt
    return jnp.where(closing.gap < 0, target, NOTHING), jnp.zeros_like(closing.gap)


def _impact(closing: Closing, dt: Scalar) -> Float[Array, "*rows"]:
    """tau: the fraction of the step before the impact; negative for an impact that is past, 1 for none."""
    gap, free = closing.gap, closing.free
    # A speed that is denormal, as friction may leave it, is none: it would give 0/0.
    approach = -dt * free
    approaching = approach > jnp.finfo(approach.dtype).tiny
    fraction = jnp.where(approaching, gap / jnp.where(approaching, approach, 1.0), 0.0)
    return jnp.where(closing.touches(dt), jnp.clip(fraction, -1.0, 1.0), 1.0)


def _bounce(closing: Closing, tau: Float[Array, "*rows"]) -> Float[Array, "*rows"]:
    """Speed after a bounce: forces act before the impact and, on the rebound, after it.

    All of it fades at rest, also what forces do: bodies that rest on each other fall alike, so that the sign of the
    difference is rounding error.
    """
    tau = jnp.maximum(tau, 0.0)
    by_forces = closing.free - closing.before
    speed = jnp.maximum(-closing.before - tau * by_forces, 0.0)
    return _fast(speed) * jnp.maximum(closing.restitution * speed + (1 - tau) * by_forces, 0.0)


def _fast(speed: Float[Array, "*rows"]) -> Float[Array, "*rows"]:
    """From 0 at rest to 1."""
    return speed * speed / (speed * speed + FADING_SPEED**2)
