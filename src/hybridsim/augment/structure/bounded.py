"""Outputs that never exceed a limit."""

from dataclasses import dataclass

import equinox as eqx
from jax import numpy as jnp

from ...spatial import safe_norm
from ..networks import Architecture
from .interface import Structure, Structured

# Below this square the series is exact to rounding in float64: the first term left out is 62/2835 (1e-4)^4.
_SMALL_SQUARED = 1e-4


@dataclass(frozen=True)
class Bounded(Structure):
    """F = limit tanh(|f|/limit) f/|f| of what the network gives, f: |F| is never above the limit, small f stay as they are.

    |F| is the Euclidean norm of all numbers that the network gives at once. The direction stays, so Bounded(Dissipative(...))
    is dissipative.
    """

    network: Architecture
    limit: float

    law = "bound"
    keeps = frozenset({"power", "parity", "rest", "bound", "frame"})

    def __post_init__(self):
        super().__post_init__()
        if not self.limit > 0:
            raise ValueError(f"Bounded: the limit is {self.limit}, but must be positive")

    def around(self, network, signature, known):
        return Limited(network, signature, known, float(self.limit))


class Limited(Structured):
    limit: float = eqx.field(static=True, default=1.0)

    def __call__(self, x, memory):
        y, memory = self.network(x, memory)
        y = jnp.asarray(y)
        size = safe_norm(y) / self.limit
        return _tanh_over(size, jnp.sum(jnp.square(y / self.limit))) * y, memory


def _tanh_over(a, squared):
    """tanh(a)/a, smooth at zero as a function of a^2."""
    small = squared < _SMALL_SQUARED
    a = jnp.where(small, 1.0, a)
    series = 1 - squared / 3 * (1 - squared * (2 / 5) * (1 - squared * (17 / 42)))
    return jnp.where(small, series, jnp.tanh(a) / a)
