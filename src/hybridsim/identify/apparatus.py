"""What stands between a mechanism and its log: sensors that are off, commands that come late."""

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ..model import Model
from ..spatial import Array


class Apparatus(eqx.Module):
    """Numbers of the measurement, not of the mechanism. The defaults are those of a perfect one."""

    position_gain: Float[Array, " nq"]
    """A sensor shows gain * q + bias."""
    position_bias: Float[Array, " nq"]
    control_gain: Float[Array, " nc"]
    """A joint gets gain * u + bias of what the log says."""
    control_bias: Float[Array, " nc"]
    delay: Float[Array, ""]
    """How much later the mechanism gets the logged control [s]."""
    clock: Float[Array, ""]
    """Seconds that pass while the log counts one."""


class Setup(eqx.Module):
    """All that an experiment is made of: whatever is identified is a number in here."""

    model: Model
    apparatus: Apparatus


def perfect(model: Model, controls: int) -> Apparatus:
    """An apparatus that shows what is there, at once."""
    q, u = np.ones(model.nq), np.ones(controls)
    return Apparatus(q, 0 * q, u, 0 * u, np.zeros(()), np.ones(()))
