"""The multi-layer perceptron."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import equinox as eqx
import numpy as np

from ..signature import Signature
from .activations import ACTIVATIONS, check_activation
from .interface import Architecture, Network
from .layers import InputLayer, Layer, OutputLayer, glorot, input_layer, output_layer


@dataclass(frozen=True)
class MLP(Architecture):
    """Hidden layers of the given widths."""

    hidden: tuple[int, ...] = (16, 16)
    activation: str = "elu"
    bias: bool = True

    def __post_init__(self):
        if not isinstance(self.hidden, Sequence):
            raise ValueError(f"MLP: hidden is {self.hidden!r}; give a width for each layer: (16, 16)")
        object.__setattr__(self, "hidden", tuple(self.hidden))
        check_activation(self.activation)
        if not self.hidden or not all(isinstance(x, int | np.integer) and x >= 1 for x in self.hidden):
            raise ValueError(
                f"MLP: hidden widths must be 1 or more, and whole, not {self.hidden}; hs.Linear() has none"
            )

    def build(self, signature: Signature, rng: np.random.Generator, at_zero: bool) -> "Perceptron":
        return Perceptron(
            first=input_layer(signature, self.hidden[0], self.bias, rng),
            middle=tuple(
                Layer(glorot(rng, m, n), np.zeros(m) if self.bias else None) for n, m in pairwise(self.hidden)
            ),
            last=output_layer(signature.output_size, self.hidden[-1], self.bias, rng, at_zero),
            activation=self.activation,
        )


class Perceptron(Network):
    first: InputLayer
    middle: tuple[Layer, ...]
    last: OutputLayer
    activation: str = eqx.field(static=True)

    def __call__(self, x, memory):
        active = ACTIVATIONS[self.activation]
        x = active(self.first(x))
        for layer in self.middle:
            x = active(layer(x))
        return self.last(x), memory

    def normalised(self, x, gain):
        return replace(self, first=self.first.normalised(x), last=replace(self.last, gain=gain))

    def without(self, labels):
        return replace(self, first=self.first.without(labels))
