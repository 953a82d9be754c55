"""Measured rotations: quaternions without jumps of sign, and velocities on the manifold.

Quaternions are w, x, y, z and take the body to the world. q and -q are the same rotation.
"""

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial.transform import Rotation

from .interpolate import filled


def rotation_of(quaternion: Float[np.ndarray, "n 4"]) -> Rotation:
    """SciPy's rotations of quaternions of any length but zero."""
    return Rotation.from_quat(quaternion, scalar_first=True)


def continuous(
    quaternion: Float[np.ndarray, "n 4"], known: Bool[np.ndarray, " n"] | None = None
) -> Float[np.ndarray, "n 4"]:
    """The same rotations, each with the sign that lies nearer to the last known one before it."""
    at = np.arange(len(quaternion)) if known is None else np.flatnonzero(known)
    signs, part = np.ones(len(quaternion)), quaternion[at]
    if len(at) > 1:
        turned = np.cumprod(np.where((part[1:] * part[:-1]).sum(axis=1) < 0, -1.0, 1.0))
        signs[at[1:]] = turned
    return signs[:, None] * quaternion


def between(
    time: Float[np.ndarray, " n"], quaternion: Float[np.ndarray, "n 4"], known: Bool[np.ndarray, " n"]
) -> Float[np.ndarray, "n 4"]:
    """Unit quaternions without jumps of sign; unknown ones lie on the way between their neighbours, or are no rotation."""
    part = continuous(np.where(known[:, None], quaternion, 0.0), known)
    part = filled(time, part, np.repeat(known[:, None], 4, axis=1))
    size = np.linalg.norm(part, axis=1, keepdims=True)
    return np.where(size > 0, part / np.where(size > 0, size, 1), [1.0, 0.0, 0.0, 0.0])


def rotation_vectors(
    start: Float[np.ndarray, "*#many 4"], end: Float[np.ndarray, "*#many 4"]
) -> Float[np.ndarray, "*many 3"]:
    """Rotation vectors from one orientation to another in the axes of the first, of at most half a turn [rad]."""
    a, b = np.broadcast_arrays(start, end)
    if not a.size:
        return np.zeros((*a.shape[:-1], 3))
    found = rotation_of(a.reshape(-1, 4)).inv() * rotation_of(b.reshape(-1, 4))
    return found.as_rotvec().reshape(*a.shape[:-1], 3)


def body_linear(quaternion: Float[np.ndarray, "n 4"], velocity: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
    """A velocity of the world's axes in those of the body."""
    return rotation_of(quaternion).inv().apply(velocity)


def unwound(vectors: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
    """Rotation vectors without the jump at half a turn: each is of the same rotation, nearest to the one before."""
    found = np.array(vectors, dtype=float)
    for k in range(1, len(found)):
        angle = np.linalg.norm(found[k])
        if angle > 1e-9:
            axis = found[k] / angle
            turns = np.round((found[k - 1] @ axis - angle) / (2 * np.pi))
            found[k] = (angle + 2 * np.pi * turns) * axis
    return found
