"""The complementarity problem of one step, in the coordinates w = Y^T x that all rows share.

Contact c, with impulse x = (normal, two tangents), has the velocity r = Y w + R x - b relative to what it wants:
  0 <= x_n  perpendicular to  r_n >= 0,   |x_t| <= mu x_n,   r_t opposite to x_t where |x_t| = mu x_n, else zero.
Other rows (joint limits, joint friction) have low <= x <= high, and r zero unless x is at a bound.

A row of Y has entries only at the freedoms of the row's path (`dynamics/paths.py`), and only rows that may act are there
(`slots.py`): the cost of a problem is that of what touches.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float, Int

from ...spatial import Array, Scalar, added_at, block_added_at, in_memory, row, row_added_at, rows_at
from .elimination import Elimination
from .slots import Slots

SMALLEST_SOFTNESS = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 3e-4}
"""Of a row beside what it yields alone. Below, rounding errors, magnified by as much as it is softer, spoil impulses.

Rows that are harder are solved by softer problems, one after the other. These settle slowly how redundant contacts share a
load, and so do not tell how that changes. Bodies have such rows only where a point is 30 radii of gyration from the centre
of mass.
"""
REFINEMENTS = 2
"""Problems that are solved again for rows that are harder; each makes what they yield too much smaller a billion times."""

FEW_SUMS = 100
"""Numbers that native code adds up in registers."""
SHORT = 9
"""Freedoms of a path whose square is written out."""
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


class Reach(eqx.Module):
    """How one contact, or many, moves bodies: entries of Y along its path, and A = Y Y^T of its own three rows."""

    Y: Float[Array, "*slots 3 length"]
    A: Float[Array, "*slots 3 3"]
    dofs: Any
    """Places of the path in w; NumPy's, without a leading axis, where all paths share them."""

    def along(self, w: Float[Array, " nv"]) -> Float[Array, "3"]:
        """Y w, of one contact."""
        return self.Y @ rows_at(w, self.dofs)

    def pushed(self, w: Float[Array, " nv"], x: Float[Array, "3"]) -> Float[Array, " nv"]:
        """w + Y^T x"""
        return added_at(w, self.dofs, x @ self.Y)

    def squared(self, matrix: Float[Array, "nv nv"], gain: Float[Array, "3 3"]) -> Float[Array, "nv nv"]:
        """matrix + Y^T gain Y"""
        return _block_added(matrix, self.dofs, self.Y, gain @ self.Y)


def _block_added(matrix, dofs, Y: Float[Array, "rows length"], followed: Float[Array, "rows length"]):
    """matrix + Y^T followed, at the places of a path: row by row, so that programs do not grow with the square of its length."""
    if isinstance(dofs, np.ndarray) and len(dofs) <= SHORT:
        return block_added_at(matrix, dofs, Y.T @ followed)
    dofs, Y = in_memory(dofs), in_memory(Y.T)

    def add(k, matrix):
        return row_added_at(matrix, row(dofs, k), dofs, row(Y, k) @ followed)

    return lax.fori_loop(0, len(dofs), lambda k, matrix: add(jnp.asarray(k, dtype=jnp.int32), matrix), matrix)


class BoundedReach(eqx.Module):
    """The same of rows with bounds, each alone."""

    Y: Float[Array, "*slots length"]
    A: Float[Array, "*slots"]
    dofs: Any

    def along(self, w: Float[Array, " nv"]) -> Float[Array, ""]:
        return jnp.sum(self.Y * rows_at(w, self.dofs))

    def pushed(self, w: Float[Array, " nv"], x: Float[Array, ""]) -> Float[Array, " nv"]:
        return added_at(w, self.dofs, x * self.Y)

    def squared(self, matrix: Float[Array, "nv nv"], gain: Float[Array, ""]) -> Float[Array, "nv nv"]:
        return _block_added(matrix, self.dofs, self.Y[None], gain * self.Y[None])


class Impulse(eqx.Module):
    """x of all rows, or of all slots."""

    contacts: Float[Array, "*goals points 3"]
    bounded: Float[Array, "*goals rows"]


class Gain(eqx.Module):
    """How impulses follow velocities: dx = -gain Y dw."""

    contacts: Float[Array, "slots 3 3"]
    bounded: Float[Array, " others"]


class Solution(eqx.Module):
    """Impulses by slot, and w = Y^T x."""

    contacts: Float[Array, "points 3"]
    bounded: Float[Array, " rows"]
    w: Float[Array, " nv"]

    @property
    def impulse(self) -> Impulse:
        return Impulse(self.contacts, self.bounded)


class Missing(eqx.Module):
    """How much softer each row has to be for its impulse to be told from the velocity that it leaves."""

    contacts: Float[Array, " slots"]
    bounded: Float[Array, " other_slots"]
    largest: Float[Array, ""]


class Kept(eqx.Module):
    """Impulses beside which rows that are too hard yield: a proximal point."""

    x: Impulse
    weight: Scalar
    """0 if x stands for zero."""
    part: Scalar
    """What every row yields at least, beside what it yields alone."""


