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
        if len(x.contacts) == 0:
            return Solution(x.contacts, bounded, w)

        def one(w, point):
            x, rows, Y, A = point
            r = Y @ w + rows.R * x - rows.b
            normal = jnp.maximum(x[0] - r[0] / (A[0, 0] + rows.R), 0.0)
            r_t = r[1:] + A[1:, 0] * (normal - x[0])
            new = jnp.concatenate([normal[None], _onto_disc(x[1:] - _step(A, rows.R) * r_t, rows.mu * normal)])
            return w + (new - x) @ Y, new

        w, contacts = lax.scan(one, w, (x.contacts, problem.contacts, problem.Y_c, problem.A_c))
        return Solution(contacts, bounded, w)

    def linearise(self, rows, A, x, r):
        R, length = regular(rows.R, A[0, 0]), _step(A, rows.R)
        normal = x[0] - r[0] / (A[0, 0] + rows.R)
        closed = normal > 0
        # Friction is the projection of y onto the disc of radius mu x_n; kappa < 1 where y lies outside.
        y = x[1:] - length * r[1:]
        size, radius = safe_norm(y), rows.mu * jnp.maximum(normal, 0.0)
        sliding = closed & (size >= radius)
        direction = jnp.where(sliding, y / jnp.where(size > 0, size, 1.0), 0.0)
        kappa = radius / jnp.where(sliding & (size > 0), size, 1.0)
        turning = 1 / jnp.where(sliding, 1 - kappa + length * R * kappa, 1.0)
        along = jnp.sum(direction * x[1:])
        across = x[1:] - along * direction

        # Stuck: r is to be zero, so dx = -(r + Y dw + dr)/R. Sliding: friction follows the load, and turns with velocity.
        follows = jnp.where(closed, 1 / R, 0.0)
        step_n = jnp.where(closed, -r[0] / R, -x[0])
        slide = (rows.mu * (x[0] + step_n) - along) * direction - turning * across
        step_t = jnp.where(closed, jnp.where(sliding, slide, -r[1:] / R), -x[1:])
        own = jnp.where(sliding, length * kappa * turning, follows)
        tangential = own * (np.eye(2) - direction[:, None] * direction)
        column = jnp.concatenate([follows[None], rows.mu * follows * direction])
        gain = jnp.concatenate([column[:, None], jnp.pad(tangential, ((1, 0), (0, 0)))], axis=1)
        slip = jnp.pad(jnp.maximum(normal, 0.0) * direction, (1, 0))
        return Linear(gain, slip, jnp.concatenate([step_n[None], step_t]))


def _step(A: Float[Array, "*points 3 3"], R: Float[Array, "*points"]) -> Float[Array, "*points"]:
    # One step length for both tangents, so that a sliding contact's friction opposes its velocity exactly; the
    # largest eigenvalue of their 2 x 2 block, or a little more, makes the step stable.
    return 1 / (jnp.maximum(A[..., 1, 1], A[..., 2, 2]) + jnp.abs(A[..., 1, 2]) + R)


def _onto_disc(y, radius):
    length = safe_norm(y)
    outside = length > radius
    return jnp.where(outside, y * (radius / jnp.where(outside, length, 1.0)), y)
