"""What JAX's tracing of a function gives: a jaxpr, and how to make the result from arrays."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np
from jax.core import Tracer, eval_jaxpr
from jax.extend import core as jcore

from .arguments import is_key, refuse_masks


@dataclass(frozen=True)
class Result:
    """The structure of a result: arrays are computed; all other leaves are static and given as they are."""

    tree: Any
    leaves: tuple
    """Static leaves; None where an array belongs."""
    places: tuple[int, ...]
    """Where arrays belong."""
    keys: tuple
    """Of each array None, or the kind of random keys of which it is the data; empty where there are no keys."""

    @cached_property
    def _is_plain(self) -> bool:
        """Whether all leaves are arrays, in their order."""
        return self.places == tuple(range(len(self.leaves)))

    def of(self, arrays: list) -> Any:
        """The result with these arrays."""
        if self.keys:
            arrays = [
                x if kind is None else jax.random.wrap_key_data(x, impl=kind)
                for x, kind in zip(arrays, self.keys, strict=True)
            ]
        if self._is_plain:
            return self.tree.unflatten(arrays)
        leaves = list(self.leaves)
        for i, array in zip(self.places, arrays, strict=True):
            leaves[i] = array
        return self.tree.unflatten(leaves)

    def arrays_of(self, result: Any) -> list:
        """The arrays of a result that someone gives; its structure must be this."""
        leaves, tree = jax.tree.flatten(result)
        if any(isinstance(leaf, np.ma.MaskedArray) for leaf in leaves):
            refuse_masks(result, lambda path: f"out{jax.tree_util.keystr(path)}")
        if tree != self.tree:
            raise ValueError(f"out has the structure {tree}, but the function returns {self.tree}")
        return [leaves[i] for i in self.places]


@dataclass(frozen=True)
class Traced:
    closed: jcore.ClosedJaxpr
    result: Result
    captured: tuple
    """Tracers of JAX that the function has from outside; they are the first inputs of the jaxpr."""
    seconds: float
    """Of tracing."""


def trace(f: Callable, specs: list[jax.ShapeDtypeStruct]) -> Traced:
    """f, a function of arrays of these shapes and types."""
    started = time.perf_counter()
    found: list[Result] = []

    def flat(*arrays):
        leaves, tree = jax.tree.flatten(f(*arrays))
        places = tuple(i for i, leaf in enumerate(leaves) if isinstance(leaf, (jax.Array, np.ndarray, np.generic)))
        arrays = [leaves[i] for i in places]
        keys = tuple(jax.random.key_impl(x) if is_key(x) else None for x in arrays)
        found.append(
            Result(
                tree,
                tuple(None if i in places else leaf for i, leaf in enumerate(leaves)),
                places,
                keys if any(keys) else (),
            )
        )
        return [x if kind is None else jax.random.key_data(x) for x, kind in zip(arrays, keys, strict=True)]

    closed = jax.make_jaxpr(flat)(*specs)
    captured = tuple(c for c in closed.consts if isinstance(c, Tracer))
    if captured:
        closed = _with_inputs_first(closed, captured)
    return Traced(closed, found[-1], captured, time.perf_counter() - started)


def _with_inputs_first(closed: jcore.ClosedJaxpr, captured: tuple) -> jcore.ClosedJaxpr:
    """The jaxpr with some of its constants as inputs."""
    is_captured = [any(c is x for x in captured) for c in closed.consts]

    def call(*inputs):
        tracers, arguments = iter(inputs[: len(captured)]), inputs[len(captured) :]
        consts = [next(tracers) if is_input else c for c, is_input in zip(closed.consts, is_captured, strict=True)]
        return eval_jaxpr(closed.jaxpr, consts, *arguments)

    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in map(jax.typeof, captured)]
    inputs = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in closed.in_avals]
    return jax.make_jaxpr(call)(*specs, *inputs)
