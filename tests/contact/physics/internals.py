"""One step's contact problem, taken apart."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

import hybridsim as hs
from hybridsim.contact.impulse.assemble import Assembly, assemble_rows
from hybridsim.contact.impulse.problem import Problem, Solution
from hybridsim.contact.impulse.targets import of_momentum
from hybridsim.contact.interface import Moment
from hybridsim.dynamics import assemble, mass_root, turning
from hybridsim.model.names import unmarked
from hybridsim.simulate.control import as_control
from hybridsim.simulate.step import _accelerate


class Step(NamedTuple):
    now: Moment
    free: np.ndarray
    """Velocity after the step without contact."""
    assembly: Assembly
    problem: Problem
    """Of momentum."""
    Y: np.ndarray


def take_apart(model: hs.Model, q, qd, dt=1e-3, joint_friction=False, targets=of_momentum) -> Step:
    q, qd = jnp.asarray(q), jnp.asarray(qd)
    qdd, now = _accelerate(model, assemble(model), as_control(model, None), 0.0, None, unmarked, q, qd)
    free = qd + dt * (qdd + turning(model, qd))
    assembly = assemble_rows(now, free, dt, joint_friction, unmarked)
    Y = mass_root(now.mechanism, now.conf).rows(assembly.actions())
    return Step(now, free, assembly, Problem.of(assembly.rows(targets), Y), Y)


def no_impulses(problem: Problem) -> Solution:
    w = jnp.zeros(problem.Y_b.shape[1])
    return Solution(jnp.zeros_like(problem.contacts.b), jnp.zeros_like(problem.bounded.b), w)


def velocity_after(contact: hs.Impulses, step: Step, dt=1e-3):
    """With contact, still at the configuration before the step."""
    return contact.velocities(step.now, step.free, dt, unmarked, contact.memory(step.now.model))[0]
