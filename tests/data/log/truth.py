"""A clean log of the two-link arm, and how to write it, for tests to damage."""

import warnings
from pathlib import Path

import numpy as np

from hybridsim.data.log import DataWarning, Trajectory, read_log

NAMES = ["time", "shoulder_pos", "elbow_pos", "shoulder_vel", "elbow_vel", "tau_shoulder", "tau_elbow"]
DT, ROWS = 0.01, 200
TIME = DT * np.arange(ROWS)
Q = np.stack([0.9 * np.sin(2.1 * TIME), 1.2 * np.cos(3.3 * TIME) - 0.3], 1)
QD = np.stack([0.9 * 2.1 * np.cos(2.1 * TIME), -1.2 * 3.3 * np.sin(3.3 * TIME)], 1)
TAU = np.stack([3 * np.sin(5 * TIME + 1), np.cos(7 * TIME)], 1)


def table() -> np.ndarray:
    """The clean numbers, as the file rounds them."""
    return np.round(np.concatenate([TIME[:, None], Q, QD, TAU], 1), 9)


def lines(data=None, names=NAMES, separator=",", form="{:.9f}") -> list[str]:
    data = table() if data is None else data
    return [separator.join(names)] + [separator.join(form.format(x) for x in row) for row in data]


def write(folder: Path, text: list[str] | bytes, name: str = "run.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else ("\n".join(text) + "\n").encode())
    return path


def read(path: Path, model, **options) -> tuple[Trajectory, str]:
    """The trajectory, and the text of its one warning (empty: none)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trajectory = read_log(path, model, **options)
    assert len(caught) <= 1
    assert all(issubclass(w.category, DataWarning) for w in caught)
    return trajectory, str(caught[0].message) if caught else ""


def agrees(trajectory: Trajectory, tolerance: float = 2e-9) -> bool:
    """Every number that is not masked is that of the clean log at that time; the first rows may be lost."""
    return any(_agrees(trajectory, trajectory.time + DT * lost, tolerance) for lost in range(8))


def _agrees(trajectory: Trajectory, t: np.ndarray, tolerance: float) -> bool:
    for array, mask, true in (
        (trajectory.q, trajectory.q_mask, Q),
        (trajectory.qd, trajectory.qd_mask, QD),
        (trajectory.controls, trajectory.controls_mask, TAU),
    ):
        if array is None:
            continue
        k = np.rint(t / DT).astype(int)
        if (np.abs(k * DT - t) > 1e-6).any() or k.min() < 0 or k.max() >= ROWS:
            return False
        if (np.abs(array - true[k])[mask] > tolerance).any():
            return False
    return True
