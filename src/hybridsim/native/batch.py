"""`native.batch`: one function over many inputs, in the lanes of vector registers and in threads."""

import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from ctypes import c_int64, c_void_p
from itertools import pairwise

import jax
import numpy as np

from .arguments import Arguments
from .batch_driver import driver
from .compile import compile_text, host_lanes, pointer
from .emit import Emitter
from .executable import OutputBlock, aligned
from .program import Program, trace


def batch(f: Callable, in_axes=0, threads: int | None = None, lanes: int | None = None, optimise: int = 2) -> "Batched":
    """f over a batch, like jax.vmap: `in_axes` says along which axis each argument is one of many (None: shared).

    It may be a number for all, a tuple for the arguments, or pytrees like them. Results are stacked along axis 0.
    `threads`: how many work at once, by default as many as there are cores. `lanes`: numbers computed in one
    vector register, by default as many as the machine has. Results depend on neither.
    """
    return Batched(f, in_axes, threads or len(os.sched_getaffinity(0)), lanes or host_lanes(), optimise)


class Batched:
    def __init__(self, f: Callable, in_axes, threads: int, lanes: int, optimise: int):
        functools.update_wrapper(self, f, updated=())
        self._f, self._in_axes, self._threads, self._lanes, self._optimise = f, in_axes, threads, lanes, optimise
        self._known: dict = {}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def __call__(self, *args):
        arguments = Arguments(args, {})
        executable = self._known.get(arguments.key) or self._compile(arguments, args)
        return executable(arguments.arrays, self._pool, self._threads)

    def _compile(self, arguments: Arguments, args: tuple) -> "BatchExecutable":
        with self._lock:
            if arguments.key not in self._known:
                axes = _axes(self._in_axes, args, arguments)
                specs = [_without(spec, axis) for spec, axis in zip(arguments.specs(), axes, strict=True)]
                program = trace(arguments.function_of_arrays(self._f), *specs)
                self._known[arguments.key] = BatchExecutable(program, axes, self._lanes, self._optimise)
        return self._known[arguments.key]


class BatchExecutable:
    def __init__(self, program: Program, axes: list[int | None], lanes: int, optimise: int):
        shared = frozenset(b.index for b, axis in zip(program.inputs, axes, strict=True) if axis is None)
        emitter = Emitter(program.graph, lanes, shared)
        kernel = emitter.function("kernel", program.inputs, program.outputs)
        text, self._scratch = driver(lanes, program.inputs, program.outputs, shared, emitter.workspace_size)
        self.text = f"{kernel}\n{text}"
        self.compiled = compile_text(self.text, "batch", optimise)
        self._call = pointer(self.compiled, c_void_p, c_void_p, c_void_p, c_int64, c_int64)
        self._program, self._axes, self._lanes = program, axes, lanes
        self._local = threading.local()

    def __call__(self, arrays: list, pool: ThreadPoolExecutor | None, threads: int):
        rows, inputs = self._rows(arrays)
        layout = [((rows, *aval.shape), np.dtype(aval.dtype)) for aval in self._program.out_avals]
        results, addresses = OutputBlock(layout).allocate()
        table = np.array([x.ctypes.data for x in inputs] or [0], dtype=np.uint64)

        def work(begin: int, end: int) -> None:
            if not hasattr(self._local, "scratch"):
                self._local.scratch = aligned(self._scratch)
            self._call(table.ctypes.data, addresses.ctypes.data, self._local.scratch.ctypes.data, begin, end)

        # Whole groups of lanes to each thread, so that a thread more or less changes nothing.
        groups = -(-rows // self._lanes)
        cuts = [min(rows, groups * k // threads * self._lanes) for k in range(threads + 1)] if pool else [0, rows]
        parts = [(a, b) for a, b in pairwise(cuts) if b > a]
        if pool is None or len(parts) < 2:
            for part in parts:
                work(*part)
        else:
            for future in [pool.submit(work, *part) for part in parts]:
                future.result()
        return jax.tree.unflatten(self._program.out_tree, results)

    def _rows(self, arrays: list) -> tuple[int, list[np.ndarray]]:
        """The size of the batch, and inputs with the batch first."""
        sizes = {np.shape(x)[axis] for x, axis in zip(arrays, self._axes, strict=True) if axis is not None}
        if len(sizes) != 1:
            raise ValueError(f"the batched arguments must agree in the size of the batch; found {sorted(sizes)}")
        inputs = []
        for x, axis, buffer in zip(arrays, self._axes, self._program.inputs, strict=True):
            x = np.asarray(x) if not axis else np.moveaxis(np.asarray(x), axis, 0)
            inputs.append(np.ascontiguousarray(x, dtype=buffer.type.dtype))
        return sizes.pop(), inputs


def _axes(in_axes, args: tuple, arguments: Arguments) -> list[int | None]:
    """One axis, or None, for each array leaf."""
    if isinstance(in_axes, (int, type(None))):
        in_axes = (in_axes,) * len(args)
    if len(in_axes) != len(args):
        raise ValueError(f"in_axes has {len(in_axes)} entries for {len(args)} arguments")
    missing = object()

    def spread(axis, tree):
        return jax.tree.map(lambda _: missing if axis is None else axis, tree)

    leaves = []
    for axis, arg in zip(in_axes, args, strict=True):
        full = jax.tree.map(spread, axis, arg, is_leaf=lambda x: x is None)
        leaves += jax.tree.leaves(full)
    axes = [None if leaf is missing else leaf for leaf in leaves]
    found = [axes[i] for i in arguments.places]
    for axis, x in zip(found, arguments.arrays, strict=True):
        if axis is not None and not -np.ndim(x) <= axis < np.ndim(x):
            raise ValueError(f"in_axes asks for axis {axis} of an array of shape {np.shape(x)}; use None to share it")
    return found


def _without(spec: jax.ShapeDtypeStruct, axis: int | None) -> jax.ShapeDtypeStruct:
    if axis is None:
        return spec
    shape = list(spec.shape)
    del shape[axis]
    return jax.ShapeDtypeStruct(tuple(shape), spec.dtype)
