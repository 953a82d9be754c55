"""Outputs that never exceed a limit."""

from dataclasses import dataclass

import equinox as eqx
from jax import numpy as jnp

from ...spatial import tanh_over
from ..networks import Architecture
from .interface import Structure, Structured


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
        return tanh_over(jnp.sum(jnp.square(y / self.limit))) * y, memory
