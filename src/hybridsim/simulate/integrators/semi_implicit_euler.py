"""The papers' integrator: new velocity from the acceleration, new position from the new velocity."""

from .interface import Integrator


class SemiImplicitEuler(Integrator):
    """First order. Where the mass matrix is constant it is symplectic, so that energy does not drift."""

    def __call__(self, model, motion, state, dt):
        return motion.first_order(state, dt)
