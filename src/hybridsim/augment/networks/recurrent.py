"""Networks with a memory of their own: it becomes part of the state."""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ...spatial import Array
from ..signature import Signature
from .interface import Architecture, Network
from .layers import InputLayer, OutputLayer, glorot, input_layer, output_layer


def _check(name: str, units: int) -> None:
    if not isinstance(units, int | np.integer) or units < 1:
        raise ValueError(f"{name}: units must be 1 or more, and whole, not {units}")


@dataclass(frozen=True)
class GRU(Architecture):
    """Gated recurrent unit (Cho et al. 2014), and a linear layer after it."""

    units: int = 8

    def __post_init__(self):
        _check("GRU", self.units)

    def build(self, signature: Signature, rng: np.random.Generator, at_zero: bool) -> "GatedUnit":
        return GatedUnit(
            first=input_layer(signature, 3 * self.units, True, rng),
            recurrent=glorot(rng, 3 * self.units, self.units),
            bias=np.zeros(self.units),
            last=output_layer(signature.output_size, self.units, True, rng, at_zero),
        )


class GatedUnit(Network):
    first: InputLayer
    recurrent: Float[Array, "gates units"]
    bias: Float[Array, " units"]
    """Of the candidate, inside the reset gate."""
    last: OutputLayer

    def __call__(self, x, memory):
        of_input, of_past = jnp.split(self.first(x), 3), jnp.split(self.recurrent @ memory, 3)
        reset = jax.nn.sigmoid(of_input[0] + of_past[0])
        keep = jax.nn.sigmoid(of_input[1] + of_past[1])
        candidate = jnp.tanh(of_input[2] + reset * (of_past[2] + self.bias))
        memory = candidate + keep * (memory - candidate)
        return self.last(memory), memory

    def memory(self, dtype):
        return jnp.zeros(self.bias.shape, dtype=dtype)

    def normalised(self, x, gain):
        return replace(self, first=self.first.normalised(x), last=replace(self.last, gain=gain))

    def without(self, labels):
        return replace(self, first=self.first.without(labels))


@dataclass(frozen=True)
class LSTM(Architecture):
    """Long short-term memory (Hochreiter and Schmidhuber 1997, with forget gate), and a linear layer after it."""

    units: int = 8

    def __post_init__(self):
        _check("LSTM", self.units)

    def build(self, signature: Signature, rng: np.random.Generator, at_zero: bool) -> "LongShortTerm":
        first = input_layer(signature, 4 * self.units, True, rng)
        # A forget gate that starts open lets gradients reach far into the past.
        open_gate = np.concatenate([np.zeros(self.units), np.ones(self.units), np.zeros(2 * self.units)])
        return LongShortTerm(
            first=replace(first, bias=open_gate),
            recurrent=glorot(rng, 4 * self.units, self.units),
            last=output_layer(signature.output_size, self.units, True, rng, at_zero),
        )


class LongShortTerm(Network):
    first: InputLayer
    recurrent: Float[Array, "gates units"]
    last: OutputLayer

    def __call__(self, x, memory):
        hidden, cell = memory
        write, keep, candidate, read = jnp.split(self.first(x) + self.recurrent @ hidden, 4)
        cell = jax.nn.sigmoid(keep) * cell + jax.nn.sigmoid(write) * jnp.tanh(candidate)
        hidden = jax.nn.sigmoid(read) * jnp.tanh(cell)
        return self.last(hidden), (hidden, cell)

    def memory(self, dtype):
        zeros = jnp.zeros(self.recurrent.shape[1], dtype=dtype)
        return zeros, zeros

    def normalised(self, x, gain):
        return replace(self, first=self.first.normalised(x), last=replace(self.last, gain=gain))

    def without(self, labels):
        return replace(self, first=self.first.without(labels))
