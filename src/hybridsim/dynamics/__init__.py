"""Rigid-body dynamics: kinematics, inverse and forward dynamics, mass matrix, energy."""

from .aba import accelerations, forward_dynamics
from .contraction import impulse_balance, momentum_balance, row_velocities
from .course import Course
from .crba import mass_matrix
from .energy import Energy, Momentum, centre_of_mass, energy, momentum
from .jacobian import jacobian
from .joints import configuration_rate, displacements, euler, move, project, turning
from .kinematics import (
    Configuration,
    Poses,
    Velocities,
    configuration,
    forward_kinematics,
    link_poses,
    link_velocities,
    velocities,
)
from .mechanism import Mechanism, assemble
from .mimic import expand_q, expand_v, reduce_force
from .paths import Path, Paths, paths
from .prescribed import hermite, velocity_between
from .response import Acting, Actions, Root, mass_root
from .rnea import bias_force, inverse_dynamics, rnea
from .wrench import Wrenches, link_forces, node_forces

__all__ = [
    "Acting",
    "Actions",
    "Configuration",
    "Course",
    "Energy",
    "Mechanism",
    "Momentum",
    "Path",
    "Paths",
    "Poses",
    "Root",
    "Velocities",
    "Wrenches",
    "accelerations",
    "assemble",
    "bias_force",
    "centre_of_mass",
    "configuration",
    "configuration_rate",
    "displacements",
    "energy",
    "euler",
    "expand_q",
    "expand_v",
    "forward_dynamics",
    "forward_kinematics",
    "hermite",
    "impulse_balance",
    "inverse_dynamics",
    "jacobian",
    "link_forces",
    "link_poses",
    "link_velocities",
    "mass_matrix",
    "mass_root",
    "momentum",
    "momentum_balance",
    "move",
    "node_forces",
    "paths",
    "project",
    "reduce_force",
    "rnea",
    "row_velocities",
    "turning",
    "velocities",
    "velocity_between",
]
