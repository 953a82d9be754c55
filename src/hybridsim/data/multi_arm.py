"""Passive swings of a double pendulum: Kaheman and others, "The experimental multi-arm pendulum on a cart" (2022).

The cart is fixed. An array a swing: angles 1 and 2, velocities 1 and 2, every millisecond. Both angles are
absolute, 0 = upright.

Traps:

- The swings are one recording of 80 s that the authors cut into 30 pieces without gaps: the sample after the last
  of a swing is the first of the next, and the amplitude of link 1 falls from 65 to 12 degrees. Neighbours are
  therefore alike; hold out the last pieces, or far apart ones, rather than every second.
- Angles are as the encoders gave them (noise below 0.003 degree), one on each joint: where a joint reverses it is
  read as still for some milliseconds and then jumps by about 0.35 mrad, a step of its encoder. Velocities are not
  their derivatives: the authors smoothed them (median over 10 samples, then wavelets), so they lag by 1 to 3 ms and
  are off by up to 0.1 rad/s. Estimate the start velocity, or differentiate angles.
- Masses are not in the files. By least squares on link 2's equation of motion with g = 9.81 link 1 is 0.173 m long
  and link 2 swings like a point 0.196 m away; damping of the joints is small but not only viscous.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from .files import dataset_path, finite, found_runs, known_run, npz_arrays
from .folder import DataError

DATASET, FILE = "multiarm-pendulum", "double.npz"
TIME_STEP = 1e-3
"""Between samples, as the authors of the dataset give it [s]."""
_LARGEST_TURN = 0.5
"""Of a link between two samples; more is damage or an angle that jumps at half turns [rad]."""


@dataclass(frozen=True)
class PassiveSwing:
    """One swing of the double pendulum whose cart is fixed."""

    name: str
    source: str
    """The file."""
    time: Float[np.ndarray, " time"]
    """From 0, in equal steps [s]."""
    angle: Float[np.ndarray, "time 2"]
    """Of links 1 and 2 from the upward vertical, both absolute, as measured [rad]."""
    velocity: Float[np.ndarray, "time 2"]
    """Rates of `angle`, smoothed and late by 1 to 3 ms [rad/s]."""

    @property
    def dt(self) -> float:
        """Time between samples [s]."""
        return float(self.time[1])

    @property
    def joint_position(self) -> Float[np.ndarray, "time 2"]:
        """Angles of the joints: link 1 from hanging, link 2 from link 1 [rad]."""
        return np.stack([self.angle[:, 0] - np.pi, self.angle[:, 1] - self.angle[:, 0]], axis=1)

    @property
    def joint_velocity(self) -> Float[np.ndarray, "time 2"]:
        """Rates of `joint_position` [rad/s]."""
        return np.stack([self.velocity[:, 0], self.velocity[:, 1] - self.velocity[:, 0]], axis=1)

    def __len__(self) -> int:
        return len(self.time)


def read_multi_arm_swings(file: str | Path | None = None) -> list[PassiveSwing]:
    """All swings of the file, in the order of the recording; without `file`, of the folder of HYBRIDSIM_DATA."""
    path = dataset_path(DATASET, file, FILE)
    return [_swing(path, name, table) for name, table in _tables(path).items()]


def multi_arm_runs(file: str | Path | None = None) -> list[str]:
    """Names of all swings, in the order of the recording."""
    return list(_tables(dataset_path(DATASET, file, FILE)))


def read_multi_arm_swing(run: str, file: str | Path | None = None) -> PassiveSwing:
    """One swing."""
    path = dataset_path(DATASET, file, FILE)
    return _swing(path, run, known_run(path, _tables(path), run))


def _tables(path: Path) -> dict[str, np.ndarray]:
    return found_runs(path, sorted(npz_arrays(path).items()), "arrays, one a swing")


def _swing(path: Path, name: str, table: np.ndarray) -> PassiveSwing:
    where = f"{path}: swing {name!r}"
    if table.ndim != 2 or table.shape[1] != 4 or len(table) < 2 or table.dtype.kind != "f":
        raise DataError(
            f"{where} is an array of {table.dtype} of shape {table.shape}; it must have two or more rows of 4 floats: "
            "angle 1, angle 2, velocity 1, velocity 2"
        )
    table = finite(where, table.astype(float))
    angle, velocity = np.split(table, 2, axis=1)
    turn = np.abs(np.diff(angle, axis=0)).max(axis=1)
    if turn.max() > _LARGEST_TURN:
        raise DataError(
            f"{where}, row {np.argmax(turn) + 1}: a link turns by {turn.max():.2f} rad in {1e3 * TIME_STEP:g} ms; "
            "angles must not jump at half turns, and the columns must be angle 1, angle 2, velocity 1, velocity 2"
        )
    return PassiveSwing(name, str(path), TIME_STEP * np.arange(len(table)), angle, velocity)
