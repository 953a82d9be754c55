"""How sure a fit is: the covariance of what was identified, from the curvature of the cost at its end."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from .levenberg_marquardt import Point
from .problem import Problem

_CORRELATED = 0.3
"""Beyond this correlation of neighbouring residuals they do not count as so many independent ones."""
_DIFFERENT = 1.5
"""Beyond this part of the noise's variance windows differ by more than noise."""
_LARGEST = 1e12
"""Variances beyond it are given as infinite."""


@dataclass(frozen=True)
class Uncertainty:
    """In search coordinates."""

    covariance: Float[np.ndarray, "size size"]
    noise: float
    """Standard deviation of the residuals, in units of the noise that was given, or of what is compared."""
    correlation: float
    """Between a residual and the next one in time: near 0 where only noise is left."""
    words: str
    """How it was found."""
    wide: float
    """Half of an interval of 95 %, in standard deviations: Student's t where the noise is known from few residuals only."""


def uncertainty(problem: Problem, point: Point, known_noise: bool, held: Bool[np.ndarray, " size"]) -> Uncertainty:
    """Gauss-Newton. Where noise is not known its level is that of the residuals.

    Residuals that are correlated in time say that the model is not whole, or the noise not white; then each window
    counts as one observation (the sandwich of Huber and White, by windows). Where windows are few, the covariance is
    enlarged as for so many fewer samples, (1 + c) / (1 - c), or, if that is more, as windows differ on the average over
    all directions: of single directions few windows tell nothing.
    """
    residuals = problem.residuals(point.z, point.s)
    weighted = {name: problem.data.weights[name] * r for name, r in residuals.items()}
    squares = sum(float(np.sum(r**2)) for r in weighted.values())
    left = max(problem.data.count - problem.size - point.s.size, 1)
    noise, c = float(np.sqrt(squares / left)), _correlation(weighted)
    normal = problem.normal(point.z, point.s)
    information = normal.of_parameters()[0]
    bread = _inverse(information, held)
    level = 1.0 if known_noise else noise**2
    words = "from the noise that was given" if known_noise else "from the level of the residuals"
    covariance = level * bread
    if c > _CORRELATED:
        if len(problem.data) >= 3 * problem.size and not normal.E:
            covariance = bread @ _by_windows(problem, point, held) @ bread
            words = f"from how windows differ, since residuals are correlated in time ({c:.2f})"
        else:
            covariance = covariance * max(
                (1 + c) / (1 - c), _between_windows(problem, point, information, held) / level
            )
            words += f", enlarged since residuals are correlated in time ({c:.2f})"
    elif (more := _between_windows(problem, point, information, held) / level) > _DIFFERENT:
        covariance = covariance * more
        words += f", enlarged since windows differ more than their noise ({np.sqrt(more):.1f} times)"
    wide = 1.959964 if known_noise else _student(left)
    return Uncertainty(covariance, noise, c, words, wide)


def _student(freedoms: int) -> float:
    """Half of the interval that holds 95 % of Student's distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(freedoms, 0.975)) if freedoms < 1000 else 1.959964


def _inverse(information: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Of those that are not held; what has no effect gets a variance of 1e12 instead of none."""
    free = ~held
    scale = np.sqrt(np.maximum(np.diag(information), 1 / _LARGEST))[free]
    scaled = information[np.ix_(free, free)] / np.outer(scale, scale)
    values, vectors = np.linalg.eigh((scaled + scaled.T) / 2)
    inverse = (vectors / np.maximum(values, 1e-14)) @ vectors.T / np.outer(scale, scale)
    found = np.zeros_like(information)
    found[np.ix_(free, free)] = inverse
    return found


def _by_windows(problem: Problem, point: Point, held: np.ndarray) -> np.ndarray:
    """The spread of the windows' slopes of the cost."""
    total = np.zeros((problem.size, problem.size))
    for _, r, J, K, _ in problem.rows(point.z, point.s):
        if problem.own:
            Kt = K.transpose(0, 2, 1)
            tiny = 1e-13 * np.einsum("wnm,wnm->wm", K, K)[:, :, None] * np.eye(problem.own)
            J = J - K @ np.linalg.solve(Kt @ K + tiny, Kt @ J)
        slopes = (J.transpose(0, 2, 1) @ r[..., None])[..., 0]
        total += slopes.T @ slopes
    count = len(problem.data)
    return total * count / max(count - problem.size, 1)


def _between_windows(problem: Problem, point: Point, information: np.ndarray, held: np.ndarray) -> float:
    """The variance of residuals as the windows' slopes of the cost show it, over all that is determined: tr(A^-1 M) / rank.

    For independent residuals it is their own variance. Slopes at the minimum have a mean of zero, hence n / (n - 1).
    """
    free = ~held
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))[free]
    values, vectors = np.linalg.eigh(information[np.ix_(free, free)] / np.outer(scale, scale))
    known = values > 1e-10 * max(float(values.max(initial=0.0)), 1e-300)
    count = len(problem.data)
    if count < 2 or not known.any():
        return 0.0
    spread = _by_windows(problem, point, held)[np.ix_(free, free)] / np.outer(scale, scale)
    spread *= max(count - problem.size, 1) / (count - 1)
    along = np.einsum("ik,ij,jk->k", vectors[:, known], spread, vectors[:, known])
    return float(np.mean(along / values[known]))


def _correlation(weighted: dict[str, np.ndarray]) -> float:
    """Of neighbours in time, over all that is compared."""
    product = sum(float(np.sum(r[:, 1:] * r[:, :-1])) for r in weighted.values())
    square = sum(float(np.sum(r[:, 1:] ** 2) + np.sum(r[:, :-1] ** 2)) / 2 for r in weighted.values())
    return float(np.clip(product / square, 0.0, 0.999)) if square > 0 else 0.0
