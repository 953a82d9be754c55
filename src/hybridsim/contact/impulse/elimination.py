"""Linear systems (1 + Y^T gain Y) x = b whose zeros are known beforehand.

The rows of a robot on a floor couple only freedoms of one path to the root. Eliminated from the leaves to the roots, such a
matrix stays as empty as it is (RBDA section 6.5), which the symbolic elimination here finds for any set of paths. It does not
exchange rows: with sticking contacts the matrix is symmetric with all pivots at least 1; with sliding ones it is not, and where a
pivot becomes small, the dense matrix is solved with pivoting instead.
"""

from dataclasses import dataclass
from functools import lru_cache

import equinox as eqx

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float

from ...spatial import Array, pick

LARGEST = 1200
"""Entries of a matrix that is eliminated entry by entry; larger ones are dense."""
SMALLEST_PIVOT = 1e-2
"""Below, rows have to be exchanged."""


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
    """A matrix that is eliminated: the entries of both triangular factors, or LAPACK's."""

    entries: Float[Array, " entries"]
    dense: tuple[Array, Array]
    regular: Bool[Array, ""]
    """Whether the entries may be used."""
    structure: Elimination = eqx.field(static=True)

    @classmethod
    def of(cls, structure: Elimination, matrix: Float[Array, "n n"]) -> "Factors":
        n = structure.size
        nothing = jnp.zeros((n, n), dtype=matrix.dtype), jnp.arange(n, dtype=jnp.int32)

        def pivoted():
            LU, _, order = lax.linalg.lu(matrix)
            return LU, order

        if not structure.sparse:
            return cls(jnp.zeros(0, dtype=matrix.dtype), pivoted(), jnp.asarray(False), structure)
        a = pick(matrix.reshape(-1), structure.entries)
        for k in range(n - 1, 0, -1):
            i, place = structure.below[k], structure.place
            if len(i):
                part = pick(a, place[i, k]) / a[place[k, k]]
                change = part[:, None] * pick(a, place[k, i])
                a = _subtracted(a, place[np.ix_(i, i)].ravel(), change.ravel())
                a = _replaced(a, place[i, k], part)
        pivots = pick(a, structure.pivots)
        regular = jnp.all(pivots > SMALLEST_PIVOT)
        return cls(a, lax.cond(regular, lambda: nothing, pivoted), regular, structure)

    def solve(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """x with A x = b."""
        if not self.structure.sparse:
            return self._pivoted(b)
        return lax.cond(self.regular, lambda: self._eliminated(b), lambda: self._pivoted(b))

    def _eliminated(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        a, structure = self.entries, self.structure
        for k in range(structure.size - 1, 0, -1):
            i = structure.below[k]
            if len(i):
                b = _subtracted(b, i, pick(a, structure.place[i, k]) * b[k])
        x: list = []
        for k in range(structure.size):
            known = b[k]
            for i in structure.below[k]:
                known = known - a[structure.place[k, i]] * x[i]
            x.append(known / a[structure.place[k, k]])
        return jnp.stack(x)

    def _pivoted(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        LU, order = self.dense
        y = lax.linalg.triangular_solve(LU, b[order][:, None], left_side=True, lower=True, unit_diagonal=True)
        return lax.linalg.triangular_solve(LU, y, left_side=True, lower=False)[:, 0]


def _subtracted(x: Array, places: np.ndarray, change: Array) -> Array:
    return jnp.asarray(x).at[places].add(-change, mode="promise_in_bounds", unique_indices=True)


def _replaced(x: Array, places: np.ndarray, values: Array) -> Array:
    return jnp.asarray(x).at[places].set(values, mode="promise_in_bounds", unique_indices=True)
