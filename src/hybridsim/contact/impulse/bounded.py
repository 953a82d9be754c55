"""Rows with bounds: joint limits and joint friction."""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from ...spatial import Array
from .problem import Problem, Solution


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


def respond_bounded(problem: Problem, w: Float[Array, " nv"]) -> tuple[Float[Array, " rows"], Float[Array, " rows"]]:
    """Impulses x, and gain with dx = -gain du; a row at its bound stays there."""
    rows = problem.bounded
    y = -(problem.Y_b @ w - rows.b) / rows.R
    x = jnp.clip(y, rows.low, rows.high)
    return x, jnp.where((y > rows.low) & (y < rows.high), 1 / rows.R, 0.0)
