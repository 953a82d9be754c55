"""The complementarity problem of one step, in the coordinates w = Y^T x that all rows share.

Contact c, with impulse x = (normal, two tangents), has the velocity r = Y w + R x - b relative to what it wants:
  0 <= x_n  perpendicular to  r_n >= 0,   |x_t| <= mu x_n,   r_t opposite to x_t where |x_t| = mu x_n, else zero.
Other rows (joint limits, joint friction) have low <= x <= high, and r zero unless x is at a bound.
"""

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float

from ...spatial import Array

# Beside the diagonal of the Delassus matrix; used in derivatives only.
SMALLEST_SOFTNESS = 1e-9


NOTHING = -1e30
"""The target of a row that is not to act."""


class ContactRows(eqx.Module):
    """Of contact points, one after the other or one alone."""

    b: Float[Array, "*points 3"]
    R: Float[Array, "*points"]
    mu: Float[Array, "*points"]


class BoundedRows(eqx.Module):
    b: Float[Array, "*rows"]
    R: Float[Array, "*rows"]
    low: Float[Array, "*rows"]
    high: Float[Array, "*rows"]


class Rows(eqx.Module):
    """What a problem wants of its rows; several problems with the same rows are stacked."""

    contacts: ContactRows
    bounded: BoundedRows


class Problem(eqx.Module):
    """Rows, and how they respond: Y, and of every contact and every other row alone A = Y Y^T."""

    contacts: ContactRows
    bounded: BoundedRows
    Y_c: Float[Array, "points 3 nv"]
    A_c: Float[Array, "points 3 3"]
    Y_b: Float[Array, "rows nv"]
    A_b: Float[Array, " rows"]

    @classmethod
    def of(cls, rows: Rows, Y: Float[Array, "all_rows nv"]) -> "Problem":
        points = len(rows.contacts.mu)
        Y_c, Y_b = Y[: 3 * points].reshape(points, 3, Y.shape[1]), Y[3 * points :]
        _, A_c = lax.scan(lambda _, Y: (None, Y @ Y.T), None, Y_c)
        return cls(rows.contacts, rows.bounded, Y_c, A_c, Y_b, jnp.sum(Y_b * Y_b, axis=1))

    def without(self, opened: Bool[Array, " points"]) -> "Problem":
        """With some contacts that have nothing to do."""
        b = jnp.asarray(self.contacts.b).at[:, 0].set(jnp.where(opened, NOTHING, self.contacts.b[:, 0]))
        return eqx.tree_at(lambda p: p.contacts.b, self, b)

    def softened(self, least: Float[Array, ""]) -> "Problem":
        """With a softness of every row that is no less than `least` times what the row alone yields."""
        largest = jnp.max(jnp.diagonal(self.A_c, axis1=1, axis2=2), axis=1)
        R = jnp.maximum(self.contacts.R, least * largest), jnp.maximum(self.bounded.R, least * self.A_b)
        return eqx.tree_at(lambda p: (p.contacts.R, p.bounded.R), self, R)

    def together(self, contacts: Float[Array, "points 3"], bounded: Float[Array, " rows"]) -> Float[Array, " nv"]:
        """Y^T x"""

        def add(w, point):
            x, Y = point
            return w + x @ Y, None

        return lax.scan(add, bounded @ self.Y_b, (contacts, self.Y_c))[0]


class Impulse(eqx.Module):
    """x of all rows."""

    contacts: Float[Array, "*goals points 3"]
    bounded: Float[Array, "*goals rows"]

    @property
    def flat(self) -> Float[Array, " all_rows"]:
        return jnp.concatenate([self.contacts.ravel(), self.bounded])


class Solution(eqx.Module):
    """Impulses, and w = Y^T x."""

    contacts: Float[Array, "points 3"]
    bounded: Float[Array, " rows"]
    w: Float[Array, " nv"]

    @classmethod
    def of(cls, x: Impulse, Y: Float[Array, "all_rows nv"]) -> "Solution":
        return cls(x.contacts, x.bounded, x.flat @ Y)


class Linear(eqx.Module):
    """How a contact's impulse follows the others near some x: dx = step - gain (Y dw + d r at fixed w) + slip dmu."""

    gain: Float[Array, "*points 3 3"]
    slip: Float[Array, "*points 3"]
    step: Float[Array, "*points 3"]
    """To where the contact's own equations hold if w does not change: zero at a solution."""


def regular(R: Float[Array, "*rows"], A: Float[Array, "*rows"]) -> Float[Array, "*rows"]:
    """R, not so small beside A that redundant contacts, such as four feet on a floor, cannot be told apart."""
    return jnp.maximum(R, SMALLEST_SOFTNESS * A)
