"""Poses as URDF writes them: xyz, and rpy with R = Rz(yaw) Ry(pitch) Rx(roll)."""

import numpy as np
from scipy.spatial.transform import Rotation


def rotation(origin: np.ndarray | None) -> np.ndarray:
    """The rotation matrix of an optional 4x4 pose."""
    return np.eye(3) if origin is None else origin[:3, :3]


def position_and_quaternion(origin: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Position and quaternion (w, x, y, z; w not negative) of an optional 4x4 pose."""
    if origin is None:
        return np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    return origin[:3, 3], Rotation.from_matrix(origin[:3, :3]).as_quat(canonical=True, scalar_first=True)


def roll_pitch_yaw(quaternion: np.ndarray) -> np.ndarray:
    """rpy of a quaternion (w, x, y, z), exact to rounding also at pitch = +-90 degrees.

    There yaw and roll turn about the same line. Yaw is taken first, however badly it is known, and roll is
    whatever rotation is then left, so that their errors cancel.
    """
    R = Rotation.from_quat(np.asarray(quaternion, dtype=float), scalar_first=True).as_matrix()
    yaw = np.arctan2(R[1, 0], R[0, 0])
    s, c = np.sin(yaw), np.cos(yaw)
    pitch = np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return np.array([roll, pitch, yaw])


def matrix_from_rpy(rpy: np.ndarray) -> np.ndarray:
    return Rotation.from_euler("xyz", rpy).as_matrix()
