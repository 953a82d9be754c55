"""The papers' integrator: new velocity from the acceleration, new position from the new velocity."""

from ...dynamics import euler
from ...model import State
from .interface import Integrator


class SemiImplicitEuler(Integrator):
    """First order. Where the mass matrix is constant it is symplectic, so that energy does not drift."""

    def __call__(self, model, acceleration, state, dt):
        return State(*euler(model, state.q, state.qd, acceleration(state.q, state.qd), dt))
