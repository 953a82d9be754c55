"""Profile likelihood: how far one coordinate can move before the best fit with it held there contradicts the data."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from jaxtyping import Float

Solve = Callable[[int, float, np.ndarray], tuple[float, np.ndarray]]
"""(index, value, start) -> (cost, solution): the best fit with coordinate `index` held at `value`, sought from `start`.

The cost is half the sum of squares in units of the noise, minus the log likelihood."""


@dataclass(frozen=True)
class Profile:
    """An interval of a coordinate by Wilks' theorem, and the points from which it was found."""

    index: int
    level: float
    """Probability that the interval contains the truth."""
    best: float
    """Value of the best fit."""
    lower: float
    """Infinite where the data set no end within the bounds."""
    upper: float
    grid: Float[np.ndarray, " points"]
    """All values tried, rising."""
    costs: Float[np.ndarray, " points"]
    better: Float[np.ndarray, " coordinates"] | None
    """A solution of clearly lower cost than the best fit, where one was met."""
    name: str = "the number"

    def words(self) -> str:
        ends = [f"{self.level:.0%} interval of {self.name}:"]
        ends.append(f"from {self.lower:.6g}" if np.isfinite(self.lower) else "no lower end within bounds")
        ends.append(f"to {self.upper:.6g}" if np.isfinite(self.upper) else "and no upper end within bounds")
        text = " ".join(ends)
        if self.better is not None:
            text += f"; a better fit was found at {self.better[self.index]:.4g}: fit again from there"
        return text

    __str__ = words


def profile(
    solve: Solve,
    best: Float[np.ndarray, " coordinates"],
    index: int,
    level: float = 0.95,
    *,
    lower: float = -np.inf,
    upper: float = np.inf,
    step: float = 1.0,
    doublings: int = 20,
    tolerance: float = 1e-4,
) -> Profile:
    """The values nearest to the best one on each side at which 2 (cost - best cost) is the quantile of chi squared.

    lower, upper: bounds of the coordinate. Beyond an end that is not met within them, or within `step` (about the standard
        deviation) doubled `doublings` times, the interval is open.
    tolerance: of an end, beside its distance from the best value.
    """
    centre = float(best[index])
    if not lower <= centre <= upper:
        raise ValueError(f"the best value {centre} is not between the bounds {lower} and {upper}; give wider ones")
    if not (step > 0 and 0 < level < 1):
        raise ValueError(f"step {step} must be positive, level {level} between 0 and 1")
    # The quantile of chi squared with one freedom is the square of this one.
    far = NormalDist().inv_cdf((1 + level) / 2)
    first = solve(index, centre, best)
    if not np.isfinite(first[0]):
        raise ValueError(f"the cost at the best value {centre} is {first[0]}; give the point of a finished fit")
    seen = {centre: first}

    def excess(value: float) -> float:
        """Root of 2 (cost - best), less that of the quantile: a straight line where the cost is quadratic."""
        if value not in seen:
            nearest = min((x for x in seen if np.isfinite(seen[x][0])), key=lambda x: abs(x - value))
            seen[value] = solve(index, value, seen[nearest][1])
        rise = 2 * (seen[value][0] - first[0])
        # What cannot be simulated is as bad as can be; a finite number serves the search for the root.
        return min(np.sqrt(max(rise, 0.0)), 10 * far) - far if np.isfinite(rise) else 9 * far

    def end(bound: float) -> float:
        sign = np.sign(bound)
        limit = upper if sign > 0 else lower
        inside, width = centre, step
        for _ in range(doublings + 1):
            outside = centre + sign * width
            if sign * (outside - limit) > 0:
                outside = limit
            if outside == inside:
                return bound
            if excess(outside) >= 0:
                from scipy.optimize import brentq

                root = brentq(excess, inside, outside, xtol=tolerance * abs(outside - centre), full_output=False)
                return float(np.asarray(root))
            inside, width = outside, 2 * width
        return bound

    ends = end(-np.inf), end(np.inf)
    grid = np.array(sorted(seen))
    costs = np.array([seen[x][0] for x in grid])
    lowest = seen[grid[np.nanargmin(costs)]]
    clearly = first[0] - lowest[0] > 1e-6 * (1 + abs(first[0]))
    return Profile(index, level, centre, *ends, grid, costs, lowest[1] if clearly else None)
