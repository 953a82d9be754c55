"""From forces to motion: forces, one step, many steps."""

from .control import Control
from .forces import passive_forces
from .integrators import ImplicitDamping, Integrator, RungeKutta4, SemiImplicitEuler
from .rollout import DivergedError, Policy, Rollout, rollout
from .step import acceleration, step

__all__ = [
    "Control",
    "DivergedError",
    "ImplicitDamping",
    "Integrator",
    "Policy",
    "Rollout",
    "RungeKutta4",
    "SemiImplicitEuler",
    "acceleration",
    "passive_forces",
    "rollout",
    "step",
]
