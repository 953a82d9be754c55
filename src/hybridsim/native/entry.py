"""What is known of a function for arguments of certain shapes and types; code is made when it is needed."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .function import Function
from .primitive import UNSUPPORTED, native, warn_of_fallback
from .traced import Result


class Entry:
    """A function of flat arrays and how its results make a pytree: the same for direct calls and for calls inside of JAX."""

    def __init__(self, function: Function, result: Result, captured: tuple):
        self.function, self.result, self.captured = function, result, captured

    def inside(self, arrays: list, out, rows: int | None = None, shared: tuple[bool, ...] = ()) -> Any:
        """The result as a part of the program that JAX is tracing."""
        if out is not None:
            raise ValueError("out cannot be given inside of JAX's transformations, where arrays have no place yet")
        if rows is not None:
            shared = (True,) * len(self.captured) + shared
        inputs = [*self.captured, *map(jnp.asarray, arrays)]
        return self.result.of(native.bind(*inputs, function=self.function, rows=rows, shared=shared))

    def native_or_xla(self, make: Callable[[], Callable], call: Callable) -> Callable:
        """Native code, a function of a list of arrays and perhaps of arrays to be written; else `call` by XLA."""
        try:
            return make()
        except UNSUPPORTED as error:
            if not self.function.fallback:
                raise
            warn_of_fallback(error)
        compiled = jax.jit(call)

        def by_xla(arrays: list, out: list | None = None) -> list[np.ndarray]:
            results = [np.array(x) for x in compiled(*arrays)]
            for place, found in zip(out or [], results, strict=out is not None):
                np.copyto(place, found, casting="no")
            return results

        return by_xla
