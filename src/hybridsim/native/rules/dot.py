"""Products of matrices."""

import numpy as np

from ..arrays import SMALL, Small, Stored, size_of
from ..types import type_of

UNROLL = 16384
"""Products with more multiplications than this are loops."""


def _dot_general(low, eqn, a, b):
    (ca, cb), (ba, bb) = eqn.params["dimension_numbers"]
    aval = eqn.outvars[0].aval
    type = type_of(aval.dtype)
    ca, cb, ba, bb = map(tuple, (ca, cb, ba, bb))
    fa = tuple(d for d in range(len(a.shape)) if d not in ca + ba)
    fb = tuple(d for d in range(len(b.shape)) if d not in cb + bb)
    K = size_of(tuple(a.shape[d] for d in ca))
    work = size_of(aval.shape) * K
    both_small = isinstance(a, Small) and isinstance(b, Small)
    if work <= (UNROLL if both_small else 1024) and size_of(aval.shape) <= SMALL:
        return [_unrolled(low, low.a.small(a), low.a.small(b), ca, cb, ba, bb, fa, fb, aval.shape, type)]
    a, b = low.a.stored(a), low.a.stored(b)
    s = low.s
    kshape = tuple(a.shape[d] for d in ca)

    def element(indices):
        batch, ia, ib = indices[: len(ba)], indices[len(ba) : len(ba) + len(fa)], indices[len(ba) + len(fa) :]

        def at(x, free, contracted, batched, fi, ki):
            place = (
                dict(zip(batched, batch, strict=True))
                | dict(zip(free, fi, strict=True))
                | dict(zip(contracted, ki, strict=True))
            )
            return s.cast(x.element(tuple(place[d] for d in range(len(x.shape)))), type)

        def inner(shape, chosen, value):
            if not shape:
                return s.add(value, s.mul(at(a, fa, ca, ba, ia, chosen), at(b, fb, cb, bb, ib, chosen)))
            if shape[0] == 1:
                return inner(shape[1:], (*chosen, s.index(0)), value)
            return low.a.loop(shape[0], lambda i, c: [inner(shape[1:], (*chosen, i), c[0])], [value])[0]

        return inner(list(kshape), (), s.const(0, type))

    out = low.g.buffer(type, size_of(aval.shape))
    low.a.fill(out, aval.shape, element)
    return [Stored(aval.shape, type, out, s)]


def _unrolled(low, a, b, ca, cb, ba, bb, fa, fb, shape, type):
    s = low.s
    left = a.ids.transpose(*ba, *fa, *ca).reshape(
        size_of(tuple(a.shape[d] for d in ba)), -1, size_of(tuple(a.shape[d] for d in ca))
    )
    right = b.ids.transpose(*bb, *fb, *cb).reshape(left.shape[0], -1, left.shape[2])
    convert = (lambda v: v) if a.type == type and b.type == type else (lambda v: s.cast(v, type))
    zero, out = s.const(0, type), []
    for L, R in zip(left.tolist(), right.tolist(), strict=True):
        for row in L:
            for column in R:
                total = zero
                for x, y in zip(row, column, strict=True):
                    total = s.add(total, s.mul(convert(x), convert(y)))
                out.append(total)
    return Small(np.array(out, dtype=np.int64).reshape(shape), type)


DOT = {"dot_general": _dot_general}
