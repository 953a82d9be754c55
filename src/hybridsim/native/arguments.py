"""Arguments: arrays are traced, everything else is static, as in Equinox's filter_jit."""

import weakref
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .types import SUPPORTED, UnsupportedTypeError, type_of

_ARRAYS = (np.ndarray, np.generic, jax.Array)
_FEW = 8
"""Trees with fewer leaves are flattened in less time than it takes to find that they are known."""


class Arguments:
    """The arrays among the leaves of (args, kwargs), and the key under which compiled code is found again.

    This is done for every call, so the most frequent arguments have short ways: a NumPy array, and an Equinox
    module that was seen before.
    """

    __slots__ = ("args", "arrays", "has_tracers", "key", "kwargs")

    def __init__(self, args: tuple, kwargs: dict):
        self.args, self.kwargs = args, kwargs
        self.arrays: list = []
        self.has_tracers = False
        key: list = [jax.config.jax_enable_x64]  # pyright: ignore[reportAttributeAccessIssue]
        for arg in args:
            if type(arg) is np.ndarray:
                self.arrays.append(arg)
                key.append(arg.shape)
                key.append(arg.dtype.num)
            elif (known := _modules.get(id(arg))) is not None:
                self.arrays += known.arrays
                key.append(known.key)
            else:
                self._flatten(arg, key)
        if kwargs:
            key.append("keywords")  # a dictionary of them is not the same as a dictionary
            self._flatten(kwargs, key)
        self.key = tuple(key)

    def _flatten(self, tree: Any, key: list) -> None:
        leaves: list[Any]
        leaves, structure = jax.tree.flatten(tree)
        is_leaf = len(leaves) == 1 and leaves[0] is tree
        arrays, signature, tracers = [], [] if is_leaf else [structure], False
        for leaf in leaves:
            if type(leaf) is np.ndarray:  # before all others, because JAX's and Equinox's isinstance is slow
                arrays.append(leaf)
                signature.append(leaf.shape)
                signature.append(leaf.dtype.num)
            elif isinstance(leaf, np.ma.MaskedArray):
                refuse_masks((self.args, self.kwargs), _place)
            elif isinstance(leaf, _ARRAYS):
                arrays.append(_data(leaf))
                signature += leaf.shape, _type_key(leaf)
                tracers |= isinstance(leaf, Tracer)
            else:
                signature.append(_static(leaf))
        self.arrays += arrays
        self.has_tracers |= tracers
        if len(leaves) > _FEW and isinstance(tree, eqx.Module) and not tracers and _is_immutable(tree):
            key.append(_Module(tree, arrays, tuple(signature)).key)
        else:
            key += signature

    @staticmethod
    def check(args: tuple, kwargs: dict, fallback: bool) -> None:
        """Errors of what cannot be compiled, or with `fallback` not even by XLA, with the place of the wrong leaf."""
        for path, leaf in jax.tree.leaves_with_path((args, kwargs)):
            place = _place(path)
            if not isinstance(leaf, _ARRAYS):
                try:
                    hash(leaf)
                except TypeError:
                    raise TypeError(
                        f"{place} is of type {type(leaf).__name__}: it is no array, so it is static, "
                        "but it cannot be hashed; pass an array, or something hashable"
                    ) from None
            else:
                try:
                    type_of(leaf.dtype)
                except UnsupportedTypeError as error:
                    if not _jax_has(leaf.dtype):
                        raise TypeError(
                            f"{place} is an array of {leaf.dtype}, which JAX does not have; use {SUPPORTED}"
                        ) from None
                    if not fallback:
                        raise TypeError(f"{place} is an array of {leaf.dtype}: {error}") from None

    def function_of_arrays(self, f: Callable) -> Callable:
        """f with the static leaves filled in, as a function of the arrays."""
        leaves, tree = jax.tree.flatten((self.args, self.kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, _ARRAYS)]
        kinds = [jax.random.key_impl(leaves[i]) if is_key(leaves[i]) else None for i in places]
        for i in places:
            leaves[i] = None

        def of_arrays(*arrays: Any):
            filled = list(leaves)
            for i, array, kind in zip(places, arrays, kinds, strict=True):
                filled[i] = array if kind is None else jax.random.wrap_key_data(array, impl=kind)
            args, kwargs = jax.tree.unflatten(tree, filled)
            return f(*args, **kwargs)

        return of_arrays

    def array_leaves(self) -> list[bool]:
        """Which of all leaves are arrays."""
        return [isinstance(leaf, _ARRAYS) for leaf in jax.tree.leaves((self.args, self.kwargs))]

    def skeleton(self) -> tuple:
        """All but shapes and types of arrays, to be compared."""
        leaves, tree = jax.tree.flatten((self.args, self.kwargs))
        return tree, tuple(None if isinstance(leaf, _ARRAYS) else _static(leaf) for leaf in leaves)

    def specs(self) -> list[jax.ShapeDtypeStruct]:
        """Shapes and types as JAX takes them (float32 where 64-bit numbers are off)."""
        return [_spec(x) for x in self.arrays]


