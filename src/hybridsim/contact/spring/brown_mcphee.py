"""A smooth friction law with static and sliding level; the papers' choice.

P. Brown, J. McPhee, A continuous velocity-based friction model for dynamics and control with physically meaningful
parameters, J. Computational and Nonlinear Dynamics 11 (2016), without its viscous part.
"""

import jax.numpy as jnp

from ...model.checks import NOT_NEGATIVE
from ...spatial import Scalar
from .interface import FrictionLaw


class BrownMcPhee(FrictionLaw):
    """mu tanh(4 s + offset) + (mu_s - mu) s/(s^2/4 + 3/4)^2, s = speed/transition_speed: close to mu_s at s = 1."""

    offset: Scalar = 0.0
    """TDS has 1e-3, to keep its derivative away from rest. The force then jumps at rest by mu tanh(offset) times the
    load, so that its derivative there is huge: use it only to compare with TDS."""

    def __check_init__(self):
        NOT_NEGATIVE.check("BrownMcPhee.offset", self.offset)

    def ratio(self, speed, numbers):
        s = speed / numbers.transition_speed
        width = s * s / 4 + 0.75
        excess = numbers.static_friction - numbers.friction
        # Divided twice, because the square of the width overflows first.
        return numbers.friction * jnp.tanh(4 * s + self.offset) + excess * (s / width / width)
