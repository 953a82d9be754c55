"""From forces to motion: forces, one step, many steps."""

from .control import Control
from .forces import passive_forces
from .integrators import ImplicitDamping, Integrator, RungeKutta4, SemiImplicitEuler
from .prescribed_motion import prescribed_motion
from .rollout import DivergedError, Policy, Rollout, rollout
from .spring_step import StepWarning, explosion, longest_spring_step
from .step import acceleration, initial_state, step
from .survey import Mark, names

__all__ = [
    "Control",
    "DivergedError",
    "ImplicitDamping",
    "Integrator",
    "Mark",
    "Policy",
    "Rollout",
    "RungeKutta4",
    "SemiImplicitEuler",
    "StepWarning",
    "acceleration",
    "explosion",
    "initial_state",
    "longest_spring_step",
    "names",
    "passive_forces",
    "prescribed_motion",
    "rollout",
    "step",
]
