"""The spring whose damping grows with depth, so that the force starts and ends at zero.

K. H. Hunt and F. R. E. Crossley, Coefficient of restitution interpreted as damping in vibroimpact, J. Applied
Mechanics 42 (1975): F = k x^n + d x^n xd. A slow impact at speed v restitutes 1 - (2/3)(d/k) v of it.
"""

import equinox as eqx
import jax.numpy as jnp

from ...model.checks import POSITIVE, check_kind
from ...spatial import Scalar, positive_power
from .interface import NormalLaw
from .onset import HardOnset, Onset


class HuntCrossley(NormalLaw):
    """k x^n + d x^n xd where the depth x is positive."""

    onset: Onset = HardOnset()
    """How spring and damper grow with depth."""
    adhesion: bool = eqx.field(static=True, default=False)
    """Whether bodies that separate faster than k/d hold each other back, as the bare formula and TDS have it.
    Otherwise the force is never below zero."""
    separation_exponent: Scalar | None = None
    """Power of the speed in the damping of bodies that separate; None for 1. TDS (exponent_vel_air) has 1/20, whose
    slope is infinite at speed zero: the damping of any rebound is then close to d x^n, whatever its speed."""

    def __check_init__(self):
        onsets = "HardOnset(), SigmoidOnset(sharpness), RationalOnset(sharpness) or ExponentialOnset(sharpness)"
        check_kind("HuntCrossley.onset", self.onset, Onset, f"one of hybridsim.contact.spring: {onsets}")
        if self.separation_exponent is not None:
            POSITIVE.check("HuntCrossley.separation_exponent", self.separation_exponent)

    def __call__(self, depth, speed, numbers):
        spring, damper = self.onset(depth, numbers.exponent)
        force = numbers.stiffness * spring + numbers.dissipation * damper * self._damping_speed(speed)
        return force if self.adhesion else jnp.maximum(force, 0.0)

    def _damping_speed(self, speed):
        if self.separation_exponent is None:
            return speed
        return jnp.maximum(speed, 0.0) - positive_power(-speed, self.separation_exponent)
