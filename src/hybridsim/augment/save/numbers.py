"""Every number of a model by a readable name, such as links/mass or network/0/first/weight, in a safetensors file."""

from collections.abc import Iterator, Mapping
from typing import Any

import jax
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from ...model import Model
from .errors import briefly, damaged

_FLOATS = (np.dtype("float32"), np.dtype("float64"))


def numbers_of(model: Model) -> dict[str, np.ndarray]:
    """All leaves that are numbers, in the precision that they have."""
    found: dict[str, np.ndarray] = {}
    for path, leaf in jax.tree_util.tree_flatten_with_path(model)[0]:
        name = _name(path)
        if not is_number(leaf):
            continue
        if name in found:
            raise damaged(f"two arrays of the model are called {name!r}", "rename one in your module")
        found[name] = _array(name, leaf)
    return found


def is_number(leaf: Any) -> bool:
    """Whether a leaf is saved; modules of the user's own may have functions among their leaves."""
    return isinstance(leaf, np.ndarray | np.generic | jax.Array | bool | int | float)


def leaf_names(tree: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """The leaves of a part of a model with their names."""
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        yield "/".join([prefix, *map(_word, path)]), leaf


def _name(path: tuple) -> str:
    words = [_word(key) for key in path]
    if words[:2] == ["augmentation", "sites"]:
        kind = {"network": "network", "constants": "constant"}[words[3]]
        words = [kind, words[2], *words[4:]]
    return "/".join(words)


def _word(key: Any) -> str:
    for what in ("name", "idx", "key"):
        if hasattr(key, what):
            return str(getattr(key, what))
    return str(key)


def _array(name: str, leaf: Any) -> np.ndarray:
    if isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.extended):
        raise damaged(f"{name} is of type {leaf.dtype}, which no file holds", "make it a static field of your module")
    array = np.array(leaf, order="C")
    if not name.startswith("network/") and array.dtype.kind in "iu":
        array = array.astype(float)
    if array.dtype not in _FLOATS and array.dtype.kind not in "iub":
        raise damaged(f"{name} is of type {array.dtype}", "save numbers in float64 or float32")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise damaged(f"{name} has NaN in it", "a model that has diverged is of no use, so save an earlier one")
    return array


def to_bytes(numbers: Mapping[str, np.ndarray]) -> bytes:
    return save(dict(numbers), {"format": "hybridsim-numbers"})


class Numbers:
    """The arrays of a file, each to be taken once."""

    def __init__(self, content: bytes):
        try:
            self._waiting = load(content)
        except (SafetensorError, ValueError, KeyError, TypeError, OverflowError) as problem:
            raise damaged(f"numbers.safetensors cannot be read ({briefly(problem)})") from None

    def count(self, prefix: str) -> int:
        """How many numbers there are in arrays whose names start so."""
        return sum(array.size for name, array in self._waiting.items() if name.startswith(prefix))

    def take(self, name: str, shape: tuple[int, ...], like: Any = 0.0) -> np.ndarray:
        """The array of this name, if it is of this shape and of the kind of `like`."""
        if name not in self._waiting:
            raise damaged(f"numbers.safetensors has no array {name!r}")
        array = self._waiting.pop(name)
        if array.shape != shape:
            raise damaged(f"numbers.safetensors: {name} has shape {array.shape}, but the model needs {shape}")
        expected = np.asarray(like).dtype
        fits = array.dtype in _FLOATS if expected in _FLOATS else array.dtype == expected
        if not fits:
            raise damaged(f"numbers.safetensors: {name} is of type {array.dtype}, but must be {expected}")
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise damaged(f"numbers.safetensors: {name} has NaN in it")
        return array.copy()

    def finish(self) -> None:
        """No array is left over."""
        if self._waiting:
            raise damaged(f"numbers.safetensors has arrays that no part of the model uses: {', '.join(self._waiting)}")
