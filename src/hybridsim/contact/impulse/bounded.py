"""Rows with bounds: joint limits and joint friction."""

import jax.numpy as jnp
from jaxtyping import Float

from ...spatial import Array, Scalar
from .problem import BoundedRows, Problem, Solution


def sweep_bounded(problem: Problem, x: Solution) -> tuple[Float[Array, " nv"], Float[Array, " rows"]]:
    """Gauss-Seidel over all rows: w and impulses."""
    if len(x.bounded) == 0:
        return x.w, x.bounded

    def one(w, rows, reach, x):
        r = reach.along(w) + rows.R * x - rows.b
        new = jnp.clip(x - r / (reach.A + rows.R), rows.low, rows.high)
        return reach.pushed(w, new - x), new

    return problem.update_others(one, x.w, x.bounded)


def respond_bounded(rows: BoundedRows, y: Scalar) -> tuple[Scalar, Scalar]:
    """The impulse x nearest to y within the bounds, and gain with dx = -gain du; a row at its bound stays there."""
    return jnp.clip(y, rows.low, rows.high), jnp.where((y > rows.low) & (y < rows.high), 1 / rows.R, 0.0)
