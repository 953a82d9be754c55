"""Layers: matrices, and the fixed numbers that bring inputs and outputs to the size of one.

Input layers know which variable each column belongs to, so that sparsity has its groups wherever the layer is.
"""

from dataclasses import replace
from types import UnionType
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax import lax
from jaxtyping import Float

from ...spatial import Array, pick
from ..signature import Block, Signature


class InputLayer(eqx.Module):
    weight: Float[Array, "units inputs"]
    bias: Float[Array, " units"] | None
    shift: Float[Array, " inputs"]
    scale: Float[Array, " inputs"]
    blocks: tuple[Block, ...] = eqx.field(static=True)

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " units"]:
        # Fixed from data: no training changes them.
        y = self.weight @ ((x - lax.stop_gradient(self.shift)) / lax.stop_gradient(self.scale))
        return y if self.bias is None else y + self.bias

    @property
    def columns(self) -> dict[str, slice]:
        """Of each input's label."""
        return Signature(self.blocks, ()).slices

    def normalised(self, x: Float[np.ndarray, "samples inputs"]) -> "InputLayer":
        spread = x.std(axis=0)
        # What does not vary is left as it is: it tells nothing of how large it may become.
        varies = spread > 1e-9 * np.maximum(1.0, np.abs(x).max(axis=0, initial=0.0))
        return replace(self, shift=np.where(varies, x.mean(axis=0), 0.0), scale=np.where(varies, spread, 1.0))

    def without(self, labels: frozenset[str]) -> "InputLayer":
        kept = tuple(block for block in self.blocks if block.label not in labels)
        places = np.concatenate([np.zeros(0, dtype=int), *(np.r_[self.columns[block.label]] for block in kept)])
        weight = pick(self.weight, places, 1)
        return InputLayer(np.asarray(weight), self.bias, self.shift[places], self.scale[places], kept)


class Layer(eqx.Module):
    weight: Float[Array, "units inputs"]
    bias: Float[Array, " units"] | None

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " units"]:
        y = self.weight @ x
        return y if self.bias is None else y + self.bias


class OutputLayer(eqx.Module):
    weight: Float[Array, "outputs units"]
    bias: Float[Array, " outputs"] | None
    gain: Float[Array, " outputs"]

    def __call__(self, x: Float[Array, " units"]) -> Float[Array, " outputs"]:
        y = self.weight @ x
        return lax.stop_gradient(self.gain) * (y if self.bias is None else y + self.bias)


def layers_of(tree: Any, kind: type | UnionType) -> list:
    """All layers of a kind, wherever in the tree they are."""
    nodes = jax.tree.leaves(tree, is_leaf=lambda node: isinstance(node, kind))
    return [node for node in nodes if isinstance(node, kind)]


def glorot(rng: np.random.Generator, rows: int, columns: int) -> Float[np.ndarray, "rows columns"]:
    """Uniform, with the spread that keeps the size of values from layer to layer."""
    limit = np.sqrt(6 / max(rows + columns, 1))
    return rng.uniform(-limit, limit, (rows, columns))


def input_layer(signature: Signature, units: int, bias: bool, rng: np.random.Generator) -> InputLayer:
    size = signature.input_size
    return InputLayer(
        glorot(rng, units, size), np.zeros(units) if bias else None, np.zeros(size), np.ones(size), signature.inputs
    )


def output_layer(outputs: int, units: int, bias: bool, rng: np.random.Generator, at_zero: bool) -> OutputLayer:
    weight = np.zeros((outputs, units)) if at_zero else glorot(rng, outputs, units)
    return OutputLayer(weight, np.zeros(outputs) if bias else None, np.ones(outputs))
