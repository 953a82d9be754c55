"""Which of the predicted windows are shown, and where each lies."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from ...calibrate.result import Calibration, Prediction, Stage
from ...identify import Errors


def compared(calibration: Calibration) -> tuple[Stage, ...]:
    """The original and the best; where the original is the best, and the last one that was fitted."""
    original, best = calibration.stages[0], calibration.best
    other = calibration.stages[-1] if best is original else best
    return (original,) if other is original else (original, other)


def shown_runs(prediction: Prediction, most: int = 3) -> list[str]:
    """All runs; the best, the median and the worst of many."""
    runs = np.array(prediction.runs)
    errors = window_errors(prediction)
    order = sorted(dict.fromkeys(prediction.runs), key=lambda run: float(np.median(errors[runs == run])))
    if len(order) <= most:
        return list(dict.fromkeys(prediction.runs))
    return [order[0], order[len(order) // 2], order[-1]]


def shown_windows(prediction: Prediction, run: str, most: int = 10) -> list[int]:
    """Windows of a run in order of time that do not overlap; some of them, evenly, where there are many."""
    mine = [i for i, name in enumerate(prediction.runs) if name == run]
    chosen: list[int] = []
    for i in sorted(mine, key=lambda i: prediction.times[i, 0]):
        if not chosen or prediction.times[i, 0] >= prediction.times[chosen[-1], -1] - 1e-9:
            chosen.append(i)
    if len(chosen) > most:
        chosen = [chosen[k] for k in np.linspace(0, len(chosen) - 1, most).round().astype(int)]
    return chosen


def log_time(prediction: Prediction, window: int) -> float:
    """When a window begins, by the clock of its log; since the run's first window where that clock counts from 1970 [s]."""
    mine = [i for i, run in enumerate(prediction.runs) if run == prediction.runs[window]]
    first = float(prediction.times[mine, 0].min())
    return float(prediction.times[window, 0]) - (first if first > 1e6 else 0.0)


def same_window(prediction: Prediction, other: Prediction, window: int) -> int | None:
    """The window of `other` that begins where one of `prediction` does."""
    start, length = prediction.times[window, 0], np.ptp(prediction.times[window])
    candidates = [i for i, run in enumerate(other.runs) if run == prediction.runs[window]]
    near = min(candidates, key=lambda i: abs(other.times[i, 0] - start), default=None)
    return near if near is not None and abs(other.times[near, 0] - start) <= length / 4 else None


def window_errors(prediction: Prediction) -> Float[np.ndarray, " windows"]:
    """Of each one number to rank by; infinite where it ran away."""
    if prediction.errors is not None:
        return prediction.errors.scores
    with np.errstate(over="ignore", invalid="ignore"):
        squares = (prediction.simulated - prediction.measured) ** 2
    known = np.isfinite(prediction.measured)
    count = known.sum(axis=(1, 2))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found = np.sqrt(np.where(known, squares, 0.0).sum(axis=(1, 2)) / count)
    return np.where(np.isfinite(found), found, np.inf)


def window_errors_of(prediction: Prediction, window: int) -> Errors:
    """Of one window."""
    if prediction.errors is None:
        apart = (prediction.simulated - prediction.measured)[[window]]
        return Errors(1.0, (prediction.runs[window],), prediction.joints, apart)
    errors = prediction.errors
    return replace(errors, runs=(errors.runs[window],), differences=errors.differences[[window]])


def thinned(samples: int, most: int) -> np.ndarray:
    """Indices of samples: all, or `most` of them evenly, with the last."""
    return np.unique(np.linspace(0, samples - 1, min(samples, most)).round().astype(int))


def measured_samples(prediction: Prediction, window: int, joint: int, most: int) -> np.ndarray:
    """Indices of samples at which the joint was measured, thinned: a slow sensor leaves most of them empty."""
    known = np.flatnonzero(np.isfinite(prediction.measured[window, :, joint]))
    return known[thinned(len(known), most)] if len(known) else known


def limits(measured: np.ndarray, best: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Of an axis: all that was measured and what the best model says; of the rest only as much again."""
    known = measured[np.isfinite(measured)]
    if not known.size:
        known = np.zeros(1)
    low, high = float(known.min()), float(known.max())
    span = max(high - low, 1e-9 * max(abs(low), abs(high)), 1e-12)
    for values, room in ((best, 2.0), (other, 0.6)):
        near = values[np.isfinite(values)]
        if near.size:
            low = min(low, max(float(near.min()), float(known.min()) - room * span))
            high = max(high, min(float(near.max()), float(known.max()) + room * span))
    margin = 0.06 * max(high - low, span)
    return low - margin, high + margin


def cut(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """What is far outside of an axis is not drawn: numbers of a simulation that ran away have no end."""
    with np.errstate(invalid="ignore"):
        near = (values > 2 * low - high) & (values < 2 * high - low)
    return np.where(near, values, np.nan)
