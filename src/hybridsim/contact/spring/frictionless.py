"""No friction."""

import jax.numpy as jnp

from .interface import FrictionLaw


class Frictionless(FrictionLaw):
    """Bodies slide freely. TDS: NONE."""

    def ratio(self, speed, numbers):
        return jnp.zeros_like(speed)
