"""Coulomb's law, with the jump at rest made a steep slope."""

import jax.numpy as jnp

from .interface import FrictionLaw


class Coulomb(FrictionLaw):
    """mu tanh(speed / transition_speed): 76% of mu at the transition speed, 99.5% at three times it.

    TDS has mu sign(speed), which no derivative survives; tanh is what the friction of our joints uses too.
    """

    def ratio(self, speed, numbers):
        return numbers.friction * jnp.tanh(speed / numbers.transition_speed)
