"""How the Hunt-Crossley spring and its damper grow with depth: at once, or smoothed as in TDS.

TDS takes its factors from Neunert et al. 2018 (Whole-body nonlinear model predictive control through contacts for
quadrupeds), whose argument is the height above the ground, but puts the depth there, so that damping and exponential
spring FALL with depth. Here they rise. Its sharpness of 0.01/m makes each factor 1/2 at any depth of a real
contact; a useful one is the inverse of the depth over which the contact shall build up.
"""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ...model.checks import POSITIVE
from ...spatial import Array, Scalar, positive_power

LARGEST_LOGARITHM = 50.0
"""exp of it is 5e21, more than any contact needs, and a product with it does not overflow in single precision."""


class Onset(eqx.Module):
    """Growth of a contact force with depth."""

    @abstractmethod
    def __call__(
        self, depth: Float[Array, " points"], exponent: Float[Array, " points"]
    ) -> tuple[Float[Array, " points"], Float[Array, " points"]]:
        """What multiplies the stiffness, and what, never negative, multiplies dissipation and speed."""


class HardOnset(Onset):
    """x^n for both, nothing where the bodies are apart: Hunt and Crossley's own. TDS: NONE."""

    def __call__(self, depth, exponent):
        power = positive_power(depth, exponent)
        return power, power


class SigmoidOnset(Onset):
    """Damping times 1/(1 + exp(-sharpness x)): half of it at the touch. TDS: SIGMOID, and TANH, which is the same."""

    sharpness: Scalar
    """[1/m]"""

    def __check_init__(self):
        POSITIVE.check("SigmoidOnset.sharpness", self.sharpness)

    def __call__(self, depth, exponent):
        power = positive_power(depth, exponent)
        return power, power * (0.5 + 0.5 * jnp.tanh(0.5 * self.sharpness * depth))


class RationalOnset(Onset):
    """Damping times 1/2 + y/(1 + |y|)/2, y = sharpness x: half of it at the touch. TDS: ABS."""

    sharpness: Scalar
    """[1/m]"""

    def __check_init__(self):
        POSITIVE.check("RationalOnset.sharpness", self.sharpness)

    def __call__(self, depth, exponent):
        power = positive_power(depth, exponent)
        # No damping where the bodies are apart, so |y| is y.
        y = self.sharpness * jnp.maximum(depth, 0.0)
        return power, power * (0.5 + 0.5 * y / (1 + y))


class ExponentialOnset(Onset):
    """A spring exp(sharpness x) that acts at a distance; damping x^n. TDS: smooth_alpha_normal.

    The stiffness is then the force at the touch [N], whatever the exponent. TDS drops this force where the bodies
    are apart, and so makes it jump at the touch by all of the stiffness.
    """

    sharpness: Scalar
    """[1/m]"""

    def __check_init__(self):
        POSITIVE.check("ExponentialOnset.sharpness", self.sharpness)

    def __call__(self, depth, exponent):
        spring = jnp.exp(jnp.minimum(self.sharpness * depth, LARGEST_LOGARITHM))
        return spring, positive_power(depth, exponent)
