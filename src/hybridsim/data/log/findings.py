"""Single checks of a channel: each takes arrays and returns numbers. `quality` puts them into words."""

import numpy as np
from jaxtyping import Bool, Float

from .polynomial import local_polynomial


def quantum(x: Float[np.ndarray, " n"]) -> float:
    """The step in which a sensor counts, or 0: most differences are whole multiples of the smallest one."""
    steps = np.abs(np.diff(np.unique(x)))
    steps = steps[steps > 1e-12 * max(1.0, np.abs(x).max(initial=0.0))]
    if len(steps) < 8 or len(steps) + 1 > 0.9 * len(x):
        return 0.0
    smallest = float(np.quantile(steps, 0.1))
    ratio = steps / smallest
    return smallest if np.mean(np.abs(ratio - np.round(ratio)) < 0.05) > 0.9 else 0.0


def noise(x: Float[np.ndarray, " n"]) -> float:
    """Standard deviation of white noise, from third differences: smooth motion cancels, and the median forgives jumps."""
    if len(x) < 8:
        return 0.0
    # The sum of squares of 1, -3, 3, -1 is 20; 0.6745 turns the median of |N(0, 1)| into 1.
    return float(np.median(np.abs(np.diff(x, 3))) / 0.6745 / np.sqrt(20))


def saturation(x: Float[np.ndarray, " n"], limit: float) -> tuple[float, float]:
    """Share of samples at the limit (or, without one, in flat tops at the largest value), and that value."""
    top = float(np.abs(x).max(initial=0.0))
    if top == 0:
        return 0.0, 0.0
    if np.isfinite(limit) and limit > 0:
        return float(np.mean(np.abs(x) >= 0.999 * limit)), limit
    at_top = np.abs(x) >= top * (1 - 1e-9)
    flat = at_top[1:] & at_top[:-1]
    return float(np.mean(flat)) if len(flat) else 0.0, top


def longest_stuck(time: Float[np.ndarray, " n"], x: Float[np.ndarray, " n"], still: Bool[np.ndarray, " n"]) -> float:
    """The longest time [s] in which x kept exactly one value although `still` is False (others moved)."""
    same = (np.diff(x) == 0) & ~still[1:]
    edges = np.flatnonzero(np.diff(np.concatenate([[0], same.astype(int), [0]])))
    return max((float(time[b] - time[a]) for a, b in edges.reshape(-1, 2)), default=0.0)


def held(x: Float[np.ndarray, " n"]) -> float:
    """Rows for each new value of a moving channel: 1 if every row is new, 5 if a slow sensor was logged five times."""
    changes = np.diff(x) != 0
    if changes.mean() > 0.6 or changes.sum() < 20:
        return 1.0
    runs = np.diff(np.flatnonzero(changes))
    usual = float(np.median(runs))
    return usual if usual > 1 and np.mean(np.abs(runs - usual) <= 1) > 0.9 else 1.0


def velocity_ratio(
    time: Float[np.ndarray, " n"],
    q: Float[np.ndarray, " n"],
    qd: Float[np.ndarray, " n"],
    mask: Bool[np.ndarray, " n"],
    max_gap: float,
) -> tuple[float, float]:
    """Slope of the measured velocity over that of the positions (1 if all is well), and their correlation."""
    step = float(np.median(np.diff(time)))
    _, slope, known = local_polynomial(time, q[:, None], mask[:, None], 9 * step, 2, max_gap)
    good = known[:, 0] & mask
    a, b = slope[good, 0], qd[good]
    if good.sum() < 20 or a.std() < 1e-9 or b.std() < 1e-12:
        return 1.0, 0.0
    correlation = float(np.corrcoef(a, b)[0, 1])
    # By the ratio of spreads, which noise in either biases less than a regression.
    return float(np.sign(correlation) * b.std() / a.std()), correlation
