"""Fits of a passive double pendulum without second derivatives: the equation of motion times bumps, integrated."""

from typing import NamedTuple

import numpy as np
from scipy.signal import savgol_filter


class SecondLink(NamedTuple):
    """What the equation of motion of link 2 says, divided by its moment about joint 2."""

    first: float
    """Length of link 1 [m]."""
    second: float
    """Distance from joint 2 of the point that swings like link 2 [m]."""
    tilt: float
    """Of gravity against the zero of the angles [rad]."""
    explained: float
    """Share of the variance, 1 at best."""


def fit_second_link(angle: np.ndarray, dt: float, smooth: int, half: int, gravity: float = 9.81) -> SecondLink:
    """From absolute angles, 0 = hanging. Bumps are 2 half + 1 samples wide; speeds are smoothed over `smooth`."""
    q, qd = (savgol_filter(angle, smooth, 4, deriv=k, delta=dt, axis=0)[smooth:-smooth] for k in range(2))
    between, (v1, v2) = q[:, 0] - q[:, 1], qd.T
    x = np.arange(-half, half + 1) / (half + 1)
    bump, slope = (1 - x**2) ** 3, -6 * x * (1 - x**2) ** 2 / ((half + 1) * dt)

    def integral(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return np.convolve(values, weights[::-1], "valid")[::half]

    columns = [
        -integral(v1 * np.cos(between), slope) - integral(v1 * v2 * np.sin(between), bump),
        -integral(v2, slope),
        gravity * integral(np.cos(q[:, 1]), bump),
        integral(v2 - v1, bump),
        integral(np.sign(v2 - v1), bump),
    ]
    known = -gravity * integral(np.sin(q[:, 1]), bump)
    found, *_ = np.linalg.lstsq(np.stack(columns, axis=1), known, rcond=None)
    rest = known - np.stack(columns, axis=1) @ found
    return SecondLink(found[0], found[1], found[2], 1 - rest.var() / known.var())


def energies(angle: np.ndarray, dt: float, smooth: int, short: int) -> np.ndarray:
    """Energy over time up to a factor and a constant, of the pendulum that keeps it best over `short` samples."""
    q, qd = (savgol_filter(angle, smooth, 4, deriv=k, delta=dt, axis=0)[smooth:-smooth] for k in range(2))
    kinetic = (qd[:, 0] ** 2, qd[:, 1] ** 2, qd[:, 0] * qd[:, 1] * np.cos(q[:, 0] - q[:, 1]))
    terms = np.stack([*kinetic, -np.cos(q[:, 0]), -np.cos(q[:, 1])], axis=1)
    change = terms[short:] - terms[:-short]
    *_, directions = np.linalg.svd(change / change.std(axis=0), full_matrices=False)
    weights = directions[-1] / change.std(axis=0)
    return terms @ (weights / weights[0])
