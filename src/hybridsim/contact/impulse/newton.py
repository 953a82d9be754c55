"""One Newton step on all rows together: exact where no contact opens, closes, sticks or slips on the way.

Rows linearised at x obey dx = own - gain Y dw, and dw = Y^T dx + pushed, so (1 + Y^T gain Y) dw = pushed + Y^T own: a
system as large as the model has freedoms.
"""

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from ...spatial import Array
from .bounded import follow_bounded
from .interface import Friction
from .problem import Linear, Problem, Solution


class Newton(eqx.Module):
    """All rows, linearised."""

    problem: Problem
    contacts: Linear
    bounded_gain: Float[Array, " rows"]
    bounded_step: Float[Array, " rows"]
    matrix: Float[Array, "nv nv"]

    @classmethod
    def at(cls, friction: Friction, problem: Problem, x: Solution) -> "Newton":
        step, gain = follow_bounded(problem, x)

        def one(_, point):
            rows, Y, A, x_c = point
            linear = friction.linearise(rows, A, x_c, Y @ x.w + rows.R * x_c - rows.b)
            return None, (linear, linear.gain @ Y)

        _, (linear, gain_Y) = lax.scan(one, None, (problem.contacts, problem.Y_c, problem.A_c, x.contacts))
        size = 3 * len(x.contacts), len(x.w)
        matrix = jnp.eye(len(x.w), dtype=x.w.dtype) + problem.Y_c.reshape(size).T @ gain_Y.reshape(size)
        if len(gain):
            # Mostly no joint is at its limit.
            matrix = lax.cond(
                jnp.any(gain > 0), lambda: matrix + problem.Y_b.T @ (gain[:, None] * problem.Y_b), lambda: matrix
            )
        return cls(problem, linear, gain, step, matrix)

    def solve(
        self, own_c: Float[Array, "points 3"], own_b: Float[Array, " rows"], pushed: Float[Array, " nv"]
    ) -> Solution:
        """dx and dw."""
        Y_c, Y_b = self.problem.Y_c, self.problem.Y_b

        def follow(_, point):
            Y, gain, own = point
            return None, own - gain @ (Y @ dw)

        dw = jnp.linalg.solve(self.matrix, pushed + self.problem.together(own_c, own_b))
        _, contacts = lax.scan(follow, None, (Y_c, self.contacts.gain, own_c))
        return Solution(contacts, own_b - self.bounded_gain * (Y_b @ dw), dw)


def newton_step(
    friction: Friction, problem: Problem, x: Solution, careful: Bool[Array, ""]
) -> tuple[Solution, Int[Array, ""], Bool[Array, ""]]:
    """Where all rows would be solved if each stayed in its present state.

    If `careful`, only so far that no contact pulls. Also which contact is the first that would, and whether it ended
    the step.
    """
    newton = Newton.at(friction, problem, x)
    dx = newton.solve(newton.contacts.step, newton.bounded_step, jnp.zeros_like(x.w))
    first, share = _first_to_open(newton, x, dx)
    share = jnp.where(careful, share, 1.0)
    contacts, bounded = x.contacts + share * dx.contacts, x.bounded + share * dx.bounded
    # Not w + dw, which is Y^T x only up to the error of the linear system: momentum would not be kept exactly.
    return Solution(contacts, bounded, problem.together(contacts, bounded)), first, share < 1


def _first_to_open(newton: Newton, x: Solution, dx: Solution) -> tuple[Int[Array, ""], Float[Array, ""]]:
    """The closed contact whose load is used up first, and at which part of the step; 1 if none is."""
    if len(x.contacts) == 0:
        return jnp.int32(0), jnp.ones((), dtype=x.w.dtype)
    load, change = x.contacts[:, 0], dx.contacts[:, 0]
    pulls = (newton.contacts.gain[:, 0, 0] > 0) & (load + change < 0)
    share = jnp.where(pulls, jnp.maximum(load, 0.0) / jnp.where(pulls, -change, 1.0), 1.0)
    first = jnp.argmin(share).astype(jnp.int32)
    return first, share[first]
