"""Functions that stay right, in value and derivative, where the textbook formula is 0/0.

Each one selects its argument before dividing ("double where"), because JAX differentiates both
branches of a selection and a NaN in the branch not taken would poison the derivative.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Float

from .keep import keep
from .types import Array, Scalar

# Below this squared angle the series to third order is exact to rounding in float64: the first term
# left out is of order (1e-4)^4 = 1e-16 relative to 1.
SMALL_SQUARED = 1e-4


def safe_norm(x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
    """Euclidean norm over the last axis; its derivative at zero is zero."""
    squared = jnp.sum(x * x, axis=-1)
    positive = squared > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, squared, 1.0)), 0.0)


def unit(x: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
    """x divided by its norm. The zero vector stays zero."""
    squared = jnp.sum(x * x, axis=-1, keepdims=True)
    positive = squared > 0
    return x / jnp.sqrt(jnp.where(positive, squared, 1.0))


def sin_over(angle_squared: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """sin(a)/a as a function of a^2."""
    x = angle_squared
    small = x < SMALL_SQUARED
    a = jnp.sqrt(jnp.where(small, 1.0, x))
    series = 1 - x / 6 * (1 - x / 20 * (1 - x / 42))
    return jnp.where(small, series, jnp.sin(a) / a)


def cos_of(angle_squared: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """cos(a) as a function of a^2, smooth at zero."""
    x = angle_squared
    small = x < SMALL_SQUARED
    a = jnp.sqrt(jnp.where(small, 1.0, x))
    series = 1 - x / 2 * (1 - x / 12 * (1 - x / 30))
    return jnp.where(small, series, jnp.cos(a))


def tanh_over(squared: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """tanh(a)/a as a function of a^2."""
    x = squared
    small = x < SMALL_SQUARED
    a = jnp.sqrt(jnp.where(small, 1.0, x))
    series = 1 - x / 3 * (1 - x * (2 / 5) * (1 - x * (17 / 42)))
    return jnp.where(small, series, jnp.tanh(a) / a)


def positive_power(base: Float[Array, "*n"], exponent: Float[Array, "*#n"] | Scalar) -> Float[Array, "*n"]:
    """base^exponent where base is positive, else zero, and so are all derivatives, which hold the base's logarithm.

    Bases below the smallest normal number count as zero, because some processors round them to it.
    """
    base = jnp.asarray(base)
    positive = base > jnp.finfo(base.dtype).tiny
    return jnp.where(positive, jnp.where(positive, base, 1.0) ** exponent, 0.0)


def angle_over_sine(sine: Float[Array, "*batch"], cosine: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """a/sin(a) for a = atan2(sine, cosine) with sine >= 0 and sine^2 + cosine^2 = 1; finite at a = 0.

    At a = pi the value has a pole, as the axis of a half turn is not unique; callers keep a <= pi/2.
    """
    squared = sine * sine
    small = (squared < SMALL_SQUARED) & (cosine > 0)
    s = jnp.where(small, 1.0, sine)
    c = jnp.where(small, 0.0, cosine)
    # asin(s)/s
    series = 1 + squared / 6 * (1 + squared * (9 / 20) * (1 + squared * (25 / 42)))
    return jnp.where(small, series, jnp.arctan2(s, c) / s)


@jax.custom_jvp
def sin_cos(angle):
    """Sine and cosine, each the derivative of the other: a gradient computes neither again."""
    return jnp.sin(angle), jnp.cos(angle)


@sin_cos.defjvp
def _sin_cos_jvp(primals, tangents):
    s, c = keep(sin_cos(*primals))
    return (s, c), (c * tangents[0], -s * tangents[0])
