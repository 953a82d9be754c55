"""One operation compiled on its own, for arrays of any length: what the tests of elementary functions run."""

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np

from hybridsim.native.compile import compile_text, pointer
from hybridsim.native.emit import Emitter
from hybridsim.native.functions import FUNCTIONS
from hybridsim.native.lower import Lowering
from hybridsim.native.scalars import Scalars
from hybridsim.native.types import F64, Type, type_of

BLOCK = 512
"""Places of memory that one call fills; each holds as many numbers as there are lanes."""

Expansion = Callable[..., int]


def evaluate(name: str, *arrays: np.ndarray, lanes: int = 1) -> np.ndarray:
    """The function, expanded and compiled, at every place of arrays of one type."""
    run = _kernel(name, len(arrays), lanes, type_of(arrays[0].dtype).name)
    size = arrays[0].size
    padding = -size % (BLOCK * lanes)
    blocks = [np.concatenate([x, np.ones(padding, x.dtype)]).reshape(-1, BLOCK * lanes) for x in arrays]
    return np.concatenate([run(*rows) for rows in zip(*blocks, strict=True)])[:size]


@cache
def _kernel(name: str, inputs: int, lanes: int, dtype: str) -> Callable[..., np.ndarray]:
    compiled = compile_text(kernel_text(FUNCTIONS[name], inputs, lanes, type_of(dtype), BLOCK), "kernel")
    call = pointer(compiled, *[ctypes.c_void_p] * 3)

    def run(*rows: np.ndarray) -> np.ndarray:
        out = np.empty(BLOCK * lanes, dtype)
        keep = [np.ascontiguousarray(r) for r in rows]
        call(_addresses(keep), _addresses([out]), None)
        return out

    run.compiled = compiled  # pyright: ignore[reportFunctionMemberAccess]
    return run


def kernel_text(expansion: Expansion, inputs: int, lanes: int, type: Type, count: int) -> str:
    """void kernel(inputs, outputs, workspace), which applies the expansion at `count` places of memory."""
    low = Lowering()
    g, s = low.g, low.s
    sources = [g.buffer(type, count, "input", region=g.top) for _ in range(inputs)]
    target = g.buffer(type, count, "output", region=g.top)
    low.a.nest((count,), lambda at: g.store(target, at[0], expansion(s, *(g.load(b, at[0]) for b in sources))))
    return Emitter(g, lanes).function("kernel", sources, [target]).replace("define internal", "define")


def count_values(make: Callable[[Scalars, int], object]) -> int:
    """How many values a formula of one argument adds to a graph."""
    low = Lowering()
    x = low.g.load(low.g.buffer(F64, 1, "input", region=low.g.top), low.s.index(0))
    before = len(low.g.ops)
    make(low.s, x)
    return len(low.g.ops) - before - len(low.g.constants)


def _addresses(arrays: list[np.ndarray]):
    return (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
