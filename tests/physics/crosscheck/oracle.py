"""What the two oracles share: how their velocities relate to ours, and rigid frames in NumPy.

Nothing here imports the code under test; rotations are SciPy's.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation


@dataclass(frozen=True)
class VelocityMap:
    """Their velocity is `matrix` times ours, so accelerations gain a drift and forces map by the transpose."""

    matrix: np.ndarray
    drift: np.ndarray
    """d(matrix)/dt times our velocity."""

    def velocity(self, qd: np.ndarray) -> np.ndarray:
        return self.matrix @ qd

    def acceleration(self, qdd: np.ndarray) -> np.ndarray:
        return self.matrix @ qdd + self.drift

    def our_acceleration(self, qdd: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self.matrix, qdd - self.drift)

    def force(self, tau: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self.matrix.T, tau)

    def our_force(self, tau: np.ndarray) -> np.ndarray:
        return self.matrix.T @ tau

    def our_inertia(self, mass_matrix: np.ndarray) -> np.ndarray:
        return self.matrix.T @ mass_matrix @ self.matrix

    def our_jacobian(self, jacobian: np.ndarray) -> np.ndarray:
        return jacobian @ self.matrix


def block_map(rows: list[slice], columns: list[slice], blocks: list[tuple[np.ndarray, np.ndarray]]) -> VelocityMap:
    """The map made of one (matrix, drift) for each joint, at their rows and our columns."""
    size = sum(len(drift) for _, drift in blocks)
    matrix, drift = np.zeros((size, size)), np.zeros(size)
    for row, column, (block, block_drift) in zip(rows, columns, blocks, strict=True):
        matrix[row, column] = block
        drift[row] = block_drift
    return VelocityMap(matrix, drift)


class Pose(NamedTuple):
    """Of a frame in another."""

    rotation: np.ndarray
    position: np.ndarray

    def __matmul__(self, other: "Pose") -> "Pose":
        return Pose(self.rotation @ other.rotation, self.position + self.rotation @ other.position)

    def inverse(self) -> "Pose":
        return Pose(self.rotation.T, -self.rotation.T @ self.position)


IDENTITY = Pose(np.eye(3), np.zeros(3))


class Energy(NamedTuple):
    kinetic: float
    potential: float


class Momentum(NamedTuple):
    linear: np.ndarray
    angular: np.ndarray


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """Matrix of a quaternion w x y z."""
    return Rotation.from_quat(quaternion, scalar_first=True).as_matrix()


def quaternion(matrix: np.ndarray) -> np.ndarray:
    return Rotation.from_matrix(matrix).as_quat(scalar_first=True)


def unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector) / np.linalg.norm(vector)


def plane_frame(axis: np.ndarray) -> np.ndarray:
    """The axes of a planar joint: z turned to `axis` by the shortest way (by a half turn about x if it is -z)."""
    axis = unit(axis)
    turn = np.cross([0.0, 0.0, 1.0], axis)
    sine = np.linalg.norm(turn)
    if sine == 0:
        return np.diag([1.0, np.sign(axis[2]), np.sign(axis[2])])
    return Rotation.from_rotvec(turn / sine * np.arctan2(sine, axis[2])).as_matrix()
