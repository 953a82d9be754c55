"""Compiled code of a batch as a Python function of NumPy arrays."""

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from ctypes import addressof, c_int64, c_size_t, c_void_p
from itertools import pairwise

import numpy as np

from .axes import batch_size
from .compile import pointer
from .executable import OutputBlock, address, aligned, as_read
from .kernel import Kernel


class BatchExecutable:
    """Callable from several threads at once, and working in several: each has its own scratch memory."""

    def __init__(self, kernel: Kernel, inputs, outputs, axes: list[int | None], lanes: int, pool: "Pool"):
        self.kernel = kernel
        self._inputs, self._outputs, self._axes, self._lanes, self._pool = inputs, outputs, axes, lanes, pool
        self._call = pointer(kernel.compiled, c_void_p, c_void_p, c_void_p, c_int64, c_int64)
        self._local = threading.local()

    def __call__(self, arrays: list, out: list | None = None) -> list[np.ndarray]:
        rows = batch_size(arrays, self._axes)
        inputs = self._with_rows_first(arrays)
        block = OutputBlock([((rows, *aval.shape), np.dtype(aval.dtype)) for aval in self._outputs])
        addresses = (c_size_t * max(len(self._outputs), 1))()
        if out is None:
            results = block.allocate(addresses)
        else:
            results = out
            block.use(out, addresses)
            inputs = [x.copy() if any(np.may_share_memory(x, y) for y in out) else x for x in inputs]
        addresses_in = [*map(address, inputs), *map(address, self.kernel.extra)]
        table = (c_size_t * max(len(addresses_in), 1))(*addresses_in)

        # The memory belongs to the work, which a thread may still be doing when the caller has been interrupted twice.
        def work(begin: int, end: int, memory=(inputs, results)) -> None:
            local = self._local
            if not hasattr(local, "scratch"):
                local.scratch = aligned(self.kernel.scratch)
            self._call(addressof(table), addressof(addresses), address(local.scratch), begin, end)

        self._pool.run(work, self._parts(rows))
        return results

    def _parts(self, rows: int) -> list[tuple[int, int]]:
        """Whole groups of lanes to each thread, so that a thread more or less changes nothing."""
        groups, threads = -(-rows // self._lanes), self._pool.threads
        cuts = [min(rows, groups * k // threads * self._lanes) for k in range(threads + 1)]
        return [(a, b) for a, b in pairwise(cuts) if b > a]

    def _with_rows_first(self, arrays: list) -> list[np.ndarray]:
        inputs = []
        for x, axis, aval in zip(arrays, self._axes, self._inputs, strict=True):
            x = np.moveaxis(np.asarray(x), axis, 0) if axis else x
            inputs.append(as_read(x, np.dtype(aval.dtype)))
        return inputs


class Pool:
    """Threads that are started when there is work for more than one."""

    def __init__(self, threads: int):
        self.threads = threads
        self._executor: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def run(self, work, parts: list[tuple[int, int]]) -> None:
        """work(begin, end) for all parts. The caller does the first itself: a thread less to wake.

        It returns when no thread works any more, also after a KeyboardInterrupt.
        """
        futures = []
        try:
            futures.extend(self._started().submit(work, *part) for part in parts[1:])
            if parts:
                work(*parts[0])
            for future in futures:
                future.result()
        except BaseException:
            wait(futures)
            raise

    def _started(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="hybridsim.native")
        return self._executor
