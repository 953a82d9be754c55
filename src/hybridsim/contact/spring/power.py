"""Real powers that stay finite, in value and derivative, where the base is zero."""

import jax.numpy as jnp
from jaxtyping import Float

from ...spatial import Array, Scalar


def positive_power(base: Float[Array, "*n"], exponent: Float[Array, "*#n"] | Scalar) -> Float[Array, "*n"]:
    """base^exponent where base is positive, else zero, and so are all derivatives.

    The base is selected before the power is taken (see spatial/numerics.py): derivatives hold its logarithm. Bases
    below the smallest normal number count as zero, because some processors round them to it.
    """
    base = jnp.asarray(base)
    positive = base > jnp.finfo(base.dtype).tiny
    return jnp.where(positive, jnp.where(positive, base, 1.0) ** exponent, 0.0)
