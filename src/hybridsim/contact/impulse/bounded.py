"""Rows with bounds: joint limits and joint friction."""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from ...spatial import Array
from .problem import Problem, Solution, regular


def sweep_bounded(problem: Problem, x: Solution) -> tuple[Float[Array, " nv"], Float[Array, " rows"]]:
    """Gauss-Seidel over all rows: w and impulses."""
    if len(x.bounded) == 0:
        return x.w, x.bounded

    def one(w, row):
        x, rows, Y, A = row
        r = jnp.sum(Y * w) + rows.R * x - rows.b
        new = jnp.clip(x - r / (A + rows.R), rows.low, rows.high)
        return w + (new - x) * Y, new

    return lax.scan(one, x.w, (x.bounded, problem.bounded, problem.Y_b, problem.A_b))


def follows(problem: Problem, x: Solution) -> Float[Array, " rows"]:
    """gain with dx = -gain (Y dw + d r): zero for a row at its bound."""
    rows = problem.bounded
    free = (x.bounded > rows.low) & (x.bounded < rows.high)
    return jnp.where(free, 1 / regular(rows.R, problem.A_b), 0.0)
