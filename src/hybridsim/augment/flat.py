"""The free numbers of a model as one vector, and where in it each of them is."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from ..spatial import Array

Free = Callable[[Any], Any]
"""Chooses what is free, as `lambda model: (model.augmentation, model.links.mass)`."""


class Flat:
    """A way there and back. Everything that is not free is a constant of it."""

    def __init__(self, model: Any, free: Free):
        if not jax.tree.leaves(free(model)):
            raise ValueError("nothing is free to be trained: the model has no networks, or `free` chooses nothing")
        leaves, form = jax.tree.flatten(model)
        chosen = set(jax.tree.leaves(free(jax.tree.unflatten(form, range(len(leaves))))))
        mask = jax.tree.unflatten(form, [i in chosen for i in range(len(leaves))])
        self._free, self._fixed = eqx.partition(model, mask)
        self._leaves, self._form = jax.tree.flatten(self._free)
        self._ends = np.cumsum([0, *(np.size(leaf) for leaf in self._leaves)])

    @property
    def size(self) -> int:
        return int(self._ends[-1])

    def vector(self) -> Float[np.ndarray, " size"]:
        """Of the model from which this was made."""
        return np.concatenate([np.asarray(leaf, dtype=float).ravel() for leaf in self._leaves])

    def gather(self, free: Any) -> Float[np.ndarray, "*batch size"]:
        """Of another tree of the same form, such as a gradient, whose leaves may have batch axes before."""
        parts = [
            np.asarray(leaf).reshape(*leaf.shape[: leaf.ndim - np.ndim(own)], -1)
            for leaf, own in zip(jax.tree.leaves(free), self._leaves, strict=True)
        ]
        return np.concatenate(parts, axis=-1)

    def free(self, vector: Array) -> Any:
        """The tree of free numbers, each in the precision that it had."""
        parts = [part.astype(leaf.dtype) for part, leaf in zip(self._parts(vector), self._leaves, strict=True)]
        return jax.tree.unflatten(self._form, parts)

    def _parts(self, vector: Array) -> list[Array]:
        ends = zip(self._leaves, self._ends[:-1], self._ends[1:], strict=True)
        return [vector[a:b].reshape(np.shape(leaf)) for leaf, a, b in ends]

    def model(self, vector: Array) -> Any:
        return eqx.combine(self.free(vector), self._fixed)

    def join(self, free: Any) -> Any:
        """The model with these free numbers."""
        return eqx.combine(free, self._fixed)

    def places(self) -> Any:
        """A model in which every free number is its place in the vector, and every other one is None."""
        return jax.tree.unflatten(self._form, self._parts(np.arange(self.size)))
