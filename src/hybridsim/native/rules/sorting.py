"""Sorting small arrays: odd-even transposition, which keeps the order of equals."""

import numpy as np

from ..arrays import SMALL, Small, size_of
from ..scalars import Scalars
from ..types import BOOL


def _less(s: Scalars, a: int, b: int) -> int:
    """a before b: NaN last, and -0 equal to 0."""
    less = s.compare("lt", a, b)
    if not s.g.types[a].is_float:
        return less
    return s.op("or", less, s.op("and", s.compare("ne", b, b), s.compare("eq", a, a)))


def _before(s: Scalars, left: list[int], right: list[int]) -> int:
    """Whether keys `left` come before keys `right`, compared one after the other."""
    result = s.const(False, BOOL)
    for a, b in reversed(list(zip(left, right, strict=True))):
        less, more = _less(s, a, b), _less(s, b, a)
        result = s.op("or", less, s.op("and", s.op("not", more), result))
    return result


def _sort(low, eqn, *xs):
    axis, keys, s = eqn.params["dimension"], eqn.params["num_keys"], low.s
    if size_of(xs[0].shape) > SMALL:
        raise NotImplementedError(f"sorting more than {SMALL} numbers is not supported; the shape is {xs[0].shape}")
    tables = [np.moveaxis(low.a.small(x).ids, axis, -1).copy() for x in xs]
    n = tables[0].shape[-1]
    for place in np.ndindex(*tables[0].shape[:-1]):
        rows = [t[place] for t in tables]
        for turn in range(n):
            for i in range(turn % 2, n - 1, 2):
                swap = _before(s, [int(r[i + 1]) for r in rows[:keys]], [int(r[i]) for r in rows[:keys]])
                for r in rows:
                    a, b = int(r[i]), int(r[i + 1])
                    r[i], r[i + 1] = s.select(swap, b, a), s.select(swap, a, b)
    return [Small(np.moveaxis(t, -1, axis), x.type) for t, x in zip(tables, xs, strict=True)]


SORTING = {"sort": _sort}
