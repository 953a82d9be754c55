"""Rigid-body dynamics: kinematics, inverse and forward dynamics, mass matrix, energy."""

from .aba import accelerations, forward_dynamics
from .crba import mass_matrix
from .energy import Energy, Momentum, centre_of_mass, energy, momentum
from .jacobian import jacobian
from .joints import configuration_rate, displacements, euler, project, turning
from .kinematics import Poses, forward_kinematics
from .mechanism import Mechanism, assemble
from .mimic import expand_q, expand_v, reduce_force
from .rnea import bias_force, inverse_dynamics
from .wrench import Wrenches

__all__ = [
    "Energy",
    "Mechanism",
    "Momentum",
    "Poses",
    "Wrenches",
    "accelerations",
    "assemble",
    "bias_force",
    "centre_of_mass",
    "configuration_rate",
    "displacements",
    "energy",
    "euler",
    "expand_q",
    "expand_v",
    "forward_dynamics",
    "forward_kinematics",
    "inverse_dynamics",
    "jacobian",
    "mass_matrix",
    "momentum",
    "project",
    "reduce_force",
    "turning",
]
