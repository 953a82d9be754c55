"""Sorting: few numbers by a network of exchanges, many by merging runs in memory. Both keep the order of equals."""

import numpy as np

from ..arrays import Memory, Small, Stored, flat_index, size_of
from ..scalars import Scalars
from ..types import BOOL, INDEX, type_of

NETWORK = 24
"""Rows of at most this many numbers are sorted by a network, which grows as the square of this."""
EXCHANGES = 512
"""No more than this many exchanges are written out."""


def _less(s: Scalars, a: int, b: int) -> int:
    """a before b: NaN last, and -0 equal to 0."""
    if s.g.types[a] == BOOL:
        return s.op("and", s.op("not", a), b)
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
    keys, s = eqn.params["num_keys"], low.s
    return _sorted(low, xs, eqn.params["dimension"], lambda left, right: _before(s, left[:keys], right[:keys]))


def _sorted(low, xs, axis, before):
    shape = xs[0].shape
    n = shape[axis]
    rows = size_of(shape) // max(n, 1)
    if n <= NETWORK and rows * n * n // 2 <= EXCHANGES:
        return _by_network(low, xs, axis, before)
    return _by_merging(low, xs, axis, before)


def _by_network(low, xs, axis, before):
    """Odd-even transposition."""
    s = low.s
    tables = [np.moveaxis(low.a.small(x).ids, axis, -1).copy() for x in xs]
    n = tables[0].shape[-1]
    for place in np.ndindex(*tables[0].shape[:-1]):
        rows = [t[place] for t in tables]
        for turn in range(n):
            for i in range(turn % 2, n - 1, 2):
                swap = before([int(r[i + 1]) for r in rows], [int(r[i]) for r in rows])
                for r in rows:
                    a, b = int(r[i]), int(r[i + 1])
                    r[i], r[i + 1] = s.select(swap, b, a), s.select(swap, a, b)
    return [Small(np.moveaxis(t, -1, axis), x.type) for t, x in zip(tables, xs, strict=True)]


def _by_merging(low, xs, axis, before):
    """Runs of length 1, 2, 4 ... are merged in pairs, from one half of a piece of memory into its other half."""
    s, shape = low.s, xs[0].shape
    n = shape[axis]
    others = shape[:axis] + shape[axis + 1 :]
    levels = max(n - 1, 0).bit_length()
    memory = [Memory(low.a, x.type, (2, n)) for x in xs]
    outs = [low.g.buffer(x.type, size_of(shape)) for x in xs]
    zero, one, length = s.index(0), s.index(1), s.index(n)

    def sort_row(place):
        def at(i):
            return (*place[:axis], i, *place[axis:])

        def copy_in(i, _):
            for x, m in zip(xs, memory, strict=True):
                m[zero, i] = low.a.at(x, at(i))
            return []

        def copy_out(i, _):
            for m, out in zip(memory, outs, strict=True):
                low.g.store(out, flat_index(s, shape, at(i)), m[s.index(levels % 2), i])
            return []

        def level(k, carry):
            (width,) = carry
            source = s.op("and", k, one)
            target = s.sub(one, source)
            double = s.add(width, width)

            def merge(t, carry):
                left, right, middle, end = carry
                first = s.compare("eq", t, end)  # a new pair of runs begins
                end = s.select(first, s.op("min", s.add(t, double), length), end)
                middle = s.select(first, s.op("min", s.add(t, width), length), middle)
                left, right = s.select(first, t, left), s.select(first, middle, right)
                last = s.index(n - 1)
                lefts = [m[source, s.op("min", left, last)] for m in memory]
                rights = [m[source, s.op("min", right, last)] for m in memory]
                from_right = s.op(
                    "and",
                    s.compare("lt", right, end),
                    s.op("or", s.compare("ge", left, middle), before(rights, lefts)),
                )
                for m, a, b in zip(memory, lefts, rights, strict=True):
                    m[target, t] = s.select(from_right, b, a)
                step = s.cast(from_right, INDEX)
                return [s.add(left, s.sub(one, step)), s.add(right, step), middle, end]

            low.a.loop(n, merge, [zero, zero, zero, zero])
            return [double]

        low.a.loop(n, copy_in)
        if levels:
            low.a.loop(levels, level, [one])
        low.a.loop(n, copy_out)

    if size_of(shape):
        low.a.nest(others, sort_row)
    return [Stored(shape, x.type, out, s) for x, out in zip(xs, outs, strict=True)]


def _top_k(low, eqn, x):
    """The largest first; of equals the one that comes first. NaN counts as largest."""
    s, k, axis = low.s, eqn.params["k"], eqn.params["axis"]
    type = type_of(eqn.outvars[1].aval.dtype)
    counts = np.arange(x.shape[axis]).reshape([-1 if d == axis else 1 for d in range(len(x.shape))])
    places = low.a.constant(np.broadcast_to(counts, x.shape), type)

    def before(left, right):
        more, same = _less(s, right[0], left[0]), s.op("not", _less(s, left[0], right[0]))
        return s.op("or", more, s.op("and", same, s.compare("lt", left[1], right[1])))

    outs = _sorted(low, (x, places), axis, before)
    shape = eqn.outvars[0].aval.shape
    front = tuple(slice(0, k) if d == axis else slice(None) for d in range(len(shape)))
    return [
        Small(out.ids[front], out.type)
        if isinstance(out, Small)
        else low.result(shape, out.type, out.element, (out,), cheap=True)
        for out in outs
    ]


SORTING = {"sort": _sort, "top_k": _top_k}
