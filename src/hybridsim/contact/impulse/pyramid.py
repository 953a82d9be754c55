"""Projected Gauss-Seidel with a friction pyramid, row by row in the order of TDS (and Bullet): all normals, all first
tangents, all second tangents."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from .bounded import sweep_bounded
from .interface import Friction
from .problem import Linear, Problem, Solution, regular


class Pyramid(Friction):
    """|x_t| <= mu x_n for each of two tangents: up to sqrt(2) too much friction, and it turns with the tangents."""

    largest: float = 1e5
    """Of a normal impulse (TDS) [N s]."""

    def sweep(self, problem: Problem, x: Solution) -> Solution:
        w, bounded = sweep_bounded(problem, x)
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

    def linearise(self, problem: Problem, x: Solution) -> Linear:
        rows, x_n, x_t = problem.contacts, x.contacts[:, 0], x.contacts[:, 1:]
        R = regular(rows.R, problem.A_c[:, 0, 0])
        follows = jnp.where((x_n > 0) & (x_n < self.largest), 1 / R, 0.0)
        stuck = jnp.abs(x_t) < (rows.mu * x_n)[:, None]
        side = jnp.where(stuck, 0.0, jnp.sign(x_t))
        diagonal = jnp.concatenate([follows[:, None], jnp.where(stuck, 1 / R[:, None], 0.0)], axis=1)
        gain = diagonal[:, :, None] * np.eye(3)
        gain = gain.at[:, 1:, 0].set((rows.mu * follows)[:, None] * side)
        return Linear(gain, jnp.concatenate([jnp.zeros_like(x_n)[:, None], x_n[:, None] * side], axis=1))
