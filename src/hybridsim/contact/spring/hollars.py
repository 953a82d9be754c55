"""Friction of Hollars: a straight line up to the static level, then a fall to the sliding level.

M. Sherman, A. Seth, S. Delp, Simbody: multibody dynamics for biomedical research, Procedia IUTAM 2 (2011);
HuntCrossleyForce of Simbody, without its viscous part.
"""

import jax.numpy as jnp

from .interface import FrictionLaw


class Hollars(FrictionLaw):
    """min(s, 1) (mu + 2 (mu_s - mu)/(1 + s^2)), s = speed/transition_speed: mu_s at s = 1, where it has a kink."""

    def ratio(self, speed, numbers):
        s = speed / numbers.transition_speed
        excess = numbers.static_friction - numbers.friction
        return jnp.minimum(s, 1.0) * (numbers.friction + 2 * excess / (1 + s * s))
