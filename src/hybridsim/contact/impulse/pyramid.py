"""A friction pyramid. A sweep goes row by row in the order of TDS (and Bullet): all normals, all first tangents, all
second tangents."""

import jax.numpy as jnp
from jax import lax

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
        rows = problem.contacts

        def one(w, row):
            x, Y, A, b, R, low, high = row
            new = jnp.clip(x + (b - jnp.sum(Y * w) - R * x) / (A + R), low, high)
            return w + (new - x) * Y, new

        low, high = jnp.zeros_like(rows.mu), jnp.full_like(rows.mu, self.largest)
        impulses = []
        for k in range(3):
            w, new = lax.scan(
                one, w, (x.contacts[:, k], problem.Y_c[:, k], problem.A_c[:, k, k], rows.b[:, k], rows.R, low, high)
            )
            impulses.append(new)
            high = rows.mu * impulses[0]
            low = -high
        return Solution(jnp.stack(impulses, axis=1), bounded, w)

    def respond(self, rows, u, limit=COULOMB):
        y = -u / rows.R
        normal = jnp.clip(y[0], 0.0, self.largest)
        follows = jnp.where((y[0] > 0) & (y[0] < self.largest), 1 / rows.R, 0.0)
        load = limit.of(normal)
        radius = rows.mu * load
        side = jnp.where(jnp.abs(y[1:]) < radius, 0.0, jnp.sign(y[1:]))
        gain = jnp.diag(jnp.concatenate([follows[None], jnp.where(side == 0, 1 / rows.R, 0.0)]))
        with_load = jnp.pad(limit.own * rows.mu * follows * side, (1, 0))
        return Response(
            jnp.concatenate([normal[None], jnp.clip(y[1:], -radius, radius)]),
            gain + jnp.pad(with_load[:, None], ((0, 0), (0, 2))),
            jnp.pad(load * side, (1, 0)),
        )
