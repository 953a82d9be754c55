"""A friction pyramid. A sweep goes row by row in the order of TDS (and Bullet): all normals, all first tangents, all
second tangents."""

import jax.numpy as jnp

from .bounded import sweep_bounded
from .interface import Friction
from .problem import COULOMB, Problem, Response, Solution


class Pyramid(Friction):
    """|x_t| <= mu x_n for each of two tangents: up to sqrt(2) too much friction, and it turns with the tangents."""

    largest: float = 1e5
    """Of a normal impulse (TDS) [N s]."""

    def sweep(self, problem: Problem, x: Solution) -> Solution:
        w, bounded = sweep_bounded(problem, x)
        if len(x.contacts) == 0:
            return Solution(x.contacts, bounded, w)

        def row(k: int):
            def one(w, rows, reach, x, low, high):
                moved = jnp.clip(
                    x[k] + (rows.b[k] - reach.along(w)[k] - rows.R * x[k]) / (reach.A[k, k] + rows.R), low, high
                )
                return reach.pushed(w, jnp.zeros(3, dtype=w.dtype).at[k].set(moved - x[k])), moved

            return one

        mu = problem.contacts.mu
        low, high = jnp.zeros_like(mu), jnp.full_like(mu, self.largest)
        impulses = []
        for k in range(3):
            w, new = problem.walk_points(row(k), w, x.contacts, low, high)
            impulses.append(new)
            high = mu * impulses[0]
            low = -high
        return Solution(jnp.stack(impulses, axis=1), bounded, w)

    def respond(self, rows, y, rho, limit=COULOMB):
        normal = jnp.clip(y[0], 0.0, self.largest)
        follows = jnp.where((y[0] > 0) & (y[0] < self.largest), 1 / rows.R, 0.0)
        load = limit.of(normal)
        radius = rows.mu * load
        side = jnp.where(jnp.abs(y[1:]) < radius, 0.0, jnp.sign(y[1:]))
        gain = jnp.diag(jnp.concatenate([follows[None], jnp.where(side == 0, 1 / rows.R, 0.0)]))
        with_load = jnp.pad(limit.own * rows.mu * follows * side, (1, 0))
        x = jnp.concatenate([normal[None], jnp.clip(y[1:], -radius, radius)])
        # What is at the largest impulse, or limited by a given load, stays there.
        at_end = (normal >= self.largest) * jnp.concatenate([jnp.ones(1, dtype=y.dtype), rows.mu * side])
        return Response(
            x,
            gain + jnp.pad(with_load[:, None], ((0, 0), (0, 2))),
            jnp.pad(load * side, (1, 0)),
            self.largest * at_end,
        )
