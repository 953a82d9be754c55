"""The problem as one equation for w, and its linearisation.

Since every row yields a little (R > 0), its impulse is a function of w alone: x(w) solves the row's own conditions at the
velocity u = Y w - b. So the whole problem is F(w) = w - Y^T x(w) = 0, as large as the model has freedoms, however many
contacts there are. F is piecewise smooth, with the derivative 1 + Y^T gain Y.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float

from ...spatial import Array
from .bounded import respond_bounded
from .interface import Friction
from .problem import COULOMB, Limit, Problem, Response, Solution


class Newton(eqx.Module):
    """All rows at some w, and how they follow."""

    problem: Problem
    contacts: Response
    bounded: Float[Array, " rows"]
    bounded_gain: Float[Array, " rows"]
    residual: Float[Array, " nv"]
    """F"""
    matrix: Float[Array, "nv nv"]

    @classmethod
    def at(cls, friction: Friction, problem: Problem, w: Float[Array, " nv"], limit: Limit = COULOMB) -> "Newton":
        """Linearise at w. `limit` has one load for each contact."""

        def one(sums, point):
            rows, Y, given = point
            response = friction.respond(rows, Y @ w - rows.b, Limit(limit.own, given))

            def acts():
                total, matrix = sums
                return total - response.x @ Y, matrix + Y.T @ (response.gain @ Y)

            # Most contacts are open and cost no more than this test.
            acting = jnp.any(response.x != 0) | jnp.any(response.gain != 0)
            return lax.cond(acting, acts, lambda: sums), response

        bounded, gain = respond_bounded(problem, w)
        start = w - bounded @ problem.Y_b, jnp.eye(len(w), dtype=w.dtype)
        points = problem.contacts, problem.Y_c, _given(limit, problem)
        (total, matrix), contacts = lax.scan(one, start, points)
        if len(gain):
            # Mostly no joint is at its limit.
            matrix = lax.cond(
                jnp.any(gain > 0), lambda: matrix + problem.Y_b.T @ (gain[:, None] * problem.Y_b), lambda: matrix
            )
        return cls(problem, contacts, bounded, gain, total, matrix)

    def solve(
        self, own_c: Float[Array, "points 3"], own_b: Float[Array, " rows"], pushed: Float[Array, " nv"]
    ) -> Solution:
        """dx and dw of dx = own - gain Y dw, dw = Y^T dx + pushed."""
        Y_c, Y_b = self.problem.Y_c, self.problem.Y_b

        def follow(_, point):
            Y, gain, own = point
            return None, own - gain @ (Y @ dw)

        dw = jnp.linalg.solve(self.matrix, pushed + self.problem.together(own_c, own_b))
        _, contacts = lax.scan(follow, None, (Y_c, self.contacts.gain, own_c))
        return Solution(contacts, own_b - self.bounded_gain * (Y_b @ dw), dw)


def predicted(friction: Friction, problem: Problem, x: Solution) -> Float[Array, " nv"]:
    """w by one Newton step from impulses of a similar problem: that of the contacts that stuck, slid and were open in it.

    x(w) at their own w would say little of it: rows are so hard that a small change of w opens or closes them.
    """

    def one(sums, point):
        rows, Y, x = point
        # A little more than the impulse, so that what slid slides.
        response = friction.respond(rows, -rows.R * x * np.array([1.0, 1 + 1e-6, 1 + 1e-6]))

        def acts():
            right, matrix = sums
            own = x + response.gain @ (rows.b - rows.R * x)
            return right + own @ Y, matrix + Y.T @ (response.gain @ Y)

        return lax.cond(jnp.any(x != 0), acts, lambda: sums), None

    rows, x_b = problem.bounded, x.bounded
    gain = jnp.where((x_b > rows.low) & (x_b < rows.high), 1 / rows.R, 0.0)
    right = (x_b + gain * (rows.b - rows.R * x_b)) @ problem.Y_b
    start = right, jnp.eye(len(x.w), dtype=x.w.dtype) + problem.Y_b.T @ (gain[:, None] * problem.Y_b)
    right, matrix = lax.scan(one, start, (problem.contacts, problem.Y_c, x.contacts))[0]
    return jnp.linalg.solve(matrix, right)


def residual(
    friction: Friction, problem: Problem, w: Float[Array, " nv"], limit: Limit = COULOMB
) -> Float[Array, " nv"]:
    """F(w)"""

    def one(total, point):
        rows, Y, given = point
        x = friction.respond(rows, Y @ w - rows.b, Limit(limit.own, given)).x
        return lax.cond(jnp.any(x != 0), lambda: total - x @ Y, lambda: total), None

    bounded, _ = respond_bounded(problem, w)
    points = problem.contacts, problem.Y_c, _given(limit, problem)
    return lax.scan(one, w - bounded @ problem.Y_b, points)[0]


def loads_at(friction: Friction, problem: Problem, w: Float[Array, " nv"]) -> Float[Array, " points"]:
    """Normal impulses of x(w)."""

    def one(_, point):
        rows, Y = point
        return None, friction.respond(rows, Y @ w - rows.b).x[0]

    return lax.scan(one, None, (problem.contacts, problem.Y_c))[1]


def _given(limit: Limit, problem: Problem) -> Float[Array, " points"]:
    return jnp.broadcast_to(jnp.asarray(limit.given, dtype=problem.Y_c.dtype), problem.contacts.mu.shape)
