"""Learned forces as curves and surfaces, over what was measured."""

from collections.abc import Sequence

import numpy as np

from .. import native
from ..data.log import Trajectory, with_velocities
from ..model import Model
from ..simulate import passive_forces
from .export import learned_force
from .menu import Entry
from .networks import LOADED, PLACED, POSITION, needs_friction
from .result import Curve
from .words import shape_of

_POINTS, _COARSE = 161, 41


def curves_of(
    hybrid: Model, explained: Model, chosen: Sequence[Entry], logs: Sequence[Trajectory]
) -> tuple[Curve, ...]:
    """Of every joint with a network: friction over velocity, or over velocity and what else it depends on; forces over position."""
    force, plain = learned_force(hybrid)
    learned = native.batch(lambda q, qd, u: force(q, qd, u) + passive_forces(plain, q, qd))
    law = native.batch(lambda q, qd: passive_forces(explained, q, qd))
    q, qd, u = _measured(hybrid, logs)
    found = []
    for joint in needs_friction(chosen):
        effects = {e.effect for e in chosen if e.where == joint}
        i, j = hybrid.q_of(joint).start, hybrid.v_of(joint).start
        top = float(np.quantile(np.abs(qd[:, j]), 0.98))
        unit, angle = _units(hybrid, joint)
        speed = f"velocity of {joint} [{angle}/s]"
        second = (u[:, j], f"command of {joint} [{unit}]") if LOADED in effects else (
            (q[:, i], f"position of {joint} [{angle}]") if PLACED in effects else None
        )  # fmt: skip
        v = np.linspace(-top, top, _POINTS)
        flat = _at(q, qd, u, len(v))
        flat[1][:, j] = v
        line = np.asarray(learned(*flat))[:, j]
        # In words what is more than damping, which the model had.
        words = shape_of(v, line + float(_damping(hybrid, joint)) * v, unit)
        if second is None:
            found.append(Curve(joint, unit, (speed,), (v,), line, np.asarray(law(*flat[:2]))[:, j], words))
            continue
        v = np.linspace(-top, top, _COARSE)
        other = _range(second[0], _COARSE)
        grid = _at(q, qd, u, _COARSE**2)
        grid[1][:, j] = np.repeat(v, _COARSE)
        grid[2 if LOADED in effects else 0][:, j if LOADED in effects else i] = np.tile(other, _COARSE)
        shape = (_COARSE, _COARSE)
        surface, flat_law = np.asarray(learned(*grid))[:, j], np.asarray(law(*grid[:2]))[:, j]
        found.append(
            Curve(joint, unit, (speed, second[1]), (v, other), surface.reshape(shape), flat_law.reshape(shape), words)
        )
    for joint in (e.where for e in chosen if e.effect == POSITION):
        i, j = hybrid.q_of(joint).start, hybrid.v_of(joint).start
        unit, angle = _units(hybrid, joint)
        where = _range(q[:, i], _POINTS)
        flat = _at(q, qd, u, _POINTS)
        flat[0][:, i], flat[1][:] = where, 0.0
        line = np.asarray(learned(*flat))[:, j]
        words = f"between {line.min():.2g} and {line.max():.2g} {unit}"
        labels = (f"position of {joint} [{angle}]",)
        found.append(Curve(joint, unit, labels, (where,), line, np.asarray(law(*flat[:2]))[:, j], words))
    return tuple(found)


def _measured(model: Model, logs: Sequence[Trajectory]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    moving = [with_velocities(log) for log in logs]
    q, qd = np.concatenate([log.q for log in moving]), np.concatenate([np.asarray(log.qd) for log in moving])
    forces = all(log.controls is not None and log.control_kind == "force" for log in moving)
    u = np.concatenate([np.asarray(log.controls) for log in moving]) if forces else np.zeros((len(q), model.nv))
    return q, qd, u


def _at(q: np.ndarray, qd: np.ndarray, u: np.ndarray, count: int) -> list[np.ndarray]:
    """So many states, all in the middle of what was measured."""
    load = np.median(np.abs(u), axis=0)
    return [np.tile(x, (count, 1)) for x in (np.median(q, axis=0), np.median(qd, axis=0), load)]


def _range(x: np.ndarray, count: int) -> np.ndarray:
    low, high = (float(end) for end in np.quantile(x, (0.02, 0.98)))
    return np.linspace(low, high, count)


def _damping(model: Model, joint: str) -> float:
    return float(np.asarray(model.joints.damping)[model.topology.own_v][model.v_of(joint)][0])


def _units(model: Model, joint: str) -> tuple[str, str]:
    slides = model.topology.kinds[model.joint_names.index(joint)].name == "prismatic"
    return ("N", "m") if slides else ("N m", "rad")
