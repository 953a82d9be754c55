"""How much later the response comes than the command: the lag of the best correlation, finer than one sample."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from ..folder import DataError
from .interpolate import interpolated
from .trajectory import Trajectory


@dataclass(frozen=True)
class Delay:
    """A constant delay between two signals."""

    seconds: float
    """Positive: the response comes later [s]."""
    uncertainty: float
    """One standard deviation, if what the command does not explain is white noise [s]."""
    correlation: float
    """Of the response with the command, so delayed; its sign tells whether they have the same."""
    confident: bool
    """The correlation is strong, its peak is not at the end of the range and clearly above the next."""

    def __str__(self) -> str:
        sure = "" if self.confident else ", NOT reliable"
        return f"{1e3 * self.seconds:.3g} +- {1e3 * self.uncertainty:.2g} ms (correlation {self.correlation:.2f}{sure})"


def estimate_delay(
    time: Float[np.ndarray, " n"],
    command: Float[np.ndarray, " n"],
    response: Float[np.ndarray, " n"],
    max_delay: float = 0.2,
) -> Delay:
    """The delay of `response` [any unit] behind `command` [any unit], from 0 to `max_delay` [s].

    Both are compared by their changes, which makes the result independent of offsets and slow drift. Dynamics between
    the two count as delay: compare a commanded with a measured torque, not with a position, to find that of a link.
    """
    time, command, response = (np.asarray(x, float) for x in (time, command, response))
    dt = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    if len(time) < 20 or max_delay < 2 * dt:
        raise DataError(
            f"a delay up to {max_delay:g} s needs 20 samples, finer than half of it; there are {len(time)} at {dt:g} s"
        )
    even = np.arange(time[0], time[-1], dt)
    x, y = (np.gradient(np.interp(even, time, signal), dt) for signal in (command, response))
    lead = int(np.ceil(max_delay / dt)) + 1
    if lead > len(even) - 10:
        raise DataError(
            f"a delay up to {max_delay:g} s needs a longer log than {time[-1] - time[0]:.4g} s; lower max_delay"
        )
    target = y[lead:]

    def correlation(lag: float) -> float:
        shifted = np.interp(even[lead:] - lag, even, x)
        a, b = shifted - shifted.mean(), target - target.mean()
        scale = np.sqrt((a @ a) * (b @ b))
        return float(a @ b / scale) if scale > 0 else 0.0

    lags = dt * np.arange(int(max_delay / dt) + 1)
    coarse = np.array([correlation(lag) for lag in lags])
    best = int(np.argmax(np.abs(coarse)))
    sign = 1.0 if coarse[best] >= 0 else -1.0
    span = (max(lags[best] - dt, 0.0), min(lags[best] + dt, max_delay))
    # Lines between samples smooth the command most half way, which flattens the peak: a parabola sees through it.
    lag = _vertex(lags, sign * coarse, best)
    if not span[0] <= lag <= span[1]:
        from scipy.optimize import minimize_scalar

        result: Any = minimize_scalar(lambda s: -sign * correlation(s), bounds=span, method="bounded")
        lag = float(result.x)
    peak = correlation(lag)
    away = np.abs(lags - lags[best]) > max(4 * dt, _width(lags, np.abs(coarse), best))
    rival = np.abs(coarse[away]).max(initial=0.0)
    confident = abs(peak) > 0.4 and abs(peak) > 1.1 * rival and 0 <= best < len(lags) - 1
    return Delay(lag, _uncertainty(x, peak, dt, len(target)), peak, bool(confident))


def delayed(trajectory: Trajectory, seconds: float) -> Trajectory:
    """The trajectory with its controls that much later [s], as they act; the first ones are masked."""
    t = trajectory
    if t.controls is None:
        raise DataError(f"trajectory {t.source!r} has no controls to delay")
    moved, known = interpolated(t.time, t.controls, np.asarray(t.controls_mask), t.time - seconds, "linear", t.max_gap)
    notes = [f"controls delayed by {1e3 * seconds:.4g} ms"]
    return replace(t, controls=moved, controls_mask=known).with_notes(notes)


def _vertex(lags: np.ndarray, height: np.ndarray, best: int) -> float:
    """The top of the parabola through the highest point and its neighbours."""
    if not 0 < best < len(lags) - 1:
        return -1.0
    left, top, right = height[best - 1 : best + 2]
    bend = left - 2 * top + right
    return float(lags[best] + 0.5 * (left - right) / bend * (lags[1] - lags[0])) if bend < 0 else float(lags[best])


def _width(lags: np.ndarray, height: np.ndarray, best: int) -> float:
    """How far from the peak the correlation falls to half."""
    low = np.flatnonzero(height < 0.5 * height[best])
    return float(np.abs(lags[low] - lags[best]).min()) if len(low) else float(lags[-1])


def _uncertainty(x: np.ndarray, correlation: float, dt: float, count: int) -> float:
    """The bound of Cramer and Rao for the lag of a known signal in white noise."""
    change = np.gradient(x, dt)
    ratio = np.sqrt((change @ change) / max(x @ x, 1e-300))
    noise = np.sqrt(max(1 - correlation**2, 1e-12)) / max(abs(correlation), 1e-6)
    return float(noise / (max(ratio, 1e-300) * np.sqrt(count)))
