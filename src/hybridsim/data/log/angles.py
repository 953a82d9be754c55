"""Angles that a log wrapped into one turn (or another range) are made continuous again."""

import numpy as np
from jaxtyping import Bool, Float

_PERIODS = tuple(2 * np.pi * k for k in (0.5, 1, 2, 4, 8, 16, 32))


def unwrapped(
    time: Float[np.ndarray, " n"],
    angle: Float[np.ndarray, " n"],
    good: Bool[np.ndarray, " n"],
    period: float | None,
    max_gap: float,
) -> tuple[Float[np.ndarray, " n"], float, int, float | None]:
    """The angle without jumps [rad], the period found [rad], the number of jumps removed, and the first doubtful time.

    Without `period` it is guessed: half a turn to 32 turns, whichever the jumps have in common and the range fits.
    A jump within a hole is doubtful where the joint may have turned by half a period meanwhile [s], else None.
    """
    result, index = angle.copy(), np.flatnonzero(good)
    if len(index) < 3:
        return result, 0.0, 0, None
    x, t = angle[index], time[index]
    period = guess_period(x, np.diff(t) <= max_gap) if period is None else period
    if not period:
        return result, 0.0, 0, None
    turns = np.round(np.diff(x) / period)
    offset = np.concatenate([[0.0], np.cumsum(turns)]) * period
    result[index] = x - offset
    return result, period, int(np.count_nonzero(turns)), _doubtful(t, x - offset, period, max_gap)


def guess_period(x: Float[np.ndarray, " n"], joined: Bool[np.ndarray, " m"]) -> float:
    """The range into which x was wrapped, or 0: x jumps from near one end of the range to near the other.

    Every jump must be a period but for the motion of one step, and x must stay within one period. Only steps that are
    `joined`, not across a hole, tell.
    """
    steps = np.diff(x)[joined]
    if not len(steps):
        return 0.0
    span = x.max() - x.min()
    usual = np.quantile(np.abs(steps), 0.75)
    for period in _PERIODS:
        jumps = np.abs(steps) > 0.5 * period
        motion = np.abs(np.abs(steps[jumps]) - period)
        small = max(0.1 * period, 3 * usual)
        if jumps.any() and span <= 1.02 * period and (motion < small).all() and usual < 0.25 * period:
            return period
    return 0.0


def _doubtful(t, x, period, max_gap) -> float | None:
    steps = np.diff(t)
    holes = np.flatnonzero(steps > max_gap)
    if not len(holes):
        return None
    inside = steps <= max_gap
    speed = np.quantile(np.abs(np.diff(x)[inside] / steps[inside]), 0.99) if inside.any() else np.inf
    bad = holes[speed * steps[holes] > period / 2]
    return float(t[bad[0]]) if len(bad) else None
