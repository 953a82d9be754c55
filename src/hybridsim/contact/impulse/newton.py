"""The problem as one equation for w, and its linearisation.

Since every row yields a little (R > 0), its impulse is a function of w alone: x(w) solves the row's own conditions at the
velocity u = Y w - b. So the whole problem is F(w) = w - Y^T x(w) = 0, as large as the model has freedoms, however many
contacts there are. F is piecewise smooth, with the derivative 1 + Y^T gain Y.
"""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ...spatial import Array, once_if
from .bounded import respond_bounded
from .interface import Friction
from .problem import COULOMB, Gain, Impulse, Limit, Problem, Response, Solution


class Newton(eqx.Module):
    """All rows at some w, and how they follow."""

    problem: Problem
    contacts: Response
    bounded: Float[Array, " rows"]
    bounded_gain: Float[Array, " rows"]
    residual: Float[Array, " nv"]
    """F"""

    @classmethod
    def at(cls, friction: Friction, problem: Problem, w: Float[Array, " nv"], limit: Limit = COULOMB) -> "Newton":
        """Linearise at w. `limit` has one load for each slot."""

        def of_point(total, rows, reach, *given):
            response = friction.respond(rows, (rows.b - reach.along(w)) / rows.R, 1 / rows.R, _limit(limit, given))
            return _acts(total, reach, response.x), Response(response.x, response.gain, response.slip)

        def of_other(total, rows, reach):
            x, gain = respond_bounded(rows, (rows.b - reach.along(w)) / rows.R)
            return _acts(total, reach, x), (x, gain)

        total, contacts = problem.walk_points(of_point, problem.sum(w), *_given(limit))
        total, (bounded, gain) = problem.walk_others(of_other, total)
        return cls(problem, contacts, bounded, gain, total)

    @property
    def gain(self) -> Gain:
        return Gain(self.contacts.gain, self.bounded_gain)


def _acts(total: Array, reach, x) -> Array:
    """F with what one row adds. Most rows are open and cost no more than this test."""
    return once_if(jnp.any(x != 0), lambda total: reach.pushed(total, -x), total)


def residual(
    friction: Friction, problem: Problem, w: Float[Array, " nv"], limit: Limit = COULOMB
) -> Float[Array, " nv"]:
    """F(w)"""

    def of_point(total, rows, reach, *given):
        y = (rows.b - reach.along(w)) / rows.R
        x = friction.respond(rows, y, 1 / rows.R, _limit(limit, given)).x
        return _acts(total, reach, x), ()

    def of_other(total, rows, reach):
        x, _ = respond_bounded(rows, (rows.b - reach.along(w)) / rows.R)
        return reach.pushed(total, -x), ()

    total, _ = problem.walk_points(of_point, problem.sum(w), *_given(limit))
    return problem.walk_others(of_other, total)[0]


def loads_at(friction: Friction, problem: Problem, w: Float[Array, " nv"]) -> Float[Array, " slots"]:
    """Normal impulses of x(w)."""

    def one(_, rows, reach):
        return (), friction.respond(rows, (rows.b - reach.along(w)) / rows.R, 1 / rows.R).x[0]

    return problem.walk_points(one, ())[1]


def follow_on(problem: Problem, gain: Gain, x: Impulse, dw: Float[Array, " nv"]) -> tuple[Impulse, Gain]:
    """x - gain Y dw where x is, and the gain."""

    def of_point(_, rows, reach, x, gain):
        return (), (x - gain @ reach.along(dw), gain)

    def of_other(_, rows, reach, x, gain):
        return (), (x - gain * reach.along(dw), gain)

    _, (contacts, gain_c) = problem.update_points(of_point, (), (x.contacts, gain.contacts))
    _, (bounded, gain_b) = problem.update_others(of_other, (), (x.bounded, gain.bounded))
    return Impulse(contacts, bounded), Gain(gain_c, gain_b)


def copied(problem: Problem, to: Impulse, x: Impulse) -> Impulse:
    """x in the memory of another."""
    contacts = problem.points.update(lambda _, __, ___, x: ((), x), (), to.contacts, x.contacts)[1]
    return Impulse(contacts, problem.others.update(lambda _, __, ___, x: ((), x), (), to.bounded, x.bounded)[1])


def followed(problem: Problem, gain: Gain, own: Impulse, dw: Float[Array, " nv"]) -> Impulse:
    """dx = own - gain Y dw, of all rows."""

    def of_point(_, rows, reach, gain, own):
        return (), own - gain @ reach.along(dw)

    def of_other(_, rows, reach, gain, own):
        return (), own - gain * reach.along(dw)

    _, contacts = problem.walk_points(of_point, (), gain.contacts, own.contacts)
    return Impulse(contacts, problem.walk_others(of_other, (), gain.bounded, own.bounded)[1])


def corrected(problem: Problem, solve: Callable[[Array], Array], gain: Gain, x: Impulse, w: Array) -> Solution:
    """x after one more Newton step from where x = x(w), given how to solve its linear system.

    x(w) divides the rounding error of u by a small R, and friction would inherit it from the load. A last step for x
    has no such error: what it adds to the loads is what makes w = Y^T x hold.
    """
    dw = solve(problem.together(x) - w)
    x = followed(problem, gain, x, dw)
    return Solution(x.contacts, x.bounded, problem.together(x))


def _given(limit: Limit) -> tuple:
    return () if isinstance(limit.given, float) else (limit.given,)


def _limit(limit: Limit, given: tuple) -> Limit:
    return Limit(limit.own, given[0]) if given else limit
