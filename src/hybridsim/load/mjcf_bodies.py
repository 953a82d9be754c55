"""Bodies, joints and shapes of a compiled MJCF file as records.

Contact stiffness and its like (solref, solimp, margin, gap, priority) belong to MuJoCo's solver and are not read.
"""

from collections import Counter
from typing import NamedTuple

import mujoco
import numpy as np

from ..model import WORLD, Geom, Joint, Link
from .mjcf_source import Source

FREE, BALL, SLIDE, HINGE = (int(kind) for kind in mujoco.mjtJoint.__members__.values())
KINDS = {HINGE: "revolute", SLIDE: "prismatic", BALL: "spherical", FREE: "free"}
_COORDINATES = {HINGE: 1, SLIDE: 1, BALL: 4, FREE: 7}

_SHAPES = {
    int(mujoco.mjtGeom.mjGEOM_PLANE): ("plane", 0),
    int(mujoco.mjtGeom.mjGEOM_SPHERE): ("sphere", 1),
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): ("capsule", 2),
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): ("cylinder", 2),
    int(mujoco.mjtGeom.mjGEOM_BOX): ("box", 3),
    int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): ("ellipsoid", 3),
    int(mujoco.mjtGeom.mjGEOM_MESH): ("points", 0),
}


class Names(NamedTuple):
    """Of bodies and joints by MuJoCo's index, those that the file does not name made up."""

    bodies: list[str]
    joints: list[str]


def names(model: mujoco.MjModel) -> Names:
    """Unnamed things are called by their place: `torso_body2` is the second body in the torso."""
    bodies = [WORLD]
    taken = {model.body(i).name for i in range(model.nbody)}
    count: Counter[int] = Counter()
    for i in range(1, model.nbody):
        parent = int(model.body_parentid[i])
        count[parent] += 1
        prefix = f"{bodies[parent]}_" if parent else ""
        bodies.append(model.body(i).name or unused(f"{prefix}body{count[parent]}", taken))
    joints = []
    taken = {model.joint(i).name for i in range(model.njnt)}
    for i in range(model.njnt):
        body = model.jnt_bodyid[i]
        kind = "free" if model.jnt_type[i] == FREE else "joint"
        number = i - model.body_jntadr[body] + 1 if model.body_jntnum[body] > 1 else ""
        joints.append(model.joint(i).name or unused(f"{bodies[body]}_{kind}{number}", taken))
    return Names(bodies, joints)


def unused(name: str, taken: set[str]) -> str:
    """`name`, with a number if it is taken; it is taken from now on."""
    free = next(name + end for end in ["", *(f"_{i}" for i in range(2, len(taken) + 3))] if name + end not in taken)
    taken.add(free)
    return free


def read_links(source: Source, called: Names) -> list[Link]:
    m = source.model
    links = []
    for i in range(1, m.nbody):
        axes = rotation(m.body_iquat[i])
        links.append(
            Link(
                name=called.bodies[i],
                mass=float(m.body_mass[i]),
                com=m.body_ipos[i].copy(),
                inertia=axes @ np.diag(m.body_inertia[i]) @ axes.T,
                geoms=read_geoms(source, i),
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


def _joint(source: Source, j: int, name: str, parent: str, child: str, place) -> Joint:
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
        KINDS[kind],
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


def shifted(place, kind: int, axis: np.ndarray, anchor: np.ndarray, distance: float):
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


def rotors(model: mujoco.MjModel, joint: int) -> Rotors:
    """Armature and damping of a motor are seen at the joint times its gear squared (recent MuJoCo only)."""
    if not hasattr(model, "actuator_armature") or model.jnt_type[joint] not in (HINGE, SLIDE):
        return Rotors(0.0, 0.0)
    on_joint = np.isin(model.actuator_trntype, [int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)])
    motors = np.flatnonzero(on_joint & (model.actuator_trnid[:, 0] == joint))
    squares = np.array([model.actuator_gear[output_of(model, i), 0] ** 2 for i in motors])
    return Rotors(float(squares @ model.actuator_armature[motors]), float(squares @ model.actuator_damping[motors]))


def output_of(model: mujoco.MjModel, actuator: int) -> int:
    """The row of `actuator_gear`; in MuJoCo 4 an actuator may have several."""
    return int(model.actuator_outadr[actuator]) if hasattr(model, "actuator_outadr") else actuator


def read_geoms(source: Source, body: int) -> list[Geom]:
    """The collision shapes of one body. A geom that collides with nothing is only drawn."""
    m = source.model
    first, number = m.body_geomadr[body], m.body_geomnum[body]
    return [_geom(m, i) for i in range(first, first + number) if collides(source, i) and m.geom_type[i] in _SHAPES]


def collides(source: Source, geom: int) -> bool:
    m = source.model
    return bool(m.geom_contype[geom] or m.geom_conaffinity[geom]) and not source.off("contact", "constraint")


def _geom(m: mujoco.MjModel, i: int) -> Geom:
    shape, numbers = _SHAPES[m.geom_type[i]]
    return Geom(
        shape,
        size=m.geom_size[i, :numbers].copy(),
        position=m.geom_pos[i].copy(),
        quaternion=m.geom_quat[i].copy(),
        # Two shapes of contact dimension 1 slide on each other without friction.
        friction=float(m.geom_friction[i, 0]) if m.geom_condim[i] > 1 else 0.0,
        points=_hull(m, m.geom_dataid[i]) if shape == "points" else None,
        name=m.geom(i).name,
        group=(int(m.geom_contype[i]), int(m.geom_conaffinity[i])),
    )


def _hull(m: mujoco.MjModel, mesh: int) -> np.ndarray:
    """The corners of a mesh's convex hull; `mesh_graph` starts with their number and then lists them after their edges."""
    first, number = m.mesh_vertadr[mesh], m.mesh_vertnum[mesh]
    vertices = m.mesh_vert[first : first + number].astype(float)
    graph = m.mesh_graphadr[mesh]
    if graph < 0:
        return vertices
    corners = m.mesh_graph[graph]
    return vertices[m.mesh_graph[graph + 2 + corners : graph + 2 + 2 * corners]]


def rotation(quaternion: np.ndarray) -> np.ndarray:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)
