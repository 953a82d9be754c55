"""Rows with bounds: joint limits and joint friction."""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from ...spatial import Array
from .problem import BoundedRows, regular


def sweep_bounded(
    rows: BoundedRows, w: Float[Array, " nv"], x: Float[Array, " rows"]
) -> tuple[Float[Array, " nv"], Float[Array, " rows"]]:
    """Gauss-Seidel over all rows."""
    if len(rows.b) == 0:
        return w, x

    def one(w, row):
        x, row = row
        r = jnp.sum(row.Y * w) + row.R * x - row.b
        new = jnp.clip(x - r / (row.A + row.R), row.low, row.high)
        return w + (new - x) * row.Y, new

    return lax.scan(one, w, (x, rows))


def follows(rows: BoundedRows, x: Float[Array, " rows"]) -> Float[Array, " rows"]:
    """gain with dx = -gain (Y dw + d r): zero for a row at its bound."""
    return jnp.where((x > rows.low) & (x < rows.high), 1 / regular(rows), 0.0)