class Problem(eqx.Module):
    """Rows by slot, and how they respond."""

    contacts: ContactRows
    bounded: BoundedRows
    reach: Reach
    bounded_reach: BoundedReach
    missing: Missing
    points: Slots
    others: Slots
    first: Int[Array, " nv"] | None
    """Of each freedom, the first that some row has in common with it; None where linear systems are written out."""
    kept: Kept | None = None
    """None for a problem whose rows are as hard as they are."""
    structure: Elimination = eqx.field(static=True, kw_only=True)
    """Of 1 + Y^T Y: which freedoms a row may have in common."""

    @property
    def nv(self) -> int:
        return self.structure.size

    def sum(self, start: Array) -> Array:
        """Where the parts of all rows are added up: in memory, unless all rows add to the same few places."""
        shared = isinstance(self.reach.dofs, np.ndarray) and isinstance(self.bounded_reach.dofs, np.ndarray)
        return start if shared and start.size <= FEW_SUMS else in_memory(start)

    def walk_points(self, step: Callable, start: Any, *stacks: Any) -> tuple[Any, Any]:
        """carry, out = step(carry, rows, reach, *entries of arrays by slot) for each contact that may act."""
        one, own = _one(_contact_rows, step, self.contacts, self.reach, self._more("contacts"))
        return self.points.walk(lambda carry, place, slots, _: one(carry, *slots), start, (own, stacks))

    def walk_others(self, step: Callable, start: Any, *stacks: Any) -> tuple[Any, Any]:
        """The same for rows with bounds."""
        one, own = _one(_bounded_rows, step, self.bounded, self.bounded_reach, self._more("bounded"))
        return self.others.walk(lambda carry, place, slots, _: one(carry, *slots), start, (own, stacks))

    def update_points(self, step: Callable, start: Any, state: Any) -> tuple[Any, Any]:
        """carry, entries = step(carry, rows, reach, *entries): arrays by slot are changed where they are."""
        one, own = _one(_contact_rows, step, self.contacts, self.reach, self._more("contacts"))
        return self.points.update(lambda carry, place, state, own: one(carry, own, _tupled(state)), start, state, own)

    def update_others(self, step: Callable, start: Any, state: Any) -> tuple[Any, Any]:
        """The same for rows with bounds."""
        one, own = _one(_bounded_rows, step, self.bounded, self.bounded_reach, self._more("bounded"))
        return self.others.update(lambda carry, place, state, own: one(carry, own, _tupled(state)), start, state, own)

    def _more(self, name: str) -> Any:
        if self.kept is None:
            return None
        return getattr(self.missing, name), getattr(self.kept.x, name), (self.kept.weight, self.kept.part)

    def softened(self, x: Impulse, weight: Scalar = 1.0) -> "Problem":
        """A problem without rows that are too hard; where x solves it, x solves this one (a proximal point).

        What a row yields more is given back by its target.
        """
        return replace(self, kept=Kept(x, weight, 0.0))

    def softer(self, part: Scalar) -> "Problem":
        """A softened problem in which every row yields at least this part of what it yields alone."""
        assert self.kept is not None
        return replace(self, kept=replace(self.kept, part=part))

    def together(self, x: Impulse) -> Float[Array, " nv"]:
        """Y^T x"""
        w = self.sum(jnp.zeros(self.nv, dtype=self.reach.Y.dtype))
        w, _ = self.walk_points(lambda w, rows, reach, x: (reach.pushed(w, x), ()), w, x.contacts)
        return self.walk_others(lambda w, rows, reach, x: (reach.pushed(w, x), ()), w, x.bounded)[0]


def _tupled(entries: Any) -> tuple:
    return entries if isinstance(entries, tuple) else (entries,)


def missing_softness(
    points: Slots, others: Slots, A_n: Float[Array, " slots"], A_b: Float[Array, " other_slots"], R_c, R_b
) -> Missing:
    """Given what each row yields alone (A), and its softness R."""
    least, nothing = SMALLEST_SOFTNESS[np.dtype(A_n.dtype)], jnp.zeros((), dtype=A_n.dtype)

    def largest(most, _, A, __):
        return jnp.maximum(most, A)

    # Two links whose joints are coupled may move as one: then their contact yields nothing, but for rounding.
    some = 1e-6 * others.fold(largest, points.fold(largest, nothing, A_n), A_b)

    def missing(most, _, own, __):
        A, R = own
        more = jnp.maximum(least * jnp.maximum(A, some) - R, 0.0)
        return jnp.maximum(most, more), more

    most, of_points = points.walk(missing, nothing, (A_n, R_c))
    most, of_others = others.walk(missing, most, (A_b, R_b))
    return Missing(of_points, of_others, most)


def _one(softer: Callable, step: Callable, rows, reach, more) -> tuple[Callable, Any]:
    """step(carry, rows, reach, *others) as a function of one slot's entries, and the arrays that these come from."""
    shared = isinstance(reach.dofs, np.ndarray)
    by_slot = eqx.tree_at(lambda r: r.dofs, reach, None) if shared else reach
    kept = () if more is None else more[2]

    def one(carry, own, others):
        rows, by_slot, more = own
        one_reach = type(reach)(by_slot.Y, by_slot.A, reach.dofs if shared else by_slot.dofs)
        return step(carry, rows if more is None else softer(rows, one_reach, *more, *kept), one_reach, *others)

    return one, (rows, by_slot, None if more is None else more[:2])


def _contact_rows(rows: ContactRows, reach: Reach, more, x, weight, part) -> ContactRows:
    more = jnp.maximum(more, part * reach.A[0, 0] - rows.R)
    return ContactRows(rows.b + jnp.where(weight > 0, more * x, 0.0), rows.R + more, rows.mu)


def _bounded_rows(rows: BoundedRows, reach: BoundedReach, more, x, weight, part) -> BoundedRows:
    more = jnp.maximum(more, part * reach.A - rows.R)
    return BoundedRows(rows.b + jnp.where(weight > 0, more * x, 0.0), rows.R + more, rows.low, rows.high)


class Response(eqx.Module):
    """The impulse of one contact, and how it follows: x = fixed + gain (b - Y w) near there; and by friction, slip dmu."""

    x: Float[Array, "*points 3"]
    gain: Float[Array, "*points 3 3"]
    slip: Float[Array, "*points 3"]
    fixed: Float[Array, "*points 3"] | None = None
    """None for zero."""


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
