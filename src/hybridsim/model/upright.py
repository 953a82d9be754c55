"""Pairs of a cylinder and an extruded shape that stand side by side, whatever their joints do: pushing on a table."""

from collections.abc import Iterable

import numpy as np
from jax.core import Tracer

from .geometry import Geometry
from .model import Joints
from .topology import Topology

EXTRUDED = ("prism", "elliptic")
_KEEP_ALL = ("fixed", "prismatic")
"""Kinds of joint that turn nothing."""
_KEEP_AXIS = ("revolute", "continuous", "planar")
"""Kinds of joint that turn about their axis only."""
_PARALLEL = 1e-6
"""Sine of the angle below which two axes are parallel: to the precision of numbers written in files."""


def upright_pairs(
    geometry: Geometry, topology: Topology, joints: Joints, pairs: Iterable[tuple[int, int]]
) -> frozenset[tuple[int, int]]:
    """Of these pairs, those of a cylinder with an extruded shape whose axes are parallel in every configuration.

    Numbers that are traced tell nothing; such pairs are left to the contact of any two convex shapes.
    """
    asked = [(a, b) for a, b in pairs if geometry.shapes[a] == "cylinder" and geometry.shapes[b] in EXTRUDED]
    numbers = (geometry.quaternion, joints.quaternion, joints.axis)
    if not asked or any(isinstance(x, Tracer) for x in numbers):
        return frozenset()
    return frozenset(pair for pair in asked if _stay_parallel(geometry, topology, joints, *pair))


def _stay_parallel(geometry: Geometry, topology: Topology, joints: Joints, a: int, b: int) -> bool:
    chain_a, chain_b = (_joints_below(topology, geometry.links[shape]) for shape in (a, b))
    shared = set(chain_a) & set(chain_b)
    axes = [
        _axis_below(geometry, topology, joints, shape, [joint for joint in chain if joint not in shared])
        for shape, chain in ((a, chain_a), (b, chain_b))
    ]
    if axes[0] is None or axes[1] is None:
        return False
    return bool(np.linalg.norm(np.cross(axes[0], axes[1])) < _PARALLEL)


def _joints_below(topology: Topology, link: int) -> list[int]:
    """The joints that carry a link, from its own down to the world."""
    joint, chain = topology.link_joints[link] if link >= 0 else -1, []
    while joint >= 0:
        chain.append(joint)
        joint = topology.parents[joint]
    return chain


def _axis_below(geometry: Geometry, topology: Topology, joints: Joints, shape: int, chain: list[int]):
    """A shape's z axis in the frame that carries the last joint of its chain; None where a joint tilts it."""
    axis = _rotated(geometry.quaternion[shape], np.array([0.0, 0.0, 1.0]))
    for joint in chain:
        kind, about = topology.kinds[joint].name, np.asarray(joints.axis[joint], dtype=float)
        keeps = kind in _KEEP_ALL or (
            kind in _KEEP_AXIS and np.linalg.norm(np.cross(about, axis)) < _PARALLEL * np.linalg.norm(about)
        )
        if not keeps:
            return None
        axis = _rotated(joints.quaternion[joint], axis)
    return axis


def _rotated(quaternion, vector: np.ndarray) -> np.ndarray:
    """By NumPy alone: within a traced program, JAX would trace these numbers too."""
    w, *rest = np.asarray(quaternion, dtype=float)
    u = np.array(rest)
    return vector + 2 * np.cross(u, w * vector + np.cross(u, vector)) / (w * w + u @ u)
