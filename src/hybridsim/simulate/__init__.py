"""From forces to motion: forces, one step, many steps."""

from .check_contact import ContactError, check_overlaps
from .check_result import DivergedError, check_rollout, needed_to_check
from .checks import check_quaternions
from .control import Control
from .forces import passive_forces
from .integrators import ImplicitDamping, Integrator, RungeKutta4, SemiImplicitEuler
from .prescribed_motion import prescribed_motion
from .rollout import Policy, Rollout, rollout
from .spring_step import StepWarning, explosion, longest_spring_step
from .step import acceleration, initial_state, step
from .survey import Mark, names

__all__ = [
    "ContactError",
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
    "check_overlaps",
    "check_quaternions",
    "check_rollout",
    "explosion",
    "initial_state",
    "longest_spring_step",
    "names",
    "needed_to_check",
    "passive_forces",
    "prescribed_motion",
    "rollout",
    "step",
]
