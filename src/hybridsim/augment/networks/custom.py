"""Any module of the user's own."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax import lax
from jaxtyping import Float

from ...spatial import Array
from ..signature import Signature
from .interface import Architecture, Network


@dataclass(frozen=True, eq=False)
class Custom(Architecture):
    """`module(x)` gives the outputs, one vector for one. With a method `memory()` it is `module(x, memory)`, which gives
    outputs and memory. Instead of a module a function of the sizes and a seed may be given that makes one."""

    module: Callable
    """An Equinox module, or `make(inputs, outputs, seed)`."""
    name: str = "custom"
    """By which `load_hybrid` is told how to make it again."""

    starts_at_zero = False

    def build(self, signature: Signature, rng: np.random.Generator, at_zero: bool) -> "Own":
        sizes = signature.input_size, signature.output_size
        module = self.module
        if not isinstance(module, eqx.Module):
            module = module(*sizes, int(rng.integers(2**31)))
        own = Own(module, np.zeros(sizes[0]), np.ones(sizes[0]), np.ones(sizes[1]))
        self._check_sizes(own, sizes)
        return own

    def _check_sizes(self, own: "Own", sizes: tuple[int, int]) -> None:
        try:
            # The module alone: a gain would stretch what is too short.
            out = jax.eval_shape(lambda x: own.answer(x, own.memory(x.dtype))[0], np.zeros(sizes[0]))
        except Exception as problem:
            raise ValueError(
                f"the network {self.name!r} cannot be called with a vector of {sizes[0]} numbers: {problem}"
            ) from problem
        if out.shape != (sizes[1],):
            raise ValueError(
                f"the network {self.name!r} gives shape {out.shape}, but {sizes[1]} numbers are needed: ({sizes[1]},)"
            )


class Own(Network):
    module: Any
    shift: Float[Array, " inputs"]
    scale: Float[Array, " inputs"]
    gain: Float[Array, " outputs"]

    def __call__(self, x, memory):
        x = (x - lax.stop_gradient(self.shift)) / lax.stop_gradient(self.scale)
        y, memory = self.answer(x, memory)
        return lax.stop_gradient(self.gain) * y, memory

    def answer(self, x: Float[Array, " inputs"], memory: Any) -> tuple[Any, Any]:
        return (self.module(x), None) if memory is None else self.module(x, memory)

    def memory(self, dtype):
        if not hasattr(self.module, "memory"):
            return None
        return jax.tree.map(lambda leaf: jax.numpy.asarray(leaf, dtype=dtype), self.module.memory())

    def normalised(self, x, gain):
        spread = x.std(axis=0)
        return replace(self, shift=x.mean(axis=0), scale=np.where(spread > 0, spread, 1.0), gain=gain)

    def without(self, labels):
        raise ValueError("inputs of a network of one's own cannot be pruned: only its author knows its first layer")
