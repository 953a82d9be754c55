"""Tosses of a plastic cube onto a board, filmed: the dataset of Pfrommer, Halm and Posa, "ContactNets" (2020).

Velocities in the files are smoothed backward differences: they lag positions by half a sample. The board is the
plane z = 0 but the cube at rest reaches a little below it, and it falls at 9.6 rather than 9.8 m/s^2: board
height, edge length and gravity are numbers to identify rather than to trust.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from ..model import State
from .files import finite, npz_arrays
from .folder import VARIABLE, DataError, data_folder

DATASET, FILE = "contactnets-cube", "tosses.npz"
_COLUMNS = 13
"""Quaternion wxyz, position, angular velocity in the body, velocity in the world."""
_UNIT = 1e-6
"""How far from 1 the length of a quaternion may be."""


@dataclass(frozen=True)
class CubeParameters:
    """Numbers of the cube and the board."""

    edge: float
    """[m]"""
    mass: float
    """[kg]"""
    inertia: float
    """About any axis through the centre [kg m^2]."""
    friction: float
    restitution: float


PUBLISHED_CUBE = CubeParameters(edge=0.1048, mass=0.37, inertia=0.00081, friction=0.18, restitution=0.125)
"""As the authors of the dataset give them."""


@dataclass(frozen=True)
class CubeToss:
    """One toss: the pose of the cube and its velocity over time."""

    name: str
    time: Float[np.ndarray, " time"]
    """From 0, in equal steps [s]."""
    position: Float[np.ndarray, "time 3"]
    """Of the centre, in the world [m]."""
    quaternion: Float[np.ndarray, "time 4"]
    """w, x, y, z; takes the body to the world."""
    angular_velocity: Float[np.ndarray, "time 3"]
    """In the body's frame [rad/s]."""
    velocity: Float[np.ndarray, "time 3"]
    """Of the centre, in the world [m/s]."""

    @property
    def dt(self) -> float:
        """Time between samples [s]."""
        return float(self.time[1])

    def __len__(self) -> int:
        return len(self.time)

    def states(self) -> State:
        """As the states of a model whose only joint is free, one row a sample: its velocity is all in the body."""
        from scipy.spatial.transform import Rotation

        orientation = Rotation.from_quat(self.quaternion, scalar_first=True)
        return State(
            np.concatenate([self.position, self.quaternion], axis=1),
            np.concatenate([self.angular_velocity, orientation.inv().apply(self.velocity)], axis=1),
        )


def read_cube_tosses(file: str | Path | None = None) -> list[CubeToss]:
    """All tosses of the file, in its order; without `file`, of the dataset in the folder of HYBRIDSIM_DATA."""
    path = data_folder(DATASET) / FILE if file is None else Path(file)
    if not path.is_file():
        raise DataError(
            f"there is no file {path}; give the file of the ContactNets tosses, or set {VARIABLE} to the folder "
            f"that holds {DATASET}/{FILE}"
        )
    tables = npz_arrays(path)
    if "dt" not in tables:
        raise DataError(f"{path} has no 'dt', the time between samples [s]; add this scalar to the file")
    dt = tables.pop("dt")
    if dt.shape != () or not np.isreal(dt) or not 0 < dt < np.inf:
        raise DataError(f"{path}: 'dt' is {dt}; it must be one positive number, the time between samples [s]")
    if not tables:
        raise DataError(f"{path} has no tosses: 'dt' is its only array; fetch it again")
    return [_toss(f"{path}: toss {name!r}", name, table, float(dt)) for name, table in tables.items()]


def _toss(where: str, name: str, table: np.ndarray, dt: float) -> CubeToss:
    if table.ndim != 2 or table.shape[1] != _COLUMNS or len(table) < 2 or table.dtype.kind != "f":
        raise DataError(
            f"{where} is an array of {table.dtype} of shape {table.shape}; it must have two or more rows of "
            f"{_COLUMNS} floats: quaternion wxyz, position, angular velocity, velocity"
        )
    table = finite(where, table.astype(float))
    quaternion, position, angular_velocity, velocity = np.split(table, [4, 7, 10], axis=1)
    length = np.linalg.norm(quaternion, axis=1)
    bad = np.flatnonzero(np.abs(length - 1) > _UNIT)
    if len(bad):
        raise DataError(
            f"{where}, row {bad[0]}: the quaternion has length {length[bad[0]]:.6g}, not 1; the columns must be "
            "quaternion wxyz, position, angular velocity, velocity"
        )
    return CubeToss(name, dt * np.arange(len(table)), position, quaternion, angular_velocity, velocity)
