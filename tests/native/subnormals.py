"""XLA takes numbers that are too small to have all their digits for zero; here native code is told to do so, too."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from hybridsim.native.graph import Graph
from hybridsim.native.types import BOOL, Type

from .zero_products import replaced

ROUNDED = frozenset({"add", "sub", "mul", "div", "cast"})
"""Operations whose result may be subnormal although no operand is."""


@contextmanager
def flushed(threshold: float | None = None) -> Iterator[None]:
    """Results of operations that are smaller than the threshold become zero; unless told otherwise, subnormal numbers."""
    value = Graph.value

    def with_zeros(g: Graph, op: str, args: tuple[int, ...], type: Type, extra: tuple = ()) -> int:
        made = value(g, op, args, type, extra)
        if op not in ROUNDED or not type.is_float:
            return made
        least = g.constant(np.finfo(type.dtype).tiny if threshold is None else threshold, type)
        small = value(g, "lt", (value(g, "abs", (made,), type), least), BOOL)
        signed_zero = value(g, "mul", (made, g.constant(0.0, type)), type)
        return value(g, "select", (small, signed_zero, made), type)

    with replaced((Graph, "value", with_zeros)):
        yield
