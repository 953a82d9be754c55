"""Zero-phase smoothing, and velocities from positions: no delay is added, whatever the filter."""

from dataclasses import replace
from typing import Literal

import numpy as np

from ..folder import DataError
from .interpolate import filled
from .manifold import on_the_manifold
from .trajectory import Trajectory


def smooth(
    trajectory: Trajectory,
    method: Literal["polynomial", "butterworth"] = "polynomial",
    window: float = 0.05,
    order: int = 3,
    cutoff: float = 20.0,
    positions: bool = False,
) -> Trajectory:
    """The trajectory with velocities computed from its positions, and with smoothed positions if `positions`.

    "polynomial" fits one of `order` to the samples within a `window` [s] around each (Savitzky and Golay's filter, but at
    the stamps as they are, so jitter does not matter). "butterworth" runs a filter of `order` with `cutoff` [Hz] forward
    and backward. Neither crosses a hole; a velocity is masked where fewer than order + 1 positions are near. Rotations are
    fitted on their manifold: around each sample by the rotation vectors to its neighbours.
    """
    t = trajectory
    if method == "polynomial":
        if order < 1 or not window > 0:
            raise DataError(f"order is {order} and window {window} s; they must be 1 or more, and positive")
        result = on_the_manifold(t, window, order)
    elif t.quaternions:
        raise DataError(
            f"trajectory {t.source!r} has quaternions, which a Butterworth filter would take apart into numbers; use "
            'method="polynomial"'
        )
    else:
        if not 0 < cutoff < 0.5 / t.dt:
            raise DataError(f"cutoff is {cutoff} Hz; it must lie between 0 and half the rate, {0.5 / t.dt:.4g} Hz")
        result = _butterworth(t, order, cutoff)
    q, qd, known, near = result
    text = f"velocities from positions ({method}, " + (
        f"{window:g} s)" if method == "polynomial" else f"{cutoff:g} Hz)"
    )
    smoothed = np.where(near, q, t.q) if positions else t.q
    return replace(t, q=smoothed, qd=filled(t.time, qd, known), qd_mask=known).with_notes([text])


def with_velocities(trajectory: Trajectory) -> Trajectory:
    """As measured; where there are none, from positions by a filter that is wide enough for a good slope at low rates, and
    short beside the motion of a robot."""
    t = trajectory
    return t if t.qd is not None else smooth(t, window=max(0.05, 8 * t.dt))


def _butterworth(t: Trajectory, order: int, cutoff: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    from scipy.signal import butter, sosfiltfilt

    value, slope, known = t.q.copy(), np.zeros_like(t.q), np.zeros(t.q.shape, bool)
    sections = butter(order, cutoff, fs=1 / t.dt, output="sos")
    for piece in np.split(np.arange(len(t)), t.holes + 1):
        time = t.time[piece]
        even = np.arange(time[0], time[-1] + t.dt / 2, t.dt)
        if len(even) <= 6 * (order + 1):
            continue
        for k in range(t.q.shape[1]):
            x = sosfiltfilt(sections, np.interp(even, time, t.q[piece, k]))
            value[piece, k] = np.interp(time, even, x)
            slope[piece, k] = np.interp(time, even, np.gradient(x, t.dt))
            known[piece, k] = t.q_mask[piece, k]
    return value, slope, known, known
