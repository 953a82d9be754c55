"""Windows of equal length out of a trajectory, and parts of one that do not overlap."""

from dataclasses import replace

import numpy as np

from ..folder import DataError
from .trajectory import Trajectory


def windows(
    trajectory: Trajectory, length: float, stride: float | None = None, measured: float = 0.9
) -> list[Trajectory]:
    """Windows of `length` [s], one every `stride` [s] (default: end to end), none across a hole in time.

    A window is left out where less than the share `measured` of some position was measured. All keep the run's name, by
    which `split` holds them together. A log of a rate at which `length` is no whole number of steps gives windows that
    differ by one sample; resample first to have them alike.
    """
    t = trajectory
    stride = length if stride is None else stride
    if not length > 0 or not stride > 0:
        raise DataError(f"length is {length} s and stride {stride} s; both must be positive")
    found = []
    for piece in np.split(np.arange(len(t)), t.holes + 1):
        first, last = t.time[piece[0]], t.time[piece[-1]]
        count = int((last - first - length) / stride + 1e-9) + 1 if last - first >= length * (1 - 1e-9) else 0
        for k in range(count):
            start = first + k * stride
            a, b = np.searchsorted(t.time, [start - t.dt * 1e-6, start + length + t.dt * 1e-6])
            if b - a > 1 and _known(t, int(a), int(b), measured):
                found.append(t[int(a) : int(b)])
    if not found:
        longest = max((np.ptp(t.time[p]) for p in np.split(np.arange(len(t)), t.holes + 1)), default=0.0)
        raise DataError(
            f"trajectory {t.source!r} has no window of {length:g} s: its longest stretch without a hole is {longest:.4g} s, "
            f"and {100 * t.q_mask.mean():.3g} % of its positions are measured"
        )
    return found


def _known(t: Trajectory, a: int, b: int, measured: float) -> bool:
    """Enough of every position that is measured at all in this run."""
    ever = t.q_mask.any(0)
    return bool((t.q_mask[a:b, ever].mean(0) >= measured).all())


def parts(trajectory: Trajectory, count: int, guard: float = 0.0) -> list[Trajectory]:
    """`count` pieces of equal duration, one after the other, each a run of its own; `guard` [s] is lost between them.

    For a single long recording: windows cut from different parts share no sample, so `split` may separate them.
    """
    t = trajectory
    share = (t.duration - (count - 1) * guard) / max(count, 1)
    if count < 1 or share <= t.dt:
        raise DataError(
            f"trajectory {t.source!r}: {t.duration:.4g} s cannot be cut into {count} parts {guard:g} s apart"
        )
    starts = t.time[0] + np.arange(count) * (share + guard)
    edges = [(s, s + share if k < count - 1 else np.inf) for k, s in enumerate(starts)]
    return [replace(t.window(a, b), run=f"{t.run}#{k + 1}") for k, (a, b) in enumerate(edges)]
