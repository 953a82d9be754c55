"""Factorisations of large matrices, as loops over memory.

Inner loops run along rows, which lie together, and over results rather than over the terms of a sum, so that LLVM can
compute several at once without changing the order of any sum.
"""

import numpy as np

from ..arrays import Lazy, Memory, size_of
from ..types import BOOL, type_of


class Matrix:
    """One matrix of a batch, in memory that is overwritten."""

    def __init__(self, low, memory: Memory, place: tuple[int, ...]):
        self.low, self.memory, self.place = low, memory, place

    def __getitem__(self, ij: tuple[int, int]) -> int:
        return self.memory[(*self.place, *ij)]

    def __setitem__(self, ij: tuple[int, int], value: int) -> None:
        self.memory[(*self.place, *ij)] = value

    def each(self, begin: int, end: int, body) -> None:
        """body(i) for i from begin up to end."""
        self.low.a.loop_between(begin, end, lambda i, _: body(i) or [])


def in_memory(function):
    """A rule from a function of (low, parameters, place in the batch, outputs, inputs) that fills the outputs."""

    def rule(low, eqn, *xs):
        return _run(low, function, eqn.params, [(type_of(v.aval.dtype), v.aval.shape) for v in eqn.outvars], xs)

    return rule


def _run(low, function, params, specs, xs):
    outs = [Memory(low.a, type, shape) for type, shape in specs]
    batch = xs[0].shape[:-2] if len(specs[0][1]) > 1 else xs[0].shape[:-1]
    xs = [low.a.stored(x) for x in xs]
    if all(size_of(out.shape) for out in outs):
        low.a.nest(batch, lambda place: function(low, params, place, outs, xs))
    return [out.array() for out in outs]


def _copied(low, source, place, target: Memory) -> Matrix:
    """The target, filled with one matrix of the source."""
    rows, columns = target.shape[-2:]
    low.a.nest((rows, columns), lambda ij: target.__setitem__((*place, *ij), low.a.at(source, (*place, *ij))))
    return Matrix(low, target, place)


def cholesky(low, params, place, outs, xs):
    """Column by column: when a column is done its square is taken off the columns to its right."""
    s, A = low.s, _copied(low, xs[0], place, outs[0])
    n, type = outs[0].shape[-1], outs[0].type
    zero, length = s.const(0, type), s.index(n)

    def column(k, carry):
        square = A[k, k]
        ok = s.op("and", carry[0], s.compare("lt", zero, square))
        pivot = s.op("sqrt", square)
        A[k, k] = pivot
        following = s.add(k, s.index(1))
        # The column is written into the row above the diagonal too, where it lies together.
        A.each(following, length, lambda i: A.__setitem__((i, k), s.div(A[i, k], pivot)))
        A.each(following, length, lambda i: A.__setitem__((k, i), A[i, k]))

        def row(i):
            factor = A[i, k]
            A.each(
                following, s.add(i, s.index(1)), lambda j: A.__setitem__((i, j), s.sub(A[i, j], s.mul(factor, A[k, j])))
            )

        A.each(following, length, row)
        return [ok]

    (ok,) = low.a.loop(n, column, [s.const(True, BOOL)])
    nan = s.const(np.nan, type)

    def finish(ij):
        kept = s.select(ok, A[ij], nan)
        A[ij] = s.select(s.compare("lt", ij[0], ij[1]), zero, kept)

    low.a.nest((n, n), finish)


def triangular_solve(low, params, place, outs, xs):
    """Row by row: when a row of X is known it is taken off the others."""
    p, s = params, low.s
    left, n = p["left_side"], xs[0].shape[-1]
    columns = outs[0].shape[-1 if left else -2]
    X = _copied(low, xs[1], place, outs[0])

    def a(i, j):
        # X A = B is A^T X^T = B^T.
        i, j = (i, j) if left == (not p["transpose_a"]) else (j, i)
        return low.a.at(xs[0], (*place, i, j))

    def at(i, k):
        return (i, k) if left else (k, i)

    lower = (p["lower"] == left) != p["transpose_a"]
    length = s.index(n)

    def row(turn, _):
        i = turn if lower else s.sub(s.index(n - 1), turn)
        if not p["unit_diagonal"]:
            X.each(s.index(0), s.index(columns), lambda k: X.__setitem__(at(i, k), s.div(X[at(i, k)], a(i, i))))
        begin, end = (s.add(i, s.index(1)), length) if lower else (s.index(0), i)

        def others(j):
            factor = a(j, i)
            X.each(
                s.index(0),
                s.index(columns),
                lambda k: X.__setitem__(at(j, k), s.sub(X[at(j, k)], s.mul(factor, X[at(i, k)]))),
            )

        X.each(begin, end, others)
        return []

    low.a.loop(n, row)


def lu(low, params, place, outs, xs):
    """With partial pivoting, as LAPACK: the largest below the diagonal comes up."""
    s, A = low.s, _copied(low, xs[0], place, outs[0])
    (m, n), pivots, rows = outs[0].shape[-2:], outs[1], outs[2]
    height, width = s.index(m), s.index(n)
    low.a.loop(m, lambda i, _: rows.__setitem__((*place, i), s.cast(i, rows.type)) or [])

    def column(k, _):
        def search(i, carry):
            best, where = carry
            size = s.op("abs", A[i, k])
            larger = s.compare("lt", best, size)
            return [s.select(larger, size, best), s.select(larger, i, where)]

        following = s.add(k, s.index(1))
        _, where = low.a.loop_between(following, height, search, [s.op("abs", A[k, k]), k])
        pivots[(*place, k)] = s.cast(where, pivots.type)

        def exchange(j):
            upper, lower = A[k, j], A[where, j]
            A[k, j] = lower
            A[where, j] = upper

        A.each(s.index(0), width, exchange)
        upper, lower = rows[(*place, k)], rows[(*place, where)]
        rows[(*place, k)] = lower
        rows[(*place, where)] = upper

        def eliminate(i):
            factor = s.div(A[i, k], A[k, k])
            A[i, k] = factor
            A.each(following, width, lambda j: A.__setitem__((i, j), s.sub(A[i, j], s.mul(factor, A[k, j]))))

        A.each(following, height, eliminate)
        return []

    low.a.loop(min(m, n), column)


