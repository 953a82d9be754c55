"""`native.batch`: one function over many inputs, in the lanes of vector registers and in threads."""

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp

from .arguments import Arguments
from .axes import axes_of_leaves, batch_size, row_of
from .batch_executable import BatchExecutable, Pool
from .compile import host_lanes
from .entry import Entry
from .function import Function
from .recall import function_of, identity_of
from .traced import Result


def batch(
    f: Callable,
    in_axes: Any = 0,
    *,
    threads: int | None = None,
    lanes: int | None = None,
    fallback: Literal["xla"] | None = None,
    optimise: int = 2,
    key: Any = None,
) -> "Batched":
    """f over a batch, like jax.vmap: `in_axes` says along which axis each argument is one of many (None: shared).

    It may be a number for all, a tuple for the arguments, or pytrees like them. Static leaves (all that are no
    arrays) are shared. Results are stacked along axis 0. `threads`: how many work at once, by default as many as
    there are cores. `lanes`: numbers computed in one vector register, at most, and by default as many as the machine has; a
    program that reads memory at other places in each lane, as contact does, has one.
    Results depend on neither. Inside of JAX's transformations XLA calls the code, in lanes and in one thread.
    `fallback` and `optimise` are as in `jit`.

    `key`: all that the program depends on besides the code of this package and the shapes and types of the arguments.
    A later process that gives the same content finds the program on disk and does not trace f. Content that is not
    understood (such as functions of the user) means that f is traced.
    """
    for name, number in (("threads", threads), ("lanes", lanes)):
        if number is not None and number < 1:
            raise ValueError(f"{name} is {number}; it must be 1 or more")
    if fallback not in (None, "xla"):
        raise ValueError(f'fallback is {fallback!r}; it may be "xla" or None')
    return Batched(f, in_axes, threads or _cores(), lanes or host_lanes(), fallback == "xla", optimise, key)


def _cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Batched:
    """A function over a batch, compiled when it is first called with rows of new shapes or types."""

    def __init__(self, f: Callable, in_axes, threads: int, lanes: int, fallback: bool, optimise: int, key: Any):
        functools.update_wrapper(self, f, updated=())
        self._f, self._in_axes, self._lanes = f, in_axes, lanes
        self._fallback, self._optimise, self._key = fallback, optimise, key
        self._pool = Pool(threads)
        self._known: dict[tuple, _Entry] = {}
        self._rows: dict[tuple, _Entry] = {}
        """By shapes and types of rows: batches of different sizes are one program."""
        self._lock = threading.RLock()

    def __call__(self, *args, out=None):
        """f over the batch; with `out`, a pytree of arrays like the result, which are written and returned."""
        try:
            arguments = Arguments(args, {})
            entry = self._known.get(arguments.key) or self._trace(arguments)
        except TypeError:
            Arguments.check(args, {}, self._fallback)
            raise
        if arguments.has_tracers or entry.captured:
            return entry.over_rows(arguments.arrays, out)
        if out is None:
            return entry.result.of(entry.run(arguments.arrays))
        entry.run(arguments.arrays, entry.result.arrays_of(out))
        return out

    def _trace(self, arguments: Arguments) -> "_Entry":
        with self._lock:
            axes = axes_of_leaves(self._in_axes, arguments.args)
            axes = [axis for axis, is_array in zip(axes, arguments.array_leaves(), strict=True) if is_array]
            batch_size(arguments.arrays, axes)
            specs = [row_of(spec, axis) for spec, axis in zip(arguments.specs(), axes, strict=True)]
            skeleton = arguments.skeleton()
            key = (skeleton, tuple((s.shape, s.dtype, s.weak_type) for s in specs), tuple(axes))
            entry = self._rows.get(key)
            if entry is None:
                Arguments.check(arguments.args, {}, self._fallback)
                found = function_of(
                    arguments.function_of_arrays(self._f),
                    specs,
                    self._identity(skeleton, specs),
                    self._optimise,
                    self._fallback,
                )
                entry = _Entry(*found, axes, self._lanes, self._pool)
            if not entry.captured:
                self._known[arguments.key] = self._rows[key] = entry
        return entry

    def _identity(self, skeleton: tuple, specs: list[jax.ShapeDtypeStruct]) -> str | None:
        return None if self._key is None else identity_of(self._f, self._key, skeleton, specs)


class _Entry(Entry):
    """With the axes of the batch."""

    def __init__(
        self, function: Function, result: Result, captured: tuple, axes: list[int | None], lanes: int, pool: Pool
    ):
        super().__init__(function, result, captured)
        self._axes, self._lanes, self._pool = axes, lanes, pool
        self._shared = tuple(axis is None for axis in axes)

    @functools.cached_property
    def run(self) -> Callable:
        """A function of a list of arrays, and perhaps of a list of arrays to be written."""
        function, axes = self.function, self._axes

        def make():
            kernel = function.kernel(self._shared, self._lanes)
            return BatchExecutable(kernel, function.inputs, function.outputs, axes, self._lanes, self._pool)

        return self.native_or_xla(make, jax.vmap(function.call, axes))

    def over_rows(self, arrays: list, out):
        """As a part of the program that JAX is tracing."""
        rows = batch_size(arrays, self._axes)
        first = [jnp.moveaxis(x, axis, 0) if axis else x for x, axis in zip(arrays, self._axes, strict=True)]
        return self.inside(first, out, rows, self._shared)
