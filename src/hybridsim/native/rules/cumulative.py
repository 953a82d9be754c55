"""Running sums and the like, and where the largest is."""

from itertools import pairwise

import numpy as np

from ..arrays import SMALL, Small, Stored, flat_index, size_of
from ..types import type_of


def _cumulative(name):
    def fold(s, a, b):
        if name == "logsumexp":
            high, low = s.op("max", a, b), s.op("min", a, b)
            same = s.compare("eq", high, low)  # two infinities of one sign have no difference
            difference = s.select(same, s.const(0, s.g.types[a]), s.sub(low, high))
            return s.add(high, s.op("log1p", s.op("exp", difference)))
        return {"add": s.add, "mul": s.mul}[name](a, b) if name in ("add", "mul") else s.op(name, a, b)

    def rule(low, eqn, x):
        axis, reverse, s = eqn.params["axis"], eqn.params["reverse"], low.s
        if size_of(x.shape) <= SMALL:
            ids = np.moveaxis(low.a.small(x).ids, axis, 0).copy()
            order = list(range(len(ids)))[:: -1 if reverse else 1]
            for before, now in pairwise(order):
                for place in np.ndindex(*ids.shape[1:]):
                    ids[(now, *place)] = fold(s, int(ids[(before, *place)]), int(ids[(now, *place)]))
            return [Small(np.moveaxis(ids, 0, axis), x.type)]
        out = low.g.buffer(x.type, size_of(x.shape))
        n, others = x.shape[axis], x.shape[:axis] + x.shape[axis + 1 :]

        def along(indices):
            def at(i):
                i = s.sub(s.index(n - 1), i) if reverse else i
                return (*indices[:axis], i, *indices[axis:])

            def write(i, value):
                low.g.store(out, flat_index(s, x.shape, at(i)), value)
                return value

            first = write(s.index(0), low.a.at(x, at(s.index(0))))
            if n > 1:
                low.a.loop(
                    n - 1, lambda i, c: [write(j := s.add(i, s.index(1)), fold(s, c[0], low.a.at(x, at(j))))], [first]
                )

        low.a.nest(others, along)
        return [Stored(x.shape, x.type, out, s)]

    return rule


def _arg_extremum(name):
    """The first place of the largest or smallest; a NaN counts as both."""

    def better(s, new, old):
        wins = s.compare("lt", old, new) if name == "max" else s.compare("lt", new, old)
        if s.g.types[new].is_float:
            new_nan, old_nan = s.compare("ne", new, new), s.compare("ne", old, old)
            wins = s.op("or", wins, s.op("and", new_nan, s.op("not", old_nan)))
        return wins

    def rule(low, eqn, x):
        (axis,), s = eqn.params["axes"], low.s
        aval = eqn.outvars[0].aval
        type = type_of(aval.dtype)
        if size_of(x.shape) <= SMALL:
            ids = np.moveaxis(low.a.small(x).ids, axis, 0)
            out = np.empty(aval.shape, dtype=np.int64)
            for place in np.ndindex(*aval.shape):
                best, where = int(ids[(0, *place)]), s.const(0, type)
                for i in range(1, len(ids)):
                    wins = better(s, int(ids[(i, *place)]), best)
                    best = s.select(wins, int(ids[(i, *place)]), best)
                    where = s.select(wins, s.const(i, type), where)
                out[place] = where
            return [Small(out, type)]

        stored = low.a.stored(x)

        def along(indices, i):
            return stored.element((*indices[:axis], i, *indices[axis:]))

        def search(indices):
            def turn(i, carry):
                best, where = carry
                value = along(indices, i)
                wins = better(s, value, best)
                return [s.select(wins, value, best), s.select(wins, s.cast(i, type), where)]

            return low.a.loop(x.shape[axis], turn, [along(indices, s.index(0)), s.const(0, type)])[1]

        out = low.g.buffer(type, size_of(aval.shape))
        low.a.fill(out, aval.shape, search)
        return [Stored(aval.shape, type, out, s)]

    return rule


CUMULATIVE = {
    "cumsum": _cumulative("add"),
    "cumprod": _cumulative("mul"),
    "cummax": _cumulative("max"),
    "cummin": _cumulative("min"),
    "cumlogsumexp": _cumulative("logsumexp"),
    "argmax": _arg_extremum("max"),
    "argmin": _arg_extremum("min"),
}
