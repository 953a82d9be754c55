"""Free swings of a chaotic double pendulum: Asseman, Kornuta, Ozcan, "Learning beyond simulated physics" (2018).

A run is a file without a header: pivot, joint and end, each as vertical (down positive) and horizontal coordinate,
in fifths of a pixel. Only points were measured, on film: angles are computed here, and there are no velocities.

Traps:

- The files have no time. The frame rate usually quoted is 400 per second, but gravity and the length of link 1 say
  502 (0.1 % standard deviation over runs, by least squares on the weak form of link 2's equation of motion). Read
  with FRAME_RATE = 500, or estimate the step as a parameter, and say which.
- The camera stands about 0.5 degree off the vertical (true angle = angle - 0.5 degree, from the same fit).
- The scale differs: in runs 0 and 1 a metre has 2 % more units. Angles do not depend on it.
- Frame to frame the noise of the angles is 0.04 and 0.07 degree; lens and markers add errors that vary slowly with
  the pose, in all about 0.15 degree.
- Runs start fast (link 2 turns up to 10 degrees a frame) and are chaotic: compare in windows of 0.25 to 2 s.
- Masses are not published.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from .files import csv_numbers, dataset_path, found_runs, known_run, whole_lines
from .folder import DataError

DATASET = "ibm-double-pendulum"
FRAME_RATE = 500.0
"""Of the camera, from the physics of the runs (see above) [1/s]."""
LINK_LENGTHS = (0.091, 0.070)
"""From pivot to joint and from joint to end, as the authors of the dataset give them [m]."""
_STRETCH = 0.05
"""How far the length of a link in a frame may be from its median over the run, relative."""
_LARGEST_TURN = np.pi / 2
"""Of a link between two frames: beyond, the direction of turning is not known [rad]."""


@dataclass(frozen=True)
class FilmedSwing:
    """One run of the filmed double pendulum."""

    name: str
    source: str
    """The file."""
    time: Float[np.ndarray, " time"]
    """From 0, in equal steps, by the frame rate that the reader was given [s]."""
    angle: Float[np.ndarray, "time 2"]
    """Of links 1 and 2 from the vertical of the image, both absolute: 0 hangs, towards the right is positive, without
    jumps at half turns [rad]."""
    points: Float[np.ndarray, "time 3 2"]
    """Pivot, joint and end; right and up from the median of the pivot [m]."""
    units_per_metre: float
    """The scale of the run, by which link 1 has its published length [1/m]."""

    @property
    def dt(self) -> float:
        """Time between frames [s]."""
        return float(self.time[1])

    @property
    def joint_position(self) -> Float[np.ndarray, "time 2"]:
        """Angles of the joints: link 1 from hanging, link 2 from link 1 [rad]."""
        return np.stack([self.angle[:, 0], self.angle[:, 1] - self.angle[:, 0]], axis=1)

    def __len__(self) -> int:
        return len(self.time)


def ibm_double_pendulum_runs(folder: str | Path | None = None) -> dict[str, Path]:
    """Files of all runs by their names, "0" to at most "20"; without `folder`, of the folder of HYBRIDSIM_DATA."""
    place = dataset_path(DATASET, folder)
    files = sorted((file for file in place.glob("*.csv") if file.stem.isdigit()), key=lambda file: int(file.stem))
    return found_runs(place, ((file.stem, file) for file in files), "files <number>.csv")


def read_ibm_double_pendulum(
    run: str, folder: str | Path | None = None, *, frame_rate: float = FRAME_RATE
) -> FilmedSwing:
    """One run; see the module for its traps, first of all the frame rate [1/s]."""
    if not 0 < frame_rate < np.inf:
        raise ValueError(f"frame_rate is {frame_rate}; it must be a positive number of frames a second")
    runs = ibm_double_pendulum_runs(folder)
    path = known_run(next(iter(runs.values())).parent, runs, run)
    pixels = csv_numbers(path, whole_lines(path), columns=6).reshape(-1, 3, 2)
    links = np.diff(pixels, axis=1)
    lengths = _lengths(path, links)
    angle = np.unwrap(np.arctan2(links[..., 1], links[..., 0]), axis=0)
    turn = np.abs(np.diff(angle, axis=0)).max(axis=1)
    if turn.max() > _LARGEST_TURN:
        raise DataError(
            f"{path}, line {np.argmax(turn) + 2}: a link turns by {np.degrees(turn.max()):.0f} degrees in a frame, so "
            "its direction is not known; frames are missing or points are confused: cut the run there"
        )
    scale = lengths[0] / LINK_LENGTHS[0]
    down_right = (pixels - np.median(pixels[:, 0], axis=0)) / scale
    points = np.stack([down_right[..., 1], -down_right[..., 0]], axis=-1)
    return FilmedSwing(run, str(path), np.arange(len(angle)) / frame_rate, angle, points, float(scale))


def _lengths(path: Path, links: Float[np.ndarray, "time 2 2"]) -> Float[np.ndarray, " 2"]:
    """Median lengths of both links, from which no frame is far."""
    lengths = np.linalg.norm(links, axis=2)
    median = np.median(lengths, axis=0)
    stretched = np.abs(lengths - median) > _STRETCH * median
    if not median.all() or stretched.any():
        frame, link = np.argwhere(stretched)[0] if stretched.any() else (0, np.argmin(median))
        raise DataError(
            f"{path}, line {frame + 1}: link {link + 1} is {lengths[frame, link]:.0f} units long but {median[link]:.0f} "
            "in most of the run; the columns must be vertical and horizontal of pivot, joint and end, and the number "
            "there is wrong otherwise"
        )
    return median
