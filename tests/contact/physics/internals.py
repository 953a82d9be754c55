"""One step's contact problem, taken apart."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import hybridsim as hs
from hybridsim.contact.impulse.assemble import assemble_scene
from hybridsim.contact.impulse.near import Near
from hybridsim.contact.impulse.problem import Impulse, Problem
from hybridsim.contact.impulse.rows import StepRows
from hybridsim.contact.impulse.scene import Scene
from hybridsim.contact.impulse.slots import Slots
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
    scene: Scene
    problem: Problem
    """Of momentum, with all rows, near or far."""
    near: Near


def take_apart(model: hs.Model, q, qd, dt=1e-3, joint_friction=False, targets=of_momentum) -> Step:
    q, qd = jnp.asarray(q), jnp.asarray(qd)
    qdd, now = _accelerate(model, assemble(model), as_control(model, None), 0.0, None, unmarked, q, qd)
    free = qd + dt * (qdd + turning(model, qd))
    goals = ((0, targets),)
    scene, near, _, _ = assemble_scene(now, (free,), goals, dt, joint_friction, unmarked)
    everything = Slots.all(len(scene.table.pairs)), Slots.all(len(scene.freedoms))
    rows = StepRows.of(scene, goals, mass_root(now.mechanism, now.conf), *everything)
    return Step(now, free, scene, rows.problem(*jax.tree.map(lambda x: x[0], rows.by_goal)), near)


def no_impulses(problem: Problem) -> Impulse:
    return Impulse(jnp.zeros_like(problem.contacts.b), jnp.zeros_like(problem.bounded.b))


def responses(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Y with all its zeros: of contacts (points, 3, nv), and of other rows."""

    def spread(reach) -> np.ndarray:
        Y, dofs = np.asarray(reach.Y), np.asarray(reach.dofs)
        full = np.zeros((*Y.shape[:-1], problem.nv))
        for k in range(len(Y)):
            np.add.at(full[k].T, dofs if dofs.ndim == 1 else dofs[k], Y[k].T)
        return full

    return spread(problem.reach), spread(problem.bounded_reach)


def velocity_after(contact: hs.Impulses, step: Step, dt=1e-3):
    """With contact, still at the configuration before the step."""
    return contact.velocities(step.now, step.free, dt, unmarked, contact.memory(step.now.model))[0]
