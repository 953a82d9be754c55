"""Linear systems (1 + Y^T gain Y) x = b of many bodies, of which few touch: what couples them is known only in the step.

A = U L, eliminated from the last freedom to the first as in `elimination.py`, by loops. Row k has entries from the column
`first[k]` on, and column k from that row on: an envelope, which elimination does not leave (George and Liu 1981, section 4.2). So
bodies that touch no other cost what they cost alone, and nobody has to look for islands.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float, Int

from ...spatial import Array, Scalar, in_memory, once_if, row, with_row

CHUNK = 8
"""Neighbours in a row that are computed together."""


def padded(size: int) -> int:
    """Columns of a matrix whose rows are whole chunks."""
    return -(-size // CHUNK) * CHUNK


class Envelope(eqx.Module):
    """Below the diagonal and on it L, above it U, whose diagonal is 1."""

    entries: Float[Array, "n columns"]
    first: Int[Array, " n"]
    largest: Scalar
    """Part of one row that was subtracted from another, at most."""

    @classmethod
    def of(cls, matrix: Float[Array, "n columns"], first: Int[Array, " n"]) -> "Envelope":
        n, width = matrix.shape
        columns = np.arange(width, dtype=np.int32)

        def eliminate(turn, state):
            k = (n - 1 - turn).astype(jnp.int32)
            begin, pivot_row = row(state[1], k), row(state[0], k)
            pivot = row(pivot_row, k)
            line = in_memory(jnp.where(columns < k, pivot_row, 0.0))

            def subtract(i, state):
                a, first, largest = state
                part = _entry(a, i, k) / pivot
                a = lax.dynamic_update_slice(a, part[None, None], (i, k))

                def subtract_chunk(c, a):
                    at = i, c * CHUNK
                    changed = lax.dynamic_slice(a, at, (1, CHUNK)) - part * lax.dynamic_slice(line, at[1:], (CHUNK,))
                    return lax.dynamic_update_slice(a, changed, at)

                a = lax.fori_loop(begin // CHUNK, (k + CHUNK - 1) // CHUNK, subtract_chunk, a)
                return a, with_row(first, i, jnp.minimum(row(first, i), begin)), jnp.maximum(largest, jnp.abs(part))

            def below(i, state):
                return once_if(_entry(state[0], i, k) != 0, lambda state: subtract(i, state), state)

            return lax.fori_loop(begin, k, below, state)

        start = matrix, in_memory(first), jnp.zeros((), dtype=matrix.dtype)
        return cls(*lax.fori_loop(0, n, eliminate, start))

    @property
    def last_pivot(self) -> Float[Array, ""]:
        """That which is not divided by before a system is solved."""
        return self.entries[0, 0]

    def solve(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """x with A x = b."""

        def by_U(k, j, y):
            return y.at[j].add(-_entry(self.entries, j, k) * row(y, k), mode="promise_in_bounds")

        def by_L(k, j, y):
            return y.at[k].add(-_entry(self.entries, k, j) * row(y, j), mode="promise_in_bounds")

        y = self._walk_down(lambda k, y: y, by_U, in_memory(b))
        return self._walk_up(by_L, lambda k, y: with_row(y, k, row(y, k) / _entry(self.entries, k, k)), y)

    def solve_transposed(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """x with A^T x = b."""

        def by_L(k, j, y):
            return y.at[j].add(-_entry(self.entries, k, j) * row(y, k), mode="promise_in_bounds")

        def by_U(k, j, y):
            return y.at[k].add(-_entry(self.entries, j, k) * row(y, j), mode="promise_in_bounds")

        def divide(k, y):
            return with_row(y, k, row(y, k) / _entry(self.entries, k, k))

        return self._walk_up(by_U, lambda k, y: y, self._walk_down(divide, by_L, in_memory(b)))

    def _walk_down(self, before, inner, y):
        """For k from the last to the first: before(k), then inner(k, j) for all j in its envelope."""
        n = len(self.first)

        def one(turn, y):
            k = (n - 1 - turn).astype(jnp.int32)
            return lax.fori_loop(row(self.first, k), k, lambda j, y: inner(k, j, y), before(k, y))

        return lax.fori_loop(0, n, one, y)

    def _walk_up(self, inner, after, y):
        """For k from the first to the last: inner(k, j) for all j in its envelope, then after(k)."""

        def one(k, y):
            return after(k, lax.fori_loop(row(self.first, k), k, lambda j, y: inner(k, j, y), y))

        return lax.fori_loop(0, len(self.first), lambda turn, y: one(turn.astype(jnp.int32), y), y)


def _entry(a: Float[Array, "n columns"], i, j) -> Float[Array, ""]:
    return lax.dynamic_slice(a, (i, j), (1, 1))[0, 0]
