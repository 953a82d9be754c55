"""Sums and other folds over axes."""

import numpy as np

from ..arrays import FROM_MEMORY, Small, Stored, size_of
from ..types import BOOL, type_of


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
    return reduce_large(low, x, axes, out_shape, type, start, lambda total, v, _: fold(s, total, v))


def reduce_large(low, x, axes, out_shape, type, start, fold):
    """Loops over the reduced axes inside loops over the others; few results are scalars, many are memory."""

    def total(outer):
        def inner(shape, chosen, value):
            if not shape:
                rest = iter(outer)
                indices = tuple(chosen[axes.index(d)] if d in axes else next(rest) for d in range(len(x.shape)))
                return fold(value, low.a.at(x, indices), chosen)
            if shape[0] == 1:
                return inner(shape[1:], (*chosen, low.s.index(0)), value)
            return low.a.loop(shape[0], lambda i, c: [inner(shape[1:], (*chosen, i), c[0])], [value])[0]

        return inner([x.shape[d] for d in axes], (), start)

    if size_of(out_shape) <= 16:
        ids = np.empty(out_shape, dtype=np.int64)
        for place in np.ndindex(*out_shape):
            ids[place] = total(tuple(low.s.index(i) for i in place))
        return Small(ids, type)
    out = low.g.buffer(type, size_of(out_shape))
    low.a.fill(out, out_shape, total)
    return Stored(out_shape, type, out, low.s)


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