def _spec(x: Any) -> jax.ShapeDtypeStruct:
    dtype = x.dtype.newbyteorder("=") if isinstance(x, np.ndarray) else x.dtype
    weak = getattr(x, "weak_type", False)
    return jax.ShapeDtypeStruct(x.shape, jax.dtypes.canonicalize_dtype(dtype), weak_type=weak)


class _Module:
    """The leaves of an Equinox module, which is immutable: they need to be found only once."""

    __slots__ = ("arrays", "key", "module")

    def __init__(self, module: eqx.Module, arrays: list, signature: tuple):
        self.arrays = arrays
        # One object for equal signatures, so that comparing them is comparing identities.
        self.key = _signatures.setdefault(signature, _Signature())
        number = id(module)
        self.module = weakref.ref(module, lambda _: _modules.pop(number, None))
        _modules[number] = self


class _Signature:
    """Stands for a structure with shapes and types."""


_modules: dict[int, _Module] = {}
_signatures: dict[tuple, _Signature] = {}


def _is_immutable(tree: Any) -> bool:
    """Whether all nodes above the leaves are modules or tuples."""
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        children = jax.tree.leaves(node, is_leaf=lambda x, node=node: x is not node)
        if len(children) == 1 and children[0] is node:
            continue  # a leaf
        if not isinstance(node, (eqx.Module, tuple, type(None))):
            return False
        nodes += children
    return True


def _type_key(leaf) -> Any:
    """NumPy's number of the type. JAX also has types that are not NumPy's, and weak ones, which give way to others."""
    if is_key(leaf):
        return leaf.dtype
    return (leaf.dtype, True) if getattr(leaf, "weak_type", False) else leaf.dtype.num


def _data(leaf: Any) -> Any:
    return jax.random.key_data(leaf) if is_key(leaf) else leaf


def is_key(leaf: Any) -> bool:
    """Whether these are JAX's typed keys of random numbers. Programs read and write the integers that they hold."""
    return not isinstance(leaf.dtype, np.dtype) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _static(leaf: Any) -> tuple:
    """Part of a key. 1, 1.0 and True are equal for Python, but not for a program; nor are 0.0 and -0.0."""
    return _Signature, type(leaf), leaf.hex() if type(leaf) is float else leaf


def refuse_masks(tree: Any, place: Callable[[tuple], str]) -> None:
    """Native code reads and writes the numbers of an array only, so a mask would be lost in silence."""
    for path, leaf in jax.tree.leaves_with_path(tree):
        if isinstance(leaf, np.ma.MaskedArray):
            raise TypeError(
                f"{place(path)} is a NumPy masked array of shape {leaf.shape}, and native code has no masks; "
                "give a plain array, such as that of its method filled(value)"
            )


def _jax_has(dtype: Any) -> bool:
    """Whether JAX has arrays of this type. Not of text, dates, objects or records."""
    if dtype == jax.dtypes.float0 or jnp.issubdtype(dtype, jax.dtypes.extended):
        return True
    return jnp.issubdtype(dtype, jnp.number) or jnp.issubdtype(dtype, jnp.bool_)


def _place(path) -> str:
    """argument 1['x'] or argument 'shift'"""
    (_, part), *rest = (path[0], path[1]), *path[2:]
    name = part.idx if hasattr(part, "idx") else repr(part.key)
    return f"argument {name}{jax.tree_util.keystr(tuple(rest))}"
