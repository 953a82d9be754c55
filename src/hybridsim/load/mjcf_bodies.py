"""Bodies and joints of a compiled MJCF file as records."""

from typing import NamedTuple

import mujoco
import numpy as np

from ..model import Joint, Link
from .mjcf_fields import BALL, FREE, HINGE, SLIDE, Index, drives_joint, output_of
from .mjcf_geoms import read_geoms
from .mjcf_names import Names, unused
from .mjcf_source import Source

_KINDS = {HINGE: "revolute", SLIDE: "prismatic", BALL: "spherical", FREE: "free"}
_COORDINATES = {HINGE: 1, SLIDE: 1, BALL: 4, FREE: 7}


def read_links(source: Source, called: Names, concavity: float | None = None) -> list[Link]:
    m = source.model
    links = []
    for i in range(1, m.nbody):
        axes = rotation(m.body_iquat[i])
        links.append(
            Link(
                name=called.bodies[i],
                mass=float(m.body_mass[i]),
                # Without mass there is no centre; MuJoCo gives any.
                com=m.body_ipos[i].copy() if m.body_mass[i] else np.zeros(3),
                inertia=axes @ np.diag(m.body_inertia[i]) @ axes.T,
                geoms=read_geoms(source, i, concavity),
            )
        )
    return links


def read_joints(source: Source, called: Names) -> list[Joint]:
    m = source.model
    taken = set(called.joints)
    records = []
    for body in range(1, m.nbody):
        name, parent = called.bodies[body], called.bodies[m.body_parentid[body]]
        place = (m.body_pos[body].copy(), m.body_quat[body].copy())
        first, number = m.body_jntadr[body], m.body_jntnum[body]
        if number == 0:
            fixed = unused(f"{name}_fixed", taken)
            records.append(Joint(fixed, "fixed", parent, name, position=place[0], quaternion=place[1]))
        for j in range(first, first + number):
            records.append(_joint(source, j, called.joints[j], parent, name, place))
            place = (np.zeros(3), np.array([1.0, 0, 0, 0]))
    return records


def _joint(source: Source, j: Index, name: str, parent: str, child: str, place) -> Joint:
    m = source.model
    kind, dof, at = m.jnt_type[j], m.jnt_dofadr[j], m.jnt_qposadr[j]
    coordinates = slice(at, at + _COORDINATES[kind])
    scalar = kind in (HINGE, SLIDE)
    if scalar:
        place = shifted(place, kind, m.jnt_axis[j], m.jnt_pos[j], -m.qpos0[at])
    position, quaternion = place if kind != FREE else (np.zeros(3), np.array([1.0, 0, 0, 0]))
    limited = scalar and m.jnt_limited[j] and not source.off("limit", "constraint")
    lower, upper = m.jnt_range[j] if limited else (-np.inf, np.inf)
    rotor = rotors(m, j)
    return Joint(
        name,
        _KINDS[kind],
        parent,
        child,
        position=position,
        quaternion=quaternion,
        axis=m.jnt_axis[j].copy(),
        anchor=np.zeros(3) if kind == FREE else m.jnt_pos[j].copy(),
        rest=m.qpos0[coordinates].copy(),
        stiffness=0.0 if source.off("spring", "passive") else float(m.jnt_stiffness[j]),
        spring_rest=m.qpos_spring[coordinates].copy(),
        damping=0.0 if source.off("damper", "passive") else float(m.dof_damping[dof]) + rotor.damping,
        friction=0.0 if source.off("frictionloss", "constraint") else float(m.dof_frictionloss[dof]),
        armature=float(m.dof_armature[dof]) + rotor.armature,
        lower=lower,
        upper=upper,
        effort=float(np.max(np.abs(m.jnt_actfrcrange[j]))) if m.jnt_actfrclimited[j] else np.inf,
    )


def shifted(place, kind: Index, axis: np.ndarray, anchor: np.ndarray, distance: float):
    """The frame into which a joint moves a body that was at `place`: (position, quaternion).

    A joint's `ref` is the coordinate at which the body sits where the file puts it, so its zero is at -ref.
    """
    position, quaternion = place
    turn, shift = np.array([1.0, 0, 0, 0]), np.zeros(3)
    if kind == HINGE:
        mujoco.mju_axisAngle2Quat(turn, axis, distance)
        shift = anchor - rotation(turn) @ anchor
    elif kind == SLIDE:
        shift = distance * axis
    turned = np.zeros(4)
    mujoco.mju_mulQuat(turned, quaternion, turn)
    return position + rotation(quaternion) @ shift, turned


class Rotors(NamedTuple):
    """What the motors of a joint add to it."""

    armature: float
    damping: float


def rotors(model: mujoco.MjModel, joint: Index) -> Rotors:
    """Armature and damping of a motor are seen at the joint times its gear squared (recent MuJoCo only)."""
    if not hasattr(model, "actuator_armature") or model.jnt_type[joint] not in (HINGE, SLIDE):
        return Rotors(0.0, 0.0)
    motors = [i for i, target in enumerate(model.actuator_trnid[:, 0]) if target == joint and drives_joint(model, i)]
    squares = np.array([model.actuator_gear[output_of(model, i), 0] ** 2 for i in motors])
    return Rotors(float(squares @ model.actuator_armature[motors]), float(squares @ model.actuator_damping[motors]))


def rotation(quaternion: np.ndarray) -> np.ndarray:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)
