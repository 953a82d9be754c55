"""The complementarity problem of one step, in the coordinates w = Y^T x that all rows share.

Contact c, with impulse x = (normal, two tangents), has the velocity r = Y w + R x - b relative to what it wants:
  0 <= x_n  perpendicular to  r_n >= 0,   |x_t| <= mu x_n,   r_t opposite to x_t where |x_t| = mu x_n, else zero.
Other rows (joint limits, joint friction) have low <= x <= high, and r zero unless x is at a bound.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ...spatial import Array

# Beside the diagonal of the Delassus matrix; used in derivatives only.
SMALLEST_SOFTNESS = 1e-9


class ContactRows(eqx.Module):
    Y: Float[Array, "points 3 nv"]
    A: Float[Array, "points 3 3"]
    """Y Y^T of each point alone."""
    b: Float[Array, "points 3"]
    R: Float[Array, " points"]
    mu: Float[Array, " points"]


class BoundedRows(eqx.Module):
    Y: Float[Array, "rows nv"]
    A: Float[Array, " rows"]
    b: Float[Array, " rows"]
    R: Float[Array, " rows"]
    low: Float[Array, " rows"]
    high: Float[Array, " rows"]


class Problem(eqx.Module):
    contacts: ContactRows
    bounded: BoundedRows


class Solution(eqx.Module):
    """Impulses, and w = Y^T x."""

    contacts: Float[Array, "points 3"]
    bounded: Float[Array, " rows"]
    w: Float[Array, " nv"]


class Linear(eqx.Module):
    """How impulses follow their rows near a solution: dx = -gain (Y dw + d r at fixed w) + slip dmu."""

    gain: Float[Array, "points 3 3"]
    slip: Float[Array, "points 3"]


def at_rest(problem: Problem) -> Solution:
    """No impulses."""
    c, b = problem.contacts, problem.bounded
    return Solution(jnp.zeros_like(c.b), jnp.zeros_like(b.b), jnp.zeros(c.Y.shape[-1], dtype=c.Y.dtype))


def regular(rows: ContactRows | BoundedRows) -> Float[Array, " rows"]:
    """R, not so small beside A that redundant contacts, such as four feet on a floor, cannot be told apart."""
    A = rows.A[:, 0, 0] if rows.A.ndim == 3 else rows.A
    return jnp.maximum(rows.R, SMALLEST_SOFTNESS * A)
