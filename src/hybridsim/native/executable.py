"""A compiled program as a Python function of NumPy arrays."""

import ctypes
import threading

import jax
import numpy as np

from .compile import Compiled, compile_text, pointer
from .emit import Emitter
from .program import Program

_POINTER = ctypes.c_void_p


class Executable:
    """Callable from several threads at once: each has its own workspace."""

    def __init__(self, program: Program, optimise: int):
        emitter = Emitter(program.graph)
        body = emitter.function("kernel", program.inputs, program.outputs)
        self.text = body.replace("define internal void @kernel", "define void @kernel")
        self.compiled: Compiled = compile_text(self.text, "kernel", optimise)
        self.workspace_size = emitter.workspace_size
        self._call = pointer(self.compiled, _POINTER, _POINTER, _POINTER)
        self._dtypes = [b.type.dtype for b in program.inputs]
        self._tree = program.out_tree
        self._outs = OutputBlock([(a.shape, np.dtype(a.dtype)) for a in program.out_avals])
        self._local = threading.local()

    def __call__(self, arrays: list, out: list[np.ndarray] | None = None):
        local = self._local
        if not hasattr(local, "workspace"):
            local.workspace = aligned(self.workspace_size)
            local.inputs = np.zeros(max(len(arrays), 1), dtype=np.uint64)
            local.seen = [None] * len(arrays)
            local.kept = list(arrays)
            local.addresses = (local.inputs.ctypes.data, local.workspace.ctypes.data)
        seen, table = local.seen, local.inputs
        for k, x in enumerate(arrays):
            if x is not seen[k]:
                kept = np.ascontiguousarray(x, dtype=self._dtypes[k])
                table[k] = kept.ctypes.data
                local.kept[k] = kept
                # Only what is read in place may be taken for the same next time: a converted copy would be stale.
                seen[k] = x if kept is x else None
        results, addresses = self._outs.allocate() if out is None else (out, self._outs.addresses(out))
        self._call(local.addresses[0], addresses.ctypes.data, local.addresses[1])
        return jax.tree.unflatten(self._tree, results)


class OutputBlock:
    """Outputs that share one piece of memory, so that there is one allocation a call."""

    def __init__(self, layout: list[tuple[tuple[int, ...], np.dtype]]):
        self.layout = layout
        sizes = [int(np.prod(shape, dtype=np.int64)) * dtype.itemsize for shape, dtype in layout]
        padded = [(size + 63) // 64 * 64 for size in sizes]
        self.offsets = [sum(padded[:k]) for k in range(len(padded))]
        self.total = sum(padded)
        self._table = np.array(self.offsets, dtype=np.uint64)

    def allocate(self) -> tuple[list[np.ndarray], np.ndarray]:
        block = aligned(self.total)
        arrays = [
            np.ndarray(shape, dtype, block, offset)
            for (shape, dtype), offset in zip(self.layout, self.offsets, strict=True)
        ]
        return arrays, self._table + np.uint64(block.ctypes.data)

    def addresses(self, out: list[np.ndarray]) -> np.ndarray:
        """Of arrays that the caller gives; they must be exactly what would be allocated."""
        if len(out) != len(self.layout):
            raise ValueError(f"out has {len(out)} arrays, but the function returns {len(self.layout)}")
        for k, (x, (shape, dtype)) in enumerate(zip(out, self.layout, strict=True)):
            fits = isinstance(x, np.ndarray) and x.shape == shape and x.dtype == dtype
            if not (fits and x.flags.c_contiguous and x.flags.writeable):
                found = f"{x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray) else type(x).__name__
                raise ValueError(
                    f"out[{k}] is {found}; a writeable C-contiguous NumPy array {dtype}{list(shape)} is needed"
                )
        return np.array([x.ctypes.data for x in out], dtype=np.uint64)


def aligned(size: int) -> np.ndarray:
    """Bytes that start at a multiple of 64."""
    raw = np.empty(size + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]
