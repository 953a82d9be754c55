"""Linear systems (1 + Y^T gain Y) x = b whose zeros are known beforehand.

The rows of a robot on a floor couple only freedoms of one path to the root. Eliminated from the leaves to the roots, such a
matrix stays as empty as it is (RBDA section 6.5), which the symbolic elimination here finds for any set of paths.
"""

from dataclasses import dataclass
from functools import lru_cache

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float

from ...spatial import Array, Scalar, in_memory, pick, row, with_row

MOST_WORK = 2000
"""Products of an elimination that is written out; longer ones are loops (`envelope.py`)."""


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
    def written_out(self) -> bool:
        return sum(len(i) ** 2 for i in self.below) <= MOST_WORK


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


class WrittenOut(eqx.Module):
    """A matrix A = U L that is eliminated: the entries of both triangular factors, U with ones on its diagonal."""

    entries: Float[Array, " entries"]
    largest: Scalar
    """Part of one row that was subtracted from another, at most."""
    structure: Elimination = eqx.field(static=True)

    @classmethod
    def of(cls, structure: Elimination, matrix: Float[Array, "n n"]) -> "WrittenOut":
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
        return cls(a, largest, structure)

    @property
    def last_pivot(self) -> Float[Array, ""]:
        """That which is not divided by before a system is solved."""
        return self.entries[0]

    def solve(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """x with A x = b."""
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

    def solve_transposed(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """x with A^T x = b."""
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
