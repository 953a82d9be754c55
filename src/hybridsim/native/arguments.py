"""Arguments: arrays are traced, everything else is static, as in Equinox's filter_jit."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

_ARRAYS = (np.ndarray, np.generic, jax.Array)


class Arguments:
    """The leaves of (args, kwargs), and the key under which a compiled function is found again."""

    __slots__ = ("arrays", "key", "leaves", "places", "tree")

    def __init__(self, args: tuple, kwargs: dict):
        self.leaves, self.tree = jax.tree.flatten((args, kwargs))
        self.places = [i for i, leaf in enumerate(self.leaves) if isinstance(leaf, _ARRAYS)]
        self.arrays = [self.leaves[i] for i in self.places]
        signature = tuple(
            (leaf.shape, leaf.dtype.num if isinstance(leaf, np.ndarray) else np.dtype(leaf.dtype).num)
            if isinstance(leaf, _ARRAYS)
            else (_STATIC, leaf)
            for leaf in self.leaves
        )
        self.key = (self.tree, signature)

    def function_of_arrays(self, f: Callable) -> Callable:
        """f with the static leaves filled in, as a function of the arrays."""
        leaves, places, tree = list(self.leaves), self.places, self.tree
        for i in places:
            leaves[i] = None

        def of_arrays(*arrays: Any):
            filled = list(leaves)
            for i, array in zip(places, arrays, strict=True):
                filled[i] = array
            args, kwargs = jax.tree.unflatten(tree, filled)
            return f(*args, **kwargs)

        return of_arrays

    def specs(self) -> list[jax.ShapeDtypeStruct]:
        """Shapes and types as JAX takes them (float32 where 64-bit numbers are off)."""
        return [jax.ShapeDtypeStruct(x.shape, jax.dtypes.canonicalize_dtype(x.dtype)) for x in self.arrays]


class _Static:
    def __repr__(self) -> str:
        return "static"


_STATIC = _Static()
