"""The true friction cone. A sweep solves a contact's normal row, then both tangents together."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float

from ...spatial import Array, safe_norm
from .bounded import sweep_bounded
from .interface import Friction
from .problem import COULOMB, Problem, Response, Solution


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

    def respond(self, rows, u, limit=COULOMB):
        y = -u / rows.R
        normal = jnp.maximum(y[0], 0.0)
        follows = jnp.where(y[0] > 0, 1 / rows.R, 0.0)
        # Friction is the projection of y onto the disc: kappa < 1 where y lies outside, and the contact slides.
        load = limit.of(normal)
        size, radius = safe_norm(y[1:]), rows.mu * load
        sliding = size >= radius
        some = jnp.where(size > 0, size, 1.0)
        kappa = jnp.where(sliding, radius / some, 1.0)
        direction = jnp.where(sliding, y[1:] / some, 0.0)
        turns = kappa / rows.R * (np.eye(2) - direction[:, None] * direction)
        column = jnp.concatenate([follows[None], limit.own * rows.mu * follows * direction])
        gain = jnp.concatenate([column[:, None], jnp.pad(turns, ((1, 0), (0, 0)))], axis=1)
        return Response(jnp.concatenate([normal[None], kappa * y[1:]]), gain, jnp.pad(load * direction, (1, 0)))


def _step(A: Float[Array, "*points 3 3"], R: Float[Array, "*points"]) -> Float[Array, "*points"]:
    # One step length for both tangents, so that a sliding contact's friction opposes its velocity exactly; the
    # largest eigenvalue of their 2 x 2 block, or a little more, makes the step stable.
    return 1 / (jnp.maximum(A[..., 1, 1], A[..., 2, 2]) + jnp.abs(A[..., 1, 2]) + R)


def _onto_disc(y, radius):
    length = safe_norm(y)
    outside = length > radius
    return jnp.where(outside, y * (radius / jnp.where(outside, length, 1.0)), y)
