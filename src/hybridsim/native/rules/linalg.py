"""Factorisations. Those of small matrices are written out: every entry is a scalar."""

import numpy as np

from ..arrays import FROM_MEMORY, SMALL, Small, size_of
from ..scalars import Scalars
from ..types import BOOL, type_of
from .linalg_memory import MEMORY

UNROLL = 4096
"""Factorisations with more work than this are loops over memory."""


def _batched(function):
    """A rule from a function of (scalars, equation, matrices as tables) -> tables, over leading axes."""

    def rule(low, eqn, *xs):
        ranks = [var.aval.ndim for var in eqn.invars]
        large = any(not isinstance(x, Small) and size_of(x.shape) > FROM_MEMORY for x in xs)
        if large or any(size_of(x.shape) > SMALL for x in xs) or _work(eqn.primitive.name, *xs) > UNROLL:
            return MEMORY[eqn.primitive.name](low, eqn, *xs)
        tables = [low.a.small(x).ids for x in xs]
        core = [2 if rank >= 2 else rank for rank in ranks]
        batch = tables[0].shape[: ranks[0] - core[0]]
        outs = [np.empty(var.aval.shape, dtype=np.int64) for var in eqn.outvars]
        for place in np.ndindex(*batch):
            results = function(low.s, eqn, *(t[place] for t in tables))
            for out, result in zip(outs, results, strict=True):
                out[place] = result
        return [Small(out, type_of(var.aval.dtype)) for out, var in zip(outs, eqn.outvars, strict=True)]

    return rule


def _work(name: str, x, y=None) -> int:
    """About how many multiplications or selections a factorisation takes when written out."""
    *_, m, n = (1, *x.shape)
    batch = size_of(x.shape) // max(m * n, 1)
    if name == "cholesky":
        return batch * n**3 // 6
    if name == "triangular_solve":
        return size_of(y.shape) * n // 2
    if name == "lu_pivots_to_permutation":
        return size_of(x.shape) * n
    return 3 * batch * m * n * min(m, n)  # several operations for each entry in each turn


def _dot(s: Scalars, type, row, column) -> int:
    total = s.const(0, type)
    for a, b in zip(row, column, strict=True):
        total = s.add(total, s.mul(int(a), int(b)))
    return total


def _cholesky(s: Scalars, eqn, A):
    """Row by row; where the matrix is not positive definite all entries are NaN, as in JAX."""
    n = len(A)
    type = type_of(eqn.outvars[0].aval.dtype)
    L = np.full((n, n), s.const(0, type), dtype=np.int64)
    ok = s.const(True, BOOL)
    for i in range(n):
        for j in range(i):
            L[i, j] = s.div(s.sub(int(A[i, j]), _dot(s, type, L[i, :j], L[j, :j])), int(L[j, j]))
        square = s.sub(int(A[i, i]), _dot(s, type, L[i, :i], L[i, :i]))
        positive = s.compare("lt", s.const(0, type), square)
        ok = positive if s.g.is_constant(ok) and s.g.constants[ok] else s.op("and", ok, positive)
        L[i, i] = s.op("sqrt", square)
    for i in range(n):
        for j in range(i + 1):
            L[i, j] = s.select(ok, int(L[i, j]), s.const(np.nan, type))
    return [L]


def _triangular_solve(s: Scalars, eqn, A, B):
    p = eqn.params
    if not p["left_side"]:  # X A = B is A^T X^T = B^T
        A, B = A.T, B.T
    lower = p["lower"] == p["left_side"]
    if p["transpose_a"]:
        A, lower = A.T, not lower
    n, type = len(A), s.g.types[int(A.flat[0])]
    X = np.empty_like(B)
    order = range(n) if lower else range(n - 1, -1, -1)
    for i in order:
        known = slice(0, i) if lower else slice(i + 1, n)
        for k in range(B.shape[1]):
            rest = s.sub(int(B[i, k]), _dot(s, type, A[i, known], X[known, k]))
            X[i, k] = rest if p["unit_diagonal"] else s.div(rest, int(A[i, i]))
    return [X if p["left_side"] else X.T]


def _lu(s: Scalars, eqn, A):
    """With partial pivoting; rows change places by selection, as which ones is known at run time only."""
    m, n = A.shape
    LU = A.copy()
    pivot_type = type_of(eqn.outvars[1].aval.dtype)
    row_type = type_of(eqn.outvars[2].aval.dtype)
    pivots = np.empty(min(m, n), dtype=np.int64)
    rows = np.array([s.const(i, row_type) for i in range(m)], dtype=np.int64)
    for k in range(min(m, n)):
        best, where = s.op("abs", int(LU[k, k])), s.const(k, pivot_type)
        for i in range(k + 1, m):
            size = s.op("abs", int(LU[i, k]))
            larger = s.compare("lt", best, size)
            best = s.select(larger, size, best)
            where = s.select(larger, s.const(i, pivot_type), where)
        pivots[k] = where
        for i in range(k + 1, m):
            mine = s.compare("eq", where, s.const(i, pivot_type))
            for table, columns in ((LU, range(n)), (rows, (slice(None),))):
                if table is rows:
                    a, b = int(rows[k]), int(rows[i])
                    rows[k], rows[i] = s.select(mine, b, a), s.select(mine, a, b)
                    continue
                for j in columns:
                    a, b = int(LU[k, j]), int(LU[i, j])
                    LU[k, j], LU[i, j] = s.select(mine, b, a), s.select(mine, a, b)
        for i in range(k + 1, m):
            LU[i, k] = s.div(int(LU[i, k]), int(LU[k, k]))
            for j in range(k + 1, n):
                LU[i, j] = s.sub(int(LU[i, j]), s.mul(int(LU[i, k]), int(LU[k, j])))
    return [LU, pivots, rows]


