"""Friction that falls from static to sliding with speed (Stribeck's curve).

S. Andersson, A. Soderberg, S. Bjorklund, Friction models for sliding dry, boundary and mixed lubricated contacts,
Tribology International 40 (2007).
"""

import jax.numpy as jnp

from ...model.checks import AT_LEAST_ONE, POSITIVE
from ...spatial import Scalar, positive_power
from .interface import FrictionLaw

# Times vs: from there on the static part is below 1e-43 for p >= 1/2. Without a bound its power would overflow, and
# the derivative with respect to p become infinity times zero.
FASTEST = 1e4


class Andersson(FrictionLaw):
    """(mu + (mu_s - mu) exp(-(speed/vs)^p)) tanh(ktanh speed); its numbers are its own, not of the pairs."""

    vs: Scalar = 1.0
    """Speed at which 1/e of the static part is left [m/s]."""
    p: Scalar = 1.0
    """How abruptly it is lost, at least 1."""
    ktanh: Scalar = 1.0
    """Slope at rest for a static coefficient of one [s/m]. TDS's value lets bodies creep at about 1 m/s."""

    def __check_init__(self):
        POSITIVE.check("Andersson.vs", self.vs)
        AT_LEAST_ONE.check("Andersson.p", self.p)
        POSITIVE.check("Andersson.ktanh", self.ktanh)

    def ratio(self, speed, numbers):
        static = jnp.exp(-positive_power(jnp.minimum(speed / self.vs, FASTEST), self.p))
        level = numbers.friction + (numbers.static_friction - numbers.friction) * static
        return level * jnp.tanh(self.ktanh * speed)
