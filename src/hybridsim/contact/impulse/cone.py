"""Projected Gauss-Seidel with the true friction cone: a contact's normal row, then both tangents together."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float

from ...spatial import Array, safe_norm
from .bounded import sweep_bounded
from .interface import Friction
from .problem import Linear, Problem, Solution, regular


class Cone(Friction):
    """|x_t| <= mu x_n: in the plane of contact the same in all directions."""

    def sweep(self, problem: Problem, x: Solution) -> Solution:
        w, bounded = sweep_bounded(problem, x)

        def one(w, point):
            x, rows, Y, A = point
            r = Y @ w + rows.R * x - rows.b
            normal = jnp.maximum(x[0] - r[0] / (A[0, 0] + rows.R), 0.0)
            r_t = r[1:] + A[1:, 0] * (normal - x[0])
            new = jnp.concatenate([normal[None], _onto_disc(x[1:] - _step(A, rows.R) * r_t, rows.mu * normal)])
            return w + (new - x) @ Y, new

        w, contacts = lax.scan(one, w, (x.contacts, problem.contacts, problem.Y_c, problem.A_c))
        return Solution(contacts, bounded, w)

    def linearise(self, problem: Problem, x: Solution) -> Linear:
        rows, x_n, x_t = problem.contacts, x.contacts[:, 0], x.contacts[:, 1:]
        R, step = regular(rows.R, problem.A_c[:, 0, 0]), _step(problem.A_c, rows.R)
        r_t = problem.Y_c[:, 1:] @ x.w + rows.R[:, None] * x_t - rows.b[:, 1:]
        # Friction is the projection of y onto the disc of radius mu x_n; kappa < 1 where y lies outside.
        y = x_t - step[:, None] * r_t
        length, radius = safe_norm(y), rows.mu * x_n
        closed, sliding = x_n > 0, length >= radius
        direction = y / jnp.where(length > 0, length, 1.0)[:, None]
        kappa = radius / jnp.where(sliding & (length > 0), length, 1.0)
        yields = step * kappa / jnp.where(sliding, 1 - kappa + step * R * kappa, 1.0)
        across = np.eye(2) - direction[:, :, None] * direction[:, None, :]
        # Stuck: r stays zero, so R dx = -(Y dw + dr). Sliding: friction follows the load and turns with the velocity.
        follows = jnp.where(closed, 1 / R, 0.0)
        tangential = jnp.where(sliding[:, None, None], yields[:, None, None] * across, np.eye(2) / R[:, None, None])
        tangential = jnp.where(closed[:, None, None], tangential, 0.0)
        dragged = jnp.where((closed & sliding)[:, None], direction, 0.0)
        column = jnp.concatenate([follows[:, None], (rows.mu * follows)[:, None] * dragged], axis=1)
        zero = jnp.zeros_like(tangential[:, :1])
        gain = jnp.concatenate([column[:, :, None], jnp.concatenate([zero, tangential], axis=1)], axis=2)
        slip = jnp.concatenate([jnp.zeros_like(x_n)[:, None], x_n[:, None] * dragged], axis=1)
        return Linear(gain, slip)


def _step(A: Float[Array, "*points 3 3"], R: Float[Array, "*points"]) -> Float[Array, "*points"]:
    # One step length for both tangents, so that a sliding contact's friction opposes its velocity exactly; the
    # largest eigenvalue of their 2 x 2 block, or a little more, makes the step stable.
    return 1 / (jnp.maximum(A[..., 1, 1], A[..., 2, 2]) + jnp.abs(A[..., 1, 2]) + R)


def _onto_disc(y, radius):
    length = safe_norm(y)
    outside = length > radius
    return jnp.where(outside, y * (radius / jnp.where(outside, length, 1.0)), y)
