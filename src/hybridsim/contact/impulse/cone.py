"""The true friction cone. A sweep solves a contact's normal row, then both tangents together."""

import jax.numpy as jnp
import numpy as np
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

        def one(w, rows, reach, x):
            A, r = reach.A, reach.along(w) + rows.R * x - rows.b
            normal = jnp.maximum(x[0] - r[0] / (A[0, 0] + rows.R), 0.0)
            r_t = r[1:] + A[1:, 0] * (normal - x[0])
            tangents = _onto_disc(x[1:] - tangential_step(A, rows.R) * r_t, rows.mu * normal)
            new = jnp.concatenate([normal[None], tangents])
            return reach.pushed(w, new - x), new

        w, contacts = problem.update_points(one, w, x.contacts)
        return Solution(contacts, bounded, w)

    def respond(self, rows, y, rho, limit=COULOMB):
        normal = jnp.maximum(y[0], 0.0)
        follows = jnp.where(y[0] > 0, 1 / rows.R, 0.0)
        # Friction is the projection of y onto the disc: kappa < 1 where y lies outside, and the contact slides.
        load = limit.of(normal)
        size, radius = safe_norm(y[1:]), rows.mu * load
        sliding = size >= radius
        some = jnp.where(size > 0, size, 1.0)
        kappa = jnp.where(sliding, radius / some, 1.0)
        direction = jnp.where(sliding, y[1:] / some, 0.0)
        # Across the direction x = kappa (x - rho r), from which x follows; it is kappa / R for rho = 1/R.
        across = kappa * rho / ((1 - kappa) + kappa * rho * rows.R)
        turns = across * (np.eye(2) - direction[:, None] * direction)
        column = jnp.concatenate([follows[None], limit.own * rows.mu * follows * direction])
        gain = jnp.concatenate([column[:, None], jnp.pad(turns, ((1, 0), (0, 0)))], axis=1)
        return Response(jnp.concatenate([normal[None], kappa * y[1:]]), gain, jnp.pad(load * direction, (1, 0)))


def tangential_step(A: Float[Array, "3 3"], R: Float[Array, ""]) -> Float[Array, ""]:
    # One step length for both tangents, so that a sliding contact's friction opposes its velocity exactly; the
    # largest eigenvalue of their 2 x 2 block, or a little more, makes the step stable.
    return 1 / (jnp.maximum(A[1, 1], A[2, 2]) + jnp.abs(A[1, 2]) + R)


def _onto_disc(y, radius):
    length = safe_norm(y)
    outside = length > radius
    return jnp.where(outside, y * (radius / jnp.where(outside, length, 1.0)), y)
