"""Projected Gauss-Seidel with a friction pyramid, row by row in the order of TDS (and Bullet): all normals, all first
tangents, all second tangents."""

import jax.numpy as jnp
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

    def linearise(self, rows, A, x, r):
        R = regular(rows.R, A[0, 0])
        wanted = x - r / (jnp.diagonal(A) + rows.R)
        normal = jnp.clip(wanted[0], 0.0, self.largest)
        free = (wanted[0] > 0) & (wanted[0] < self.largest)
        follows = jnp.where(free, 1 / R, 0.0)
        stuck = jnp.abs(wanted[1:]) < rows.mu * normal
        side = jnp.where(stuck, 0.0, jnp.sign(wanted[1:]))
        step_n = jnp.where(free, -r[0] / R, normal - x[0])
        step_t = jnp.where(stuck, -r[1:] / R, side * rows.mu * (x[0] + step_n) - x[1:])
        gain = jnp.diag(jnp.concatenate([follows[None], jnp.where(stuck, 1 / R, 0.0)]))
        column = jnp.pad(rows.mu * follows * side, (1, 0))
        return Linear(
            gain + jnp.pad(column[:, None], ((0, 0), (0, 2))),
            jnp.pad(normal * side, (1, 0)),
            jnp.concatenate([step_n[None], step_t]),
        )
