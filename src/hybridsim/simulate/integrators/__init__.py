"""Integrators, one file each behind `Integrator`."""

from .implicit_damping import ImplicitDamping
from .interface import Integrator, Motion
from .runge_kutta4 import RungeKutta4
from .semi_implicit_euler import SemiImplicitEuler

__all__ = ["ImplicitDamping", "Integrator", "Motion", "RungeKutta4", "SemiImplicitEuler"]