def permutation(low, params, place, outs, xs):
    """Pivots (exchange row k with row pivots[k]) as the permutation that they make together."""
    s, rows, pivots = low.s, outs[0], xs[0]
    n = rows.shape[-1]
    low.a.loop(n, lambda i, _: rows.__setitem__((*place, i), s.cast(i, rows.type)) or [])

    def exchange(k, _):
        where = s.clamp_index(low.a.at(pivots, (*place, k)), 0, n - 1)
        upper, lower = rows[(*place, k)], rows[(*place, where)]
        rows[(*place, k)] = lower
        rows[(*place, where)] = upper
        return []

    low.a.loop(pivots.shape[-1], exchange)


def geqrf(low, params, place, outs, xs):
    """Householder reflections as LAPACK stores them: R above, vectors (with a one left out) below the diagonal."""
    s, A = low.s, _copied(low, xs[0], place, outs[0])
    (m, n), type = outs[0].shape[-2:], outs[0].type
    zero, one, height, width = s.const(0, type), s.const(1, type), s.index(m), s.index(n)

    def column(k, _):
        following = s.add(k, s.index(1))
        (rest,) = low.a.loop_between(following, height, lambda i, c: [s.add(c[0], s.mul(A[i, k], A[i, k]))], [zero])
        alpha = A[k, k]
        norm = s.op("sqrt", s.add(s.mul(alpha, alpha), rest))
        beta = s.select(s.compare("lt", alpha, zero), norm, s.neg(norm))
        flat = s.compare("eq", rest, zero)  # nothing to reflect
        tau = s.select(flat, zero, s.div(s.sub(beta, alpha), beta))
        scale = s.select(flat, zero, s.div(one, s.sub(alpha, beta)))
        A[k, k] = s.select(flat, alpha, beta)
        A.each(following, height, lambda i: A.__setitem__((i, k), s.mul(A[i, k], scale)))
        outs[1][(*place, k)] = tau
        _reflect(low, A, A, k, tau, following, width, height)
        return []

    low.a.loop(min(m, n), column)


def _reflect(low, V, target, k, tau, begin, end, height):
    """target's columns from begin to end, reflected by the vector in column k of V."""
    s = low.s
    following = s.add(k, s.index(1))

    def column(j):
        first = target[k, j]
        (dot,) = low.a.loop_between(
            following, height, lambda i, c: [s.add(c[0], s.mul(V[i, k], target[i, j]))], [first]
        )
        w = s.mul(tau, dot)
        target[k, j] = s.sub(first, w)
        target.each(following, height, lambda i: target.__setitem__((i, j), s.sub(target[i, j], s.mul(V[i, k], w))))

    target.each(begin, end, column)


def householder_product(low, params, place, outs, xs):
    """The first n columns of the product of the reflections."""
    s, (m, n), type = low.s, outs[0].shape[-2:], outs[0].type
    Q, taus = Matrix(low, outs[0], place), xs[1]
    zero, one, count = s.const(0, type), s.const(1, type), taus.shape[-1]
    low.a.nest((m, n), lambda ij: Q.__setitem__(ij, s.select(s.compare("eq", *ij), one, zero)))

    class Vectors:
        def __getitem__(self, ij):
            return low.a.at(xs[0], (*place, *ij))

    def turn(t, _):
        k = s.sub(s.index(count - 1), t)
        tau = low.a.at(taus, (*place, k))
        _reflect(low, Vectors(), Q, k, tau, s.index(0), s.index(n), s.index(m))
        return []

    if count:
        low.a.loop(count, turn)


def _qr(low, eqn, x):
    *batch, m, n = x.shape
    k = m if eqn.params["full_matrices"] else min(m, n)
    s, type = low.s, x.type
    packed, taus = _run(low, geqrf, {}, [(type, x.shape), (type, (*batch, min(m, n)))], [x])
    zero = s.const(0, type)

    def vectors(i):
        """The columns that hold reflections, and zeros to their right."""
        inside = low.a.at(packed, (*i[:-1], s.op("min", i[-1], s.index(n - 1))))
        return s.select(s.compare("lt", i[-1], s.index(n)), inside, zero)

    wide = Lazy((*batch, m, k), type, vectors)
    (Q,) = _run(low, householder_product, {}, [(type, (*batch, m, k))], [wide, taus])
    R = Lazy((*batch, k, n), type, lambda i: s.select(s.compare("le", i[-2], i[-1]), low.a.at(packed, i), zero))
    return [Q, low.a.stored(R)]


MEMORY = {
    "cholesky": in_memory(cholesky),
    "triangular_solve": in_memory(triangular_solve),
    "lu": in_memory(lu),
    "lu_pivots_to_permutation": in_memory(permutation),
    "geqrf": in_memory(geqrf),
    "householder_product": in_memory(householder_product),
    "qr": _qr,
}
"""Rules for matrices too large to be written out."""
