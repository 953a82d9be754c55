"""Names for everything in a compiled MJCF file."""

from collections import Counter
from itertools import chain, count
from typing import NamedTuple

import mujoco

from ..model import WORLD
from .mjcf_fields import FREE, drives_joint


class Names(NamedTuple):
    """By MuJoCo's index. What the file does not name is called by its place: `torso_body2`, `torso_free`."""

    bodies: list[str]
    joints: list[str]
    actuators: list[str]


def names(model: mujoco.MjModel) -> Names:
    bodies = _body_names(model)
    joints = _joint_names(model, bodies)
    return Names(bodies, joints, _actuator_names(model, joints))


def _body_names(model: mujoco.MjModel) -> list[str]:
    bodies = [WORLD]
    taken = {model.body(i).name for i in range(model.nbody)}
    children: Counter[int] = Counter()
    for i in range(1, model.nbody):
        parent = int(model.body_parentid[i])
        children[parent] += 1
        prefix = f"{bodies[parent]}_" if parent else ""
        bodies.append(model.body(i).name or unused(f"{prefix}body{children[parent]}", taken))
    return bodies


def _joint_names(model: mujoco.MjModel, bodies: list[str]) -> list[str]:
    joints = []
    taken = {model.joint(i).name for i in range(model.njnt)}
    for i in range(model.njnt):
        body = model.jnt_bodyid[i]
        kind = "free" if model.jnt_type[i] == FREE else "joint"
        number = i - model.body_jntadr[body] + 1 if model.body_jntnum[body] > 1 else ""
        joints.append(model.joint(i).name or unused(f"{bodies[body]}_{kind}{number}", taken))
    return joints


def _actuator_names(model: mujoco.MjModel, joints: list[str]) -> list[str]:
    actuators = []
    taken = {model.actuator(i).name for i in range(len(model.actuator_trntype))}
    for i in range(len(model.actuator_trntype)):
        place = f"{joints[model.actuator_trnid[i, 0]]}_actuator" if drives_joint(model, i) else f"actuator{i + 1}"
        actuators.append(model.actuator(i).name or unused(place, taken))
    return actuators


def unused(name: str, taken: set[str]) -> str:
    """`name`, with a number if it is taken; it is taken from now on."""
    candidates = chain([name], (f"{name}_{i}" for i in count(2)))
    free = next(candidate for candidate in candidates if candidate not in taken)
    taken.add(free)
    return free
