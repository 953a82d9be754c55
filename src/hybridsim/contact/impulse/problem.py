"""The complementarity problem of one step, in the coordinates w = Y^T x that all rows share.

Contact c, with impulse x = (normal, two tangents), has the velocity r = Y w + R x - b relative to what it wants:
  0 <= x_n  perpendicular to  r_n >= 0,   |x_t| <= mu x_n,   r_t opposite to x_t where |x_t| = mu x_n, else zero.
Other rows (joint limits, joint friction) have low <= x <= high, and r zero unless x is at a bound.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float

from ...spatial import Array, Scalar

SMALLEST_SOFTNESS = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 3e-4}
"""Of a row beside what it yields alone. Below, rounding errors, magnified by as much as it is softer, spoil impulses.

Rows that are harder are solved by softer problems, one after the other. These settle slowly how redundant contacts share a
load, and so do not tell how that changes. Bodies have such rows only where a point is 30 radii of gyration from the centre
of mass.
"""
REFINEMENTS = 2
"""Problems that are solved again for rows that are harder; each makes what they yield too much smaller a billion times."""

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

    def missing_softness(self) -> tuple[Float[Array, " points"], Float[Array, " rows"]]:
        """How much softer each row has to be for its impulse to be told from the velocity that it leaves."""
        least = SMALLEST_SOFTNESS[np.dtype(self.Y_c.dtype)]
        A_n = self.A_c[:, 0, 0]
        # Two links whose joints are coupled may move as one: then their contact yields nothing, but for rounding.
        some = 1e-6 * jnp.max(jnp.concatenate([A_n, self.A_b]))
        return (
            jnp.maximum(least * jnp.maximum(A_n, some) - self.contacts.R, 0.0),
            jnp.maximum(least * jnp.maximum(self.A_b, some) - self.bounded.R, 0.0),
        )

    def softened(self, x: "Impulse") -> "Problem":
        """A problem without rows that are too hard; where x solves it, x solves this one (a proximal point).

        What a row yields more is given back by its target.
        """
        more_c, more_b = self.missing_softness()
        rows_c, rows_b = self.contacts, self.bounded
        new = (
            rows_c.R + more_c,
            rows_c.b + more_c[:, None] * x.contacts,
            rows_b.R + more_b,
            rows_b.b + more_b * x.bounded,
        )
        return eqx.tree_at(lambda p: (p.contacts.R, p.contacts.b, p.bounded.R, p.bounded.b), self, new)

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


class Response(eqx.Module):
    """The impulse of one contact at the velocity u = Y w - b, and how it follows: dx = -gain du + slip dmu."""

    x: Float[Array, "*points 3"]
    gain: Float[Array, "*points 3 3"]
    slip: Float[Array, "*points 3"]


class Limit(eqx.Module):
    """The normal impulse that limits a contact's friction: its own (Coulomb), or one that is given (Tresca).

    With Tresca's friction a problem is a convex minimisation, which Newton's method solves from anywhere; with
    Coulomb's it is none.
    """

    own: Scalar
    """1 for Coulomb, 0 for Tresca."""
    given: Float[Array, "*points"] | float

    def of(self, normal: Float[Array, ""]) -> Float[Array, ""]:
        """The impulse."""
        return self.own * normal + (1 - self.own) * self.given


COULOMB = Limit(1.0, 0.0)
