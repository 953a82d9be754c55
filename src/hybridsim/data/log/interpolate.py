"""Between samples: linear, cubic or held; never across a hole longer than a limit."""

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

Method = Literal["linear", "cubic", "hold"]


def filled(
    time: Float[np.ndarray, " n"], values: Float[np.ndarray, "n k"], mask: Bool[np.ndarray, "n k"]
) -> Float[np.ndarray, "n k"]:
    """Values with the masked ones replaced on a line between their neighbours (0 where a column has none).

    So that no array has a NaN, which would poison gradients even where the mask gives it no weight.
    """
    if mask.all():
        return values
    result = np.zeros_like(values)
    for k in range(values.shape[1]):
        good = mask[:, k]
        if good.any():
            result[:, k] = np.interp(time, time[good], values[good, k])
            result[good, k] = values[good, k]
    return result


def interpolated(
    time: Float[np.ndarray, " n"],
    values: Float[np.ndarray, "n k"],
    mask: Bool[np.ndarray, "n k"],
    at: Float[np.ndarray, " m"],
    method: Method,
    max_gap: float,
) -> tuple[Float[np.ndarray, "m k"], Bool[np.ndarray, "m k"]]:
    """Values and mask at other times [s]. Masked: before the first and after the last sample, and in holes > max_gap."""
    result = np.zeros((len(at), values.shape[1]))
    known = np.zeros(result.shape, bool)
    for k in range(values.shape[1]):
        good = mask[:, k]
        if good.any():
            result[:, k], known[:, k] = _column(time[good], values[good, k], at, method, max_gap)
    return result, known


def _column(t, x, at, method, max_gap) -> tuple[np.ndarray, np.ndarray]:
    # Rounding must not mask a sample that is there: stamps of resampled logs are sums.
    slack = 1e-9 * max(1.0, abs(t[-1]), abs(t[0]))
    right = np.clip(np.searchsorted(t, at - slack), 0, len(t) - 1)
    exact = np.abs(t[right] - at) <= slack
    left = np.where(exact, right, np.maximum(right - 1, 0))
    inside = (at >= t[0] - slack) & (at <= t[-1] + slack)
    known = inside & (exact | (t[right] - t[left] <= max_gap))
    if method == "hold":
        return x[np.where(exact, right, left)], known
    result = np.interp(at, t, x)
    if method == "cubic":
        from scipy.interpolate import CubicSpline

        edges = np.flatnonzero(np.diff(t) > max_gap) + 1
        for piece in np.split(np.arange(len(t)), edges):
            within = (at >= t[piece[0]]) & (at <= t[piece[-1]])
            if len(piece) >= 4 and within.any():
                result[within] = CubicSpline(t[piece], x[piece])(at[within])
    return result, known