def _permutation(s: Scalars, eqn, pivots):
    """Pivots (exchange row k with row pivots[k]) as the permutation that they make together."""
    type = type_of(eqn.outvars[0].aval.dtype)
    rows = [s.const(i, type) for i in range(eqn.outvars[0].aval.shape[-1])]
    for k, pivot in enumerate(pivots):
        for i in range(k + 1, len(rows)):
            mine = s.compare("eq", s.cast(int(pivot), type), s.const(i, type))
            rows[k], rows[i] = s.select(mine, rows[i], rows[k]), s.select(mine, rows[k], rows[i])
    return [np.array(rows, dtype=np.int64)]


def _geqrf(s: Scalars, eqn, A):
    """Householder reflections as LAPACK stores them: R above, vectors (with a one left out) below the diagonal."""
    m, n = A.shape
    R, taus = A.copy(), []
    for k in range(min(m, n)):
        type = s.g.types[int(R[k, k])]
        zero, one = s.const(0, type), s.const(1, type)
        below = [int(x) for x in R[k + 1 :, k]]
        rest = _dot(s, type, below, below)
        alpha = int(R[k, k])
        norm = s.op("sqrt", s.add(s.mul(alpha, alpha), rest))
        beta = s.select(s.compare("lt", alpha, zero), norm, s.neg(norm))
        flat = s.compare("eq", rest, zero)  # nothing to reflect
        tau = s.select(flat, zero, s.div(s.sub(beta, alpha), beta))
        scale = s.select(flat, zero, s.div(one, s.sub(alpha, beta)))
        v = [one, *(s.mul(x, scale) for x in below)]
        for j in range(k + 1, n):
            w = s.mul(tau, _dot(s, type, v, R[k:, j]))
            for i in range(k, m):
                R[i, j] = s.sub(int(R[i, j]), s.mul(v[i - k], w))
        R[k, k] = s.select(flat, alpha, beta)
        R[k + 1 :, k] = v[1:]
        taus.append(tau)
    return [R, np.array(taus, dtype=np.int64)]


def _householder_product(s: Scalars, eqn, A, taus):
    """The first n columns of the product of the reflections."""
    m, n = A.shape
    type = s.g.types[int(A.flat[0])]
    zero, one = s.const(0, type), s.const(1, type)
    Q = np.full((m, n), zero, dtype=np.int64)
    np.fill_diagonal(Q, one)
    for k in reversed(range(len(taus))):
        v = [one, *(int(x) for x in A[k + 1 :, k])]
        for j in range(n):
            w = s.mul(int(taus[k]), _dot(s, type, v, Q[k:, j]))
            for i in range(k, m):
                Q[i, j] = s.sub(int(Q[i, j]), s.mul(v[i - k], w))
    return [Q]


def _qr(s: Scalars, eqn, A):
    packed, taus = _geqrf(s, eqn, A)
    m, n = A.shape
    k = m if eqn.params["full_matrices"] else min(m, n)
    zero = s.const(0, s.g.types[int(A.flat[0])])
    wide = np.full((m, k), zero, dtype=np.int64)
    wide[:, : min(n, k)] = packed[:, : min(n, k)]
    Q = _householder_product(s, eqn, wide, taus)[0]
    R = np.where(np.arange(k)[:, None] <= np.arange(n)[None, :], packed[:k], zero)
    return [Q, R]


def _linear_solve(low, eqn, *inputs):
    """JAX's wrapper of a solver and its transpose: only the solver matters here."""
    from ..lower import inline

    lengths, jaxprs = eqn.params["const_lengths"], eqn.params["jaxprs"]
    start = lengths.matvec + lengths.vecmat
    consts = inputs[start : start + lengths.solve]
    b = inputs[start + lengths.solve + lengths.transpose_solve :]
    return inline(low, jaxprs.solve, [*consts, *b])


LINALG = {
    "cholesky": _batched(_cholesky),
    "triangular_solve": _batched(_triangular_solve),
    "lu": _batched(_lu),
    "lu_pivots_to_permutation": _batched(_permutation),
    "geqrf": _batched(_geqrf),
    "householder_product": _batched(_householder_product),
    "qr": _batched(_qr),
    "custom_linear_solve": _linear_solve,
}
