"""A matrix: one number for each pair of an input and an output."""

from dataclasses import dataclass, replace

import numpy as np
from jax import lax
from jaxtyping import Float

from ...spatial import Array
from ..signature import Signature
from .interface import Architecture, Network
from .layers import InputLayer, input_layer


@dataclass(frozen=True)
class Linear(Architecture):
    """y = W x + b, or without b."""

    bias: bool = True

    def build(self, signature: Signature, rng: np.random.Generator, at_zero: bool) -> "Matrix":
        layer = input_layer(signature, signature.output_size, self.bias, rng)
        if at_zero:
            layer = replace(layer, weight=np.zeros_like(layer.weight))
        return Matrix(layer, np.ones(signature.output_size))


class Matrix(Network):
    first: InputLayer
    gain: Float[Array, " outputs"]

    def __call__(self, x, memory):
        return lax.stop_gradient(self.gain) * self.first(x), memory

    def normalised(self, x, gain):
        return Matrix(self.first.normalised(x), gain)

    def without(self, labels):
        return replace(self, first=self.first.without(labels))
