"""Zero-phase smoothing, and velocities from positions: no delay is added, whatever the filter."""

from dataclasses import replace
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from ..folder import DataError
from .interpolate import filled
from .trajectory import Trajectory

_CHUNK = 200_000
"""Samples fitted at once, to bound the memory."""


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
    and backward. Neither crosses a hole; a velocity is masked where fewer than order + 1 positions are near.
    """
    t = trajectory
    if t.quaternions:
        raise DataError(
            f"trajectory {t.source!r}: velocities of quaternions are not differences of numbers; measure qd, or leave "
            "the ball or free joint out"
        )
    if method == "polynomial":
        if order < 1 or not window > 0:
            raise DataError(f"order is {order} and window {window} s; they must be 1 or more, and positive")
        result = local_polynomial(t.time, t.q, np.asarray(t.q_mask), window, order, t.max_gap)
    else:
        if not 0 < cutoff < 0.5 / t.dt:
            raise DataError(f"cutoff is {cutoff} Hz; it must lie between 0 and half the rate, {0.5 / t.dt:.4g} Hz")
        result = _butterworth(t, order, cutoff)
    q, qd, known = result
    text = f"velocities from positions ({method}, " + (
        f"{window:g} s)" if method == "polynomial" else f"{cutoff:g} Hz)"
    )
    smoothed = np.where(known, q, t.q) if positions else t.q
    return replace(t, q=smoothed, qd=filled(t.time, qd, known), qd_mask=known).with_notes([text])


def with_velocities(trajectory: Trajectory) -> Trajectory:
    """As measured; where there are none, from positions by a filter that is wide enough for a good slope at low rates, and
    short beside the motion of a robot."""
    t = trajectory
    return t if t.qd is not None else smooth(t, window=max(0.05, 8 * t.dt))


def local_polynomial(
    time: Float[np.ndarray, " n"],
    values: Float[np.ndarray, "n k"],
    mask: Bool[np.ndarray, "n k"],
    window: float,
    order: int,
    max_gap: float,
) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "n k"], Bool[np.ndarray, "n k"]]:
    """Value and slope at every sample of the polynomial fitted to its neighbours, and where there were enough."""
    n = len(time)
    step = np.median(np.diff(time)) if n > 1 else 1.0
    half = int(max(np.ceil(window / 2 / step), np.ceil((order + 1) / 2)))
    piece = np.concatenate([[0], np.cumsum(np.diff(time) > max_gap)])
    value, slope, known = values.copy(), np.zeros_like(values), np.zeros(values.shape, bool)
    for start in range(0, n, _CHUNK):
        i = np.arange(start, min(start + _CHUNK, n))
        near = i[:, None] + np.arange(-half, half + 1)
        inside = (near >= 0) & (near < n)
        near = np.clip(near, 0, n - 1)
        inside &= piece[near] == piece[i][:, None]
        # Times in half windows keep the normal equations well scaled.
        s = (time[near] - time[i][:, None]) / (half * step)
        powers = s[..., None] ** np.arange(order + 1)
        for k in range(values.shape[1]):
            weight = (inside & mask[near, k]).astype(float)
            enough = weight.sum(1) >= order + 2
            normal = np.einsum("nm,nmi,nmj->nij", weight, powers, powers)
            normal[~enough] = np.eye(order + 1)
            right = np.einsum("nm,nmi,nm->ni", weight, powers, values[near, k] - values[i, k][:, None])
            fit = np.linalg.solve(normal + 1e-12 * np.eye(order + 1), right[..., None])[..., 0]
            value[i, k] = np.where(enough, values[i, k] + fit[:, 0], values[i, k])
            slope[i, k] = np.where(enough, fit[:, 1] / (half * step), 0.0)
            known[i, k] = enough
    return value, slope, known


def _butterworth(t: Trajectory, order: int, cutoff: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    return value, slope, known
