"""What each joint carries when every joint is at rest: is there inertia in every direction in which it can turn?"""

import numpy as np

from .inertial import LinkNumbers
from .model import Joints
from .topology import Topology

# Relative to all that a joint carries; a thin rod about its own axis is at 1e-4 or above.
NOTHING = 1e-12


def joints_without_inertia(topology: Topology, joints: Joints, links: list[LinkNumbers]) -> list[str]:
    """Joints whose rotation about an axis, or about some axis, moves no inertia: masses that lie on the axis."""
    poses = _poses(topology, joints)
    second, first, mass = (np.zeros((len(poses), *shape)) for shape in ((3, 3), (3,), ()))
    for i, j in enumerate(topology.link_joints):
        R, p = poses[j]
        com = p + R @ links[i].com
        second[j] += R @ links[i].tensor @ R.T + links[i].mass * _point(com)
        first[j] += links[i].mass * com
        mass[j] += links[i].mass
    for j in reversed(range(len(poses))):
        if (parent := topology.parents[j]) >= 0:
            for x in (second, first, mass):
                x[parent] += x[j]
    return [
        topology.joint_names[j]
        for j, kind in enumerate(topology.kinds)
        if kind.name in ("revolute", "continuous", "spherical", "free")
        and topology.mimics[j] < 0
        and j not in topology.mimics
        and not np.all(joints.armature[topology.v_slices[j]] > 0)
        and _smallest(kind.name, poses[j], joints, j, second[j], first[j], mass[j])
        <= NOTHING * np.trace(second[j]) + np.finfo(float).tiny
    ]


def _smallest(kind: str, pose, joints: Joints, j: int, second: np.ndarray, first: np.ndarray, mass: float) -> float:
    """The smallest moment of inertia that a rotation of joint j meets."""
    R, p = pose
    point = p if joints.anchor is None else p + R @ joints.anchor[j]
    if kind == "free":
        # It turns about the centre of mass of all that it carries.
        point = first / mass if mass > 0 else point
    cross_term = np.outer(first, point) + np.outer(point, first) - 2 * (first @ point) * np.eye(3)
    about = second + cross_term + mass * _point(point)
    if kind in ("spherical", "free"):
        return float(np.linalg.eigvalsh(about)[0])
    axis = R @ (joints.axis[j] / np.linalg.norm(joints.axis[j]))
    return float(axis @ about @ axis)


def _point(x: np.ndarray) -> np.ndarray:
    """Inertia of a unit mass at x about the origin."""
    return (x @ x) * np.eye(3) - np.outer(x, x)


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    """R v = v + 2 w (u x v) + 2 u x (u x v), for each unit vector v."""
    w, u = quaternion[0], quaternion[1:]
    turned = np.cross(u, np.eye(3))
    return (np.eye(3) + 2 * w * turned + 2 * np.cross(u, turned)).T


def _poses(topology: Topology, joints: Joints) -> list[tuple[np.ndarray, np.ndarray]]:
    poses: list[tuple[np.ndarray, np.ndarray]] = []
    for j, parent in enumerate(topology.parents):
        R, p = poses[parent] if parent >= 0 else (np.eye(3), np.zeros(3))
        poses.append((R @ _rotation(np.asarray(joints.quaternion[j])), p + R @ joints.position[j]))
    return poses
