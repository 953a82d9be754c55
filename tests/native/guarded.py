"""Run random programs with all their memory between pages that may not be touched: python -m native.guarded SEED COUNT LARGEST.

Inputs may only be read. Whoever reads or writes beyond an array, an output or the workspace ends the process.
With the argument "overrun" an output is one number too short, which must end it too.
"""

import ctypes
import mmap
import sys

import jax
import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings

from hybridsim.native.compile import pointer
from hybridsim.native.function import Function

from .program_strategy import cases
from .programs import BATCH, values

PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)


class Guarded:
    """So many bytes, directly before (`at_end`) or after a page that may not be touched, with another such page beyond."""

    def __init__(self, size: int, at_end: bool, alignment: int = 1):
        pages = -(-max(size, 1) // PAGE)
        self._map = mmap.mmap(-1, (pages + 2) * PAGE)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._length = pages * PAGE
        self._protect(self._base, PAGE, mmap.PROT_NONE if hasattr(mmap, "PROT_NONE") else 0)
        self._protect(self._base + PAGE + self._length, PAGE, 0)
        first, last = self._base + PAGE, self._base + PAGE + self._length - size
        self.address = last // alignment * alignment if at_end else first
        if size == 0:  # nothing of it may be touched
            self.address = self._base + PAGE + self._length
        self._size = size

    def _protect(self, address: int, length: int, how: int) -> None:
        if _libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(length), how):
            raise OSError(ctypes.get_errno(), "mprotect")

    def write(self, array: np.ndarray) -> None:
        ctypes.memmove(self.address, np.ascontiguousarray(array).tobytes(), array.nbytes)
        self._protect(self._base + PAGE, self._length, mmap.PROT_READ)


def run(closed, arguments, batch: bool, lanes: int, shared: tuple[bool, ...], at_end: bool, missing: int = 0) -> None:
    """One call in guarded memory; `missing` bytes of the outputs are not there."""
    function = Function.of(closed)
    kernel = function.kernel(shared, lanes) if batch else function.kernel()
    inputs = []
    for x in arguments:
        inputs.append(Guarded(x.nbytes, at_end))
        inputs[-1].write(x)
    rows = BATCH if batch else 1
    sizes = [rows * a.size * np.dtype(a.dtype).itemsize for a in closed.out_avals]
    outputs = [Guarded(max(size - missing, 0), at_end) for size in sizes]
    scratch = Guarded(kernel.scratch, at_end, alignment=64)
    for x in kernel.extra:
        inputs.append(Guarded(x.nbytes, at_end))
        inputs[-1].write(x)
    tables = [(ctypes.c_size_t * max(len(list_), 1))(*(g.address for g in list_)) for list_ in (inputs, outputs)]
    places = [*map(ctypes.addressof, tables), scratch.address]
    if batch:
        types = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 2
        pointer(kernel.compiled, *types)(*places, 0, BATCH)
    else:
        pointer(kernel.compiled, *[ctypes.c_void_p] * 3)(*places)


def many(number: int, count: int, largest: int) -> None:
    """Random programs whose integers, which are indices of many, are often as large or small as can be."""
    done = 0

    @seed(number)
    @settings(
        max_examples=count, deadline=None, database=None, derandomize=False, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(cases(largest=largest))
    def each(case) -> None:
        nonlocal done
        print(f"\n{case}", flush=True)  # noqa: T201 - the last one is at fault if the process ends
        closed = jax.make_jaxpr(case.function)(*case.row(0))
        rng = np.random.default_rng(0)
        arguments = [values(rng, spec, special=True) for spec in case.program.inputs]
        shared = tuple(axis is None for axis in case.in_axes)
        for at_end in (True, False):
            run(closed, [x[0] for x in arguments], False, 1, shared, at_end)
            mixed = [x[0] if same else x for x, same in zip(arguments, shared, strict=True)]
            run(closed, mixed, True, case.lanes, shared, at_end)
        done += 1
        if done % 100 == 0:
            jax.clear_caches()

    each()
    print(f"\n{done} programs", flush=True)  # noqa: T201


def overrun() -> None:
    """A kernel whose output has too little memory."""
    x = np.ones(3)
    run(jax.make_jaxpr(lambda x: x + 1)(x), [x], False, 1, (False,), at_end=True, missing=8)
    print("nothing happened", flush=True)  # noqa: T201


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    if sys.argv[1] == "overrun":
        overrun()
    elif sys.argv[1] == "overread":
        x = np.ones(3)
        run(jax.make_jaxpr(lambda x: x + 1)(x), [x[:2]], False, 1, (False,), at_end=True)
        print("nothing happened", flush=True)  # noqa: T201
    else:
        many(*map(int, sys.argv[1:]))
