"""A compiled program as a Python function of NumPy arrays."""

import threading
from collections.abc import Sequence
from ctypes import addressof, c_char, c_size_t, c_void_p
from itertools import pairwise
from typing import Any

import jax
import numpy as np

from .compile import pointer
from .kernel import Kernel


class Executable:
    """Callable from several threads at once: each has its own workspace."""

    def __init__(self, kernel: Kernel, inputs: Sequence, outputs: Sequence):
        self.kernel, self._extra = kernel, [address(x) for x in kernel.extra]
        self._dtypes = [np.dtype(aval.dtype) for aval in inputs]
        self._block = OutputBlock([(aval.shape, np.dtype(aval.dtype)) for aval in outputs])
        self._call = pointer(kernel.compiled, c_void_p, c_void_p, c_void_p)
        self._local = threading.local()

    def __call__(self, arrays: list, out: list | None = None) -> list[np.ndarray]:
        local = self._local
        try:
            seen, table, kept = local.seen, local.inputs, local.kept
        except AttributeError:
            self._enter_thread()
            seen, table, kept = local.seen, local.inputs, local.kept
        for k, x in enumerate(arrays):
            if x is not seen[k]:
                seen[k] = None  # until all three agree again, which an interruption may prevent
                kept[k] = ready = as_read(x, self._dtypes[k])
                table[k] = address(ready)
                # Only what is read in place may be taken for the same next time: a converted copy would be stale.
                seen[k] = x if ready is x or isinstance(x, jax.Array) else None
        if out is None:
            results = self._block.allocate(local.outputs)
        else:
            results = out
            self._keep_apart(self._block.use(out, local.outputs))
        self._call(*local.places)
        return results

    def _enter_thread(self) -> None:
        local, n = self._local, len(self._dtypes)
        local.seen, local.kept = [None] * n, [None] * n
        local.inputs = (c_size_t * max(n + len(self._extra), 1))(*[0] * n, *self._extra)
        local.outputs = (c_size_t * max(len(self._block.layout), 1))()
        local.workspace = aligned(self.kernel.scratch)
        local.places = addressof(local.inputs), addressof(local.outputs), address(local.workspace)

    def _keep_apart(self, written: list[tuple[int, int, int]]) -> None:
        """Inputs that lie in memory which is to be written are copied first."""
        local = self._local
        for k, x in enumerate(local.kept):
            begin = local.inputs[k]
            if any(begin < end and start < begin + x.nbytes for start, end, _ in written):
                local.kept[k], local.seen[k] = x.copy(), None
                local.inputs[k] = address(local.kept[k])


class OutputBlock:
    """Outputs that share one piece of memory, so that there is one allocation a call."""

    def __init__(self, layout: list[tuple[tuple[int, ...], np.dtype]]):
        self.layout = layout
        self._places, size = [], 0
        for shape, dtype in layout:
            self._places.append((shape, dtype, size))
            size += -(-int(np.prod(shape, dtype=np.int64)) * dtype.itemsize // 64) * 64
        self._size = size

    def allocate(self, addresses) -> list[np.ndarray]:
        """New arrays; their addresses are written into the table."""
        block = np.empty(self._size + 64, np.uint8)
        base = address(block)
        start = -base % 64
        base += start
        results = []
        for k, (shape, dtype, offset) in enumerate(self._places):
            addresses[k] = base + offset
            results.append(np.ndarray(shape, dtype, block, start + offset))
        return results

    def use(self, out: list, addresses) -> list[tuple[int, int, int]]:
        """Arrays that the caller gives; they must be exactly what would be allocated. Where they begin and end."""
        ranges = []
        for k, (x, (shape, dtype)) in enumerate(zip(out, self.layout, strict=True)):
            fits = isinstance(x, np.ndarray) and x.shape == shape and x.dtype == dtype
            if not (fits and x.flags.carray):
                found = f"{x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray) else type(x).__name__
                raise ValueError(
                    f"out[{k}] is {found}; a writeable, aligned, C-contiguous NumPy array "
                    f"{dtype}{list(shape)} is needed"
                )
            addresses[k] = address(x)
            ranges.append((addresses[k], addresses[k] + x.nbytes, k))
        for (_, end, a), (start, _, b) in pairwise(sorted(r for r in ranges if r[0] < r[1])):
            if start < end:
                raise ValueError(f"out[{a}] and out[{b}] share memory; give arrays that do not")
        return ranges


def as_read(x, dtype: np.dtype) -> np.ndarray:
    """An array as kernels read it: x itself where it can be."""
    # Asked first, because np.asarray gives a view where a type is equal but another object.
    if type(x) is np.ndarray and x.dtype == dtype and x.flags.carray:
        return x
    # Not np.ascontiguousarray, which makes arrays of one axis of numbers.
    ready = np.asarray(x, dtype=dtype, order="C")
    return ready if ready.flags.aligned else ready.copy()


def address(x: np.ndarray) -> int:
    """Where the numbers of an array are."""
    try:
        buffer: Any = x
        return addressof(c_char.from_buffer(buffer))  # a third of the time of x.ctypes.data
    except (TypeError, ValueError):  # read-only, or empty
        return x.ctypes.data


def aligned(size: int) -> np.ndarray:
    """Bytes that start at a multiple of 64."""
    raw = np.empty(size + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]
