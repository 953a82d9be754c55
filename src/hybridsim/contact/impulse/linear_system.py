"""The linear system (1 + Y^T gain Y) x = b of a problem whose rows follow velocities in given ways.

Its elimination does not exchange rows: with sticking contacts the matrix is symmetric with all pivots at least 1. With sliding ones
it is not, and where a pivot is small beside its column, the dense matrix is made again and solved with pivoting.
"""

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float

from ...spatial import Array, once_if
from .elimination import WrittenOut, pivoted_solve
from .envelope import Envelope, padded
from .problem import Gain, Problem

LARGEST_PART = 1e6
"""Of one row that is subtracted from another; above, rows have to be exchanged."""


class LinearSystem(eqx.Module):
    problem: Problem
    gain: Gain
    factors: WrittenOut | Envelope

    @classmethod
    def of(cls, problem: Problem, gain: Gain) -> "LinearSystem":
        if problem.first is None:
            factors = WrittenOut.of(problem.structure, dense_matrix(problem, gain))
        else:
            factors = Envelope.of(_matrix(problem, gain, padded(problem.nv)), problem.first)
        return cls(problem, gain, factors)

    @property
    def regular(self) -> Bool[Array, ""]:
        """Whether the factors may be used."""
        return (self.factors.largest < LARGEST_PART) & (self.factors.last_pivot != 0)

    def solve(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """x with A x = b."""
        return lax.cond(self.regular, lambda: self.factors.solve(b), lambda: pivoted_solve(self._dense(), b))

    def solve_transposed(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """x with A^T x = b."""
        factors = self.factors
        return lax.cond(self.regular, lambda: factors.solve_transposed(b), lambda: pivoted_solve(self._dense().T, b))

    def _dense(self) -> Float[Array, "n n"]:
        return dense_matrix(self.problem, self.gain)


def solve_in_few_instructions(problem: Problem, gain: Gain, b: Float[Array, " n"]) -> Float[Array, " n"]:
    """x with A x = b, for what seldom runs."""
    if problem.first is None:
        return pivoted_solve(dense_matrix(problem, gain), b)
    return LinearSystem.of(problem, gain).solve(b)


def dense_matrix(problem: Problem, gain: Gain) -> Float[Array, "nv nv"]:
    """1 + Y^T gain Y"""
    return _matrix(problem, gain, problem.nv)


def _identity(problem: Problem, columns: int) -> Float[Array, "nv columns"]:
    """1, to which rows are added."""
    return problem.sum(jnp.eye(problem.nv, columns, dtype=problem.reach.Y.dtype))


def _matrix(problem: Problem, gain: Gain, columns: int) -> Float[Array, "nv columns"]:
    def add(matrix, rows, reach, gain):
        return once_if(jnp.any(gain != 0), lambda matrix: reach.squared(matrix, gain), matrix), ()

    matrix, _ = problem.walk_points(add, _identity(problem, columns), gain.contacts)
    return problem.walk_others(add, matrix, gain.bounded)[0]
