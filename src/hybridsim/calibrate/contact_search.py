"""Friction and restitution before anything is known of them: by trying, since impacts mislead slopes.

Where a body lands on another face, or an impact comes a step later, the cost of a motion jumps, and a search along its slope
ends at the first jump. Few numbers can be tried instead: each window starts as its beginning tells, and what counts is how
far the rest of it is off. The mean of logarithms keeps a few windows that go elsewhere from deciding.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from ..identify import Problem
from ..identify.starts import best_starts

_TRIED = {
    "friction": (0.03, 0.08, 0.15, 0.25, 0.4, 0.6, 0.9),
    "restitution": (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9),
}
_WIDTHS = 1.0, 0.35, 0.12
"""First all values are tried, then those nearer and nearer to the best: parts of the distance between them."""
_MOST_NUMBERS = 4
"""More than these are not tried: the logs would have to tell them apart first."""
_MOST_WINDOWS = 32
_LEAST = 0.01
"""Part of the usual error of a window below which it counts as none."""


def tried_contact(
    problem: Problem, begin: float, say: Callable[[str], None] = lambda words: None
) -> Float[np.ndarray, " size"] | None:
    """The parameters with the friction and restitution that foretell windows best, each started by its first `begin` seconds;
    None where no such number is free, or too many are."""
    names = problem.parameters.names
    places = [i for i, name in enumerate(names) if name.startswith("contact/") and _word(name) in _TRIED]
    if not 0 < len(places) <= _MOST_NUMBERS:
        return None
    data = problem.data
    chosen = np.unique(np.linspace(0, len(data) - 1, min(len(data), _MOST_WINDOWS)).round().astype(int))
    trial = _Trial(problem.with_data(data[chosen]), begin)
    z = problem.zeros()[0]
    best = trial.error(z)
    lower, upper = problem.bounds()
    for width in _WIDTHS:
        for i in places:
            low, high = _values(problem, z, i, lower[i]), _values(problem, z, i, upper[i])
            middle = _values(problem, z, i, z[i])
            around = np.array(_TRIED[_word(names[i])])
            step = np.diff(around).mean()
            tried = around if width == _WIDTHS[0] else middle + width * step * np.array([-1.0, 1.0])
            for x in np.clip(tried, low, high):
                other = z.copy()
                other[i] = lower[i] + (upper[i] - lower[i]) * (x - low) / (high - low)
                if (error := trial.error(other)) < best:
                    best, z = error, other
            say(f"{_word(names[i])} about {_values(problem, z, i, z[i]):.2g}")
    return z


class _Trial:
    def __init__(self, problem: Problem, begin: float):
        self.problem = problem
        self.short = problem.with_data(problem.data.shortened(max(2, round(begin / problem.data.dt))))
        self.starts: np.ndarray | None = None
        self.usual = 0.0

    def error(self, z: np.ndarray) -> float:
        """Mean logarithm of the windows' costs."""
        starts = best_starts(self.short, z, self.starts, 6, 1e-3)
        costs = self.problem.costs(z, starts)
        if self.starts is None:
            self.starts, self.usual = starts, float(np.median(costs[np.isfinite(costs)])) if len(costs) else 0.0
        return float(np.mean(np.log(costs + _LEAST * self.usual + 1e-300)))


def _word(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _values(problem: Problem, z: np.ndarray, i: int, at: float) -> float:
    """The physical value of a number."""
    other = z.copy()
    other[i] = at
    return float(problem.parameters.values(other)[i])
