"""Sums and other folds over axes."""

import numpy as np

from ..arrays import BLOCK, FROM_MEMORY, Lazy, Small, Stored, size_of
from ..lengths.affine import Affine
from ..lengths.folds import fold_long, fold_long_line
from ..types import BOOL, type_of

SIDE_BY_SIDE = 8
"""Folds at once; a power of two."""


def _combine(name):
    def fold(s, a, b):
        if name == "add":
            return s.add(a, b)
        if name == "mul":
            return s.mul(a, b)
        return s.op(name, a, b)

    return fold


def _start(name, type):
    if name == "add":
        return 0
    if name == "mul":
        return 1
    if name in ("and",):
        return True if type == BOOL else -1
    if name in ("or", "xor"):
        return 0
    if type.is_float:
        return -np.inf if name == "max" else np.inf
    if type == BOOL:
        return name == "min"
    info = np.iinfo(type.dtype)
    return info.min if name == "max" else info.max


def reduction(name):
    def rule(low, eqn, x):
        aval = eqn.outvars[0].aval
        return [reduce_array(low, x, name, tuple(eqn.params["axes"]), aval.shape, type_of(aval.dtype))]

    return rule


def reduce_array(low, x, name, axes, out_shape, type):
    """x folded by an operation over some axes."""
    s, fold = low.s, _combine(name)
    start = s.const(_start(name, type), type)
    if 0 in x.shape:
        return low.result(out_shape, type, lambda _: start, [])
    if isinstance(x, Small) or size_of(x.shape) <= FROM_MEMORY:
        ids = low.a.small(x).ids
        kept = [d for d in range(ids.ndim) if d not in axes]
        rows = ids.transpose(*kept, *axes).reshape(size_of(out_shape), size_of(tuple(x.shape[d] for d in axes)))
        out = []
        for row in rows.tolist():
            if name == "add":
                out.append(s.total(row, type))
                continue
            total = row[0] if row else start
            for value in row[1:]:
                total = fold(s, total, value)
            out.append(total)
        return Small(np.array(out, dtype=np.int64).reshape(out_shape), type)
    if size_of(out_shape) <= 16:
        ids = np.empty(out_shape, dtype=np.int64)
        for place in np.ndindex(*out_shape):
            ids[place] = _folded(low, x, axes, tuple(s.index(i) for i in place), start, name)
        return Small(ids, type)
    out = low.g.buffer(type, size_of(out_shape))
    low.a.fill(out, out_shape, lambda outer: _folded(low, x, axes, outer, start, name))
    return Stored(out_shape, type, out, s)


def _folded(low, x, axes, outer, start, name):
    """The fold over the reduced axes, at a place along the others."""
    rounded = x.type.is_float and name in ("add", "mul")  # other folds have one result, in whatever order
    operation = _combine(name)

    def fold(a, b):
        return operation(low.s, a, b)

    kept = [d for d in range(len(x.shape)) if d not in axes]
    if isinstance(x, Stored) and list(axes) == list(range(len(kept), len(x.shape))):  # they lie together, as one
        x = Stored((*(x.shape[d] for d in kept), size_of(tuple(x.shape[d] for d in axes))), x.type, x.buffer, low.s)
        axes = (len(kept),)
    if not axes:
        return low.a.at(x, outer)
    axes = sorted(axes)

    def along(k, place):
        """The fold over the axes from number k on; those before are at `place`."""

        def at(i):
            if k == len(axes) - 1:
                return low.a.at(x, tuple({**place, axes[k]: i}[d] for d in range(len(x.shape))))
            return along(k + 1, {**place, axes[k]: i})

        if rounded and k == len(axes) - 1:
            return fold_line(low, x.shape[axes[k]], at, x.type, is_light(x), start, fold)
        return _fold_in_turn(low, x.shape[axes[k]], at, start, fold, BLOCK if rounded else x.shape[axes[k]])

    return along(0, dict(zip(kept, outer, strict=True)))


def _fold_in_turn(low, n, at, start, fold, leaf):
    """at(0), ..., at(n - 1) folded, so many at a time."""
    if isinstance(n, Affine) and leaf != n:
        return fold_long(
            low.a,
            low.s.index(n),
            lambda first, count: lambda i, c: [fold(c[0], at(i))],
            lambda a, b: [fold(a[0], b[0])],
            [start],
        )[0]

    def part(first, count):
        if count == 1:
            return [at(first)]
        return low.a.loop(count, lambda i, c: [fold(c[0], at(low.s.add(first, i)))], [start])

    return low.a.fold(n, leaf, part, lambda a, b: [fold(a[0], b[0])], [start])[0]


def is_light(x) -> bool:
    """Whether reading an entry computes nothing."""
    return not isinstance(x, Lazy) or x.cheap


def fold_line(low, n, at, type, light, start, fold):
    """at(0), ..., at(n - 1) folded, several folds side by side: the processor need not wait for one to begin the next.

    Entries that must be computed first are written to memory, a piece at a time, so that LLVM can compute several at
    once.
    """
    s = low.s
    if isinstance(n, Affine):
        return fold_long_line(low.a, s.index(n), SIDE_BY_SIDE, at, fold, start, type, light)

    def part(first, count):
        def entry(i):
            return at(s.add(first, i))

        if count < 2 * SIDE_BY_SIDE:
            return low.a.loop(count, lambda i, c: [fold(c[0], entry(i))], [start]) if count > 1 else [entry(s.index(0))]
        if light:
            read = entry
        else:
            piece = low.a.stored(Lazy((count,), type, lambda i: entry(i[0])))

            def read(i):
                return piece.element((i,))

        turns, rest = divmod(count, SIDE_BY_SIDE)

        def turn(i, totals):
            begin = s.mul(i, s.index(SIDE_BY_SIDE))
            return [fold(total, read(s.add(begin, s.index(u)))) for u, total in enumerate(totals)]

        totals = list(low.a.loop(turns, turn, [start] * SIDE_BY_SIDE))
        for u in range(rest):
            totals[u] = fold(totals[u], read(s.index(turns * SIDE_BY_SIDE + u)))
        while len(totals) > 1:
            totals = [fold(a, b) for a, b in zip(totals[::2], totals[1::2], strict=True)]
        return totals

    return low.a.fold(n, SIDE_BY_SIDE * BLOCK, part, lambda a, b: [fold(a[0], b[0])], [start])[0]


REDUCTIONS = {
    f"reduce_{name}": reduction(op)
    for name, op in (
        ("sum", "add"),
        ("prod", "mul"),
        ("max", "max"),
        ("min", "min"),
        ("and", "and"),
        ("or", "or"),
        ("xor", "xor"),
    )
}
