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


def follow_bounded(problem: Problem, x: Solution) -> tuple[Float[Array, " rows"], Float[Array, " rows"]]:
    """step and gain with dx = step - gain (Y dw + d r); a row at its bound stays there."""
    rows = problem.bounded
    R = regular(rows.R, problem.A_b)
    r = problem.Y_b @ x.w + rows.R * x.bounded - rows.b
    wanted = x.bounded - r / (problem.A_b + rows.R)
    free = (wanted > rows.low) & (wanted < rows.high)
    bound = jnp.where(wanted <= rows.low, rows.low, rows.high)
    return jnp.where(free, -r / R, jnp.where(free, 0.0, bound) - x.bounded), jnp.where(free, 1 / R, 0.0)
