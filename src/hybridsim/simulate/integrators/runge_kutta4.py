"""The classical Runge-Kutta method on (q, qd), quaternions brought back to unit length at the end.

In the space of plain numbers dq/dt = rate(q, qd) is smooth and keeps the length of quaternions, so the
method has its full order; the projection only moves the result by its own error.
"""

import jax

from ...dynamics import configuration_rate, project
from ...model import State
from .interface import Integrator


class RungeKutta4(Integrator):
    """Fourth order."""

    def __call__(self, model, motion, state, dt):
        if motion.impulsive:
            raise ValueError(
                "RungeKutta4 integrates forces, but this model has contacts or joint limits that act by impulses; "
                "give contact=hs.Springs(), contact=None to leave them out, or integrator=hs.SemiImplicitEuler()"
            )

        def slope(part, q, qd):
            return configuration_rate(model, q, qd), motion.acceleration(q, qd, part)

        def moved(slope, h):
            return jax.tree.map(lambda x, dx: x + h * dx, tuple(state), slope)

        k1 = slope(0.0, state.q, state.qd)
        k2 = slope(0.5, *moved(k1, dt / 2))
        k3 = slope(0.5, *moved(k2, dt / 2))
        k4 = slope(1.0, *moved(k3, dt))
        mean = jax.tree.map(lambda a, b, c, d: (a + 2 * b + 2 * c + d) / 6, k1, k2, k3, k4)
        q, qd = moved(mean, dt)
        return State(project(model, q), qd, state.memory)
