"""From what was found to networks with physical structure: friction can only brake, a force of position has a potential."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .. import native
from ..augment import MLP, Augment, Blueprint, Bounded, Conservative, Input, normalised
from ..augment.entities import exactly
from ..contact import Contact
from ..data.log import Trajectory, with_velocities
from ..model import Model
from .library import COUPLING, TERMS, one_freedom_joints, terms_of
from .menu import FRICTION, Entry

DRAG, ONE_SIDED, LOADED, PLACED, POSITION = TERMS
_FRICTION_INPUTS = {
    FRICTION: ("joint.velocity",),
    DRAG: ("joint.velocity",),
    ONE_SIDED: ("joint.velocity",),
    LOADED: ("joint.velocity", "joint.command"),
    PLACED: ("joint.velocity", "joint.position"),
}
"""Of effects that are friction, on what its coefficient depends."""
_RANGE = 0.95
"""Friction is the fitted constant times 1 + y with |y| below this: always positive, so that it always brakes."""
_STATES = 4000


def needs_friction(chosen: Sequence[Entry]) -> tuple[str, ...]:
    """Joints whose friction is shaped by a network, and which therefore need a constant to begin with."""
    return tuple(dict.fromkeys(e.where for e in chosen if e.effect in _FRICTION_INPUTS))


def network_for(
    model: Model,
    chosen: Sequence[Entry],
    logs: Sequence[Trajectory],
    hidden: tuple[int, ...],
    contact: Contact | None,
    described: Model | None = None,
) -> Model | None:
    """The model with a network for every force that was found, each still zero; None where none is needed.

    `described`: the same model with the terms of the library that were found, by which friction gets its usual size.
    """
    network = MLP(hidden, "tanh")
    augments = []
    frictions: dict[tuple[str, ...], list[str]] = {}
    for joint in needs_friction(chosen):
        inputs = dict.fromkeys(name for e in chosen if e.where == joint for name in _FRICTION_INPUTS.get(e.effect, ()))
        frictions.setdefault(tuple(inputs), []).append(joint)
    for inputs, joints in frictions.items():
        augments.append(Augment("joint.friction", inputs, Bounded(network, _RANGE), exactly(joints), mode="scale"))
    placed = [e.where for e in chosen if e.effect == POSITION]
    if placed:
        augments.append(Augment("joint.passive_force", "joint.position", Conservative(network), exactly(placed)))
    for joint in (e.where for e in chosen if e.effect == COUPLING):
        others = [j for j in model.joint_names if j != joint and model.v_of(j).stop - model.v_of(j).start == 1]
        inputs = [Input(f"joint.{what}", exactly([j])) for j in others for what in ("position", "velocity")]
        limit = 3 * float(_force_size(logs))
        augments.append(Augment("joint.passive_force", inputs, Bounded(network, limit), exactly([joint])))
    if not augments:
        return None
    if described is not None:
        model = _with_usual_friction(model, described, needs_friction(chosen), logs)
    hybrid = Blueprint(*augments).graft(model, key=0, contact=contact)
    q, qd, controls = _states(logs)
    sizes = {"joint.friction": 1.0} if frictions else {}
    if placed or len(augments) > len(frictions) + bool(placed):
        sizes["joint.passive_force"] = 0.1 * _force_size(logs)
    return normalised(hybrid, (q, qd), controls, sizes, contact)


def _with_usual_friction(model: Model, described: Model, joints: Sequence[str], logs: Sequence[Trajectory]) -> Model:
    """With constants of friction in the middle of what the found terms make of them, so that a network, which changes them
    by a bounded factor, can reach all of it: a gear's friction without a load is far below what it is with one."""
    terms = terms_of(described)
    all_joints, forces = one_freedom_joints(model), native.batch(terms)
    at_q, at_v = [model.q_of(j).start for j in all_joints], [model.v_of(j).start for j in all_joints]
    q, _, controls = _states(logs)
    loads = [np.asarray(controls)[:, at_v]] if terms.driven else []
    friction = np.array(model.joints.friction, dtype=float)
    for joint in joints:
        own, i = int(model.topology.own_v[model.v_of(joint).start]), all_joints.index(joint)
        qd = np.zeros((len(q), len(all_joints)))
        # As slow as friction can be and be whole, so that what grows with speed is not counted.
        qd[:, i] = 3 * terms.scales.friction_speed[i]
        forth, back = (np.concatenate([q[:, at_q], v, *loads], axis=1) for v in (qd, -qd))
        extra = 0.5 * (np.asarray(forces(back)) - np.asarray(forces(forth)))[:, i]
        low, high = np.quantile(extra, (0.02, 0.98))
        friction[own] = max(friction[own] + 0.5 * float(low + high), 0.1 * friction[own])
    return replace(model, joints=replace(model.joints, friction=friction))


def _states(logs: Sequence[Trajectory]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Measured states, some thousand of them."""
    moving = [with_velocities(log) for log in logs]
    every = max(1, sum(map(len, moving)) // _STATES)
    q = np.concatenate([log.q[::every] for log in moving])
    qd = np.concatenate([np.asarray(log.qd)[::every] for log in moving])
    driven = all(log.controls is not None for log in moving)
    return q, qd, np.concatenate([np.asarray(log.controls)[::every] for log in moving]) if driven else None


def _force_size(logs: Sequence[Trajectory]) -> float:
    """Of the controls [N m or N]; 1 where there are none."""
    controls = [np.asarray(log.controls) for log in logs if log.controls is not None]
    return float(np.sqrt(np.mean(np.concatenate(controls) ** 2))) or 1.0 if controls else 1.0
