"""Linear systems (1 + Y^T gain Y) x = b whose zeros are known beforehand.

The rows of a robot on a floor couple only freedoms of one path to the root. Eliminated from the leaves to the roots, such a
matrix stays as empty as it is (RBDA section 6.5), which the symbolic elimination here finds for any set of paths. It does not
exchange rows: with sticking contacts the matrix is symmetric with all pivots at least 1; with sliding ones it is not, and where a
pivot is small beside its column, the dense matrix is solved with pivoting instead.
"""

from dataclasses import dataclass
from functools import lru_cache

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float

from ...spatial import Array, in_memory, pick, row, with_row

LARGEST = 1200
"""Entries of a matrix that is eliminated entry by entry; larger ones are dense."""
LARGEST_PART = 1e6
"""Of one row that is subtracted from another; above, rows have to be exchanged."""


@dataclass(frozen=True, eq=False)
class Elimination:
    """Where a matrix has entries, from the first elimination to the last."""

    size: int
    entries: np.ndarray
    """Places in the matrix, row by row."""
    pivots: np.ndarray
    """Of each diagonal entry, its place among the entries."""
    below: tuple[np.ndarray, ...]
    """Of each freedom k, those i < k with an entry at (i, k); patterns are symmetric."""
    place: np.ndarray
    """[i, j]: the place among the entries, or -1."""

    @property
    def sparse(self) -> bool:
        return len(self.entries) <= LARGEST


def elimination(touched: np.ndarray) -> Elimination:
    """Of a symmetric pattern; the diagonal is always there."""
    return _elimination(len(touched), np.asarray(touched, dtype=bool).tobytes())


@lru_cache(maxsize=64)
def _elimination(size: int, pattern: bytes) -> Elimination:
    filled = np.frombuffer(pattern, dtype=bool).reshape(size, size) | np.eye(size, dtype=bool)
    below = []
    for k in range(size - 1, -1, -1):
        i = np.flatnonzero(filled[:k, k])
        filled[np.ix_(i, i)] = True
        below.append(i)
    entries = np.flatnonzero(filled)
    place = np.full(size * size, -1)
    place[entries] = np.arange(len(entries))
    place = place.reshape(size, size)
    return Elimination(size, entries, np.diagonal(place).copy(), tuple(below[::-1]), place)


class Factors(eqx.Module):
    """A matrix A = U L that is eliminated: the entries of both triangular factors, U with ones on its diagonal."""

    entries: Float[Array, " entries"]
    matrix: Float[Array, "n n"]
    regular: Bool[Array, ""]
    """Whether the entries may be used; else rows have to be exchanged."""
    structure: Elimination = eqx.field(static=True)

    @classmethod
    def of(cls, structure: Elimination, matrix: Float[Array, "n n"]) -> "Factors":
        if not structure.sparse:
            return cls(jnp.zeros(0, dtype=matrix.dtype), matrix, jnp.asarray(False), structure)
        a, place = pick(matrix.reshape(-1), structure.entries), structure.place
        largest = jnp.zeros((), dtype=matrix.dtype)
        for k in range(structure.size - 1, 0, -1):
            i = structure.below[k]
            if len(i):
                part = pick(a, place[i, k]) / a[place[k, k]]
                change = part[:, None] * pick(a, place[k, i])
                a = _subtracted(a, place[np.ix_(i, i)].ravel(), change.ravel())
                a = _replaced(a, place[i, k], part)
                largest = jnp.maximum(largest, jnp.max(jnp.abs(part)))
        # The last pivot is not divided by before the system is solved.
        return cls(a, matrix, (largest < LARGEST_PART) & (a[0] != 0), structure)

    def solve(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """x with A x = b."""
        if not self.structure.sparse:
            return pivoted_solve(self.matrix, b)
        return lax.cond(self.regular, lambda: self._by_factors(b), lambda: pivoted_solve(self.matrix, b))

    def solve_transposed(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """x with A^T x = b."""
        if not self.structure.sparse:
            return pivoted_solve(self.matrix.T, b)
        return lax.cond(self.regular, lambda: self._by_transposed(b), lambda: pivoted_solve(self.matrix.T, b))

    def _by_factors(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        a, below, place = self.entries, self.structure.below, self.structure.place
        y = list(b)
        for k in reversed(range(len(y))):
            for i in below[k]:
                y[i] = y[i] - a[place[i, k]] * y[k]
        for k in range(len(y)):
            for i in below[k]:
                y[k] = y[k] - a[place[k, i]] * y[i]
            y[k] = y[k] / a[place[k, k]]
        return jnp.stack(y)

    def _by_transposed(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        a, below, place = self.entries, self.structure.below, self.structure.place
        y = list(b)
        for k in reversed(range(len(y))):
            y[k] = y[k] / a[place[k, k]]
            for i in below[k]:
                y[i] = y[i] - a[place[k, i]] * y[k]
        for k in range(len(y)):
            for i in below[k]:
                y[k] = y[k] - a[place[i, k]] * y[i]
        return jnp.stack(y)


def pivoted_solve(A: Float[Array, "n n"], b: Float[Array, " n"]) -> Float[Array, " n"]:
    """x with A x = b, for any regular matrix: Gauss-Jordan elimination, in few instructions."""
    n = len(b)
    places = np.arange(n)

    def eliminate(k, both):
        size = jnp.where(places >= k, jnp.abs(row(both.T, k)), -1.0)
        best = jnp.argmax(size).astype(jnp.int32)
        upper, lower = row(both, k), row(both, best)
        both = with_row(with_row(both, best, upper), k, lower)
        part = jnp.where(places == k, 0.0, row(both.T, k) / row(lower, k))
        return both - part[:, None] * lower

    start = in_memory(jnp.concatenate([A, b[:, None]], axis=1))
    both = lax.fori_loop(0, n, lambda k, x: eliminate(jnp.int32(k), x), start)
    return both[:, n] / jnp.diagonal(both)


def _subtracted(x: Array, places: np.ndarray, change: Array) -> Array:
    return jnp.asarray(x).at[places].add(-change, mode="promise_in_bounds", unique_indices=True)


def _replaced(x: Array, places: np.ndarray, values: Array) -> Array:
    return jnp.asarray(x).at[places].set(values, mode="promise_in_bounds", unique_indices=True)
