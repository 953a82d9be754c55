"""The best starts of windows for given parameters: many small searches at once, each with a damping of its own."""

import numpy as np
from jaxtyping import Float

from .problem import Problem


def growing_starts(problem: Problem, z: Float[np.ndarray, " size"]) -> Float[np.ndarray, "windows own"]:
    """`best_starts`, for ever longer parts of the windows: the cost of a long chaotic motion has many poor minima."""
    s = problem.zeros()[1]
    for part in (8, 3, 1):
        steps = max(2, problem.data.steps // part)
        s = best_starts(problem.with_data(problem.data.shortened(steps)), z, s)
    return s


def best_starts(
    problem: Problem,
    z: Float[np.ndarray, " size"],
    s: Float[np.ndarray, "windows own"] | None = None,
    iterations: int = 30,
    tolerance: float = 1e-9,
) -> Float[np.ndarray, "windows own"]:
    """Levenberg-Marquardt in every window by itself. Where a motion is not finite its start stays as measured."""
    s = problem.zeros()[1] if s is None else s.copy()
    if not problem.own:
        return s
    damping = np.full(len(s), 1e-3)
    cost = problem.costs(z, s)
    active: np.ndarray = np.isfinite(cost)
    for _ in range(iterations):
        rows = np.flatnonzero(active)
        if not len(rows):
            break
        some = problem.with_data(problem.data[rows])
        normal = some.normal(z, s[rows])
        diagonal = np.einsum("wii->wi", normal.C)
        diagonal = np.maximum(diagonal, 1e-12 * diagonal.max(axis=1, keepdims=True) + 1e-300)
        trying = np.isfinite(normal.C.sum(axis=(1, 2)) + normal.h.sum(axis=1))
        active[rows[~trying]] = False
        for _ in range(12):
            if not trying.any():
                break
            t = np.flatnonzero(trying)
            C = normal.C[t] + (damping[rows[t]][:, None] * diagonal[t])[:, :, None] * np.eye(problem.own)
            ds = -np.linalg.solve(C, normal.h[t][..., None])[..., 0]
            new = s[rows[t]] + ds
            trial = problem.with_data(problem.data[rows[t]]).costs(z, new)
            better = trial < cost[rows[t]]
            won, lost = rows[t[better]], rows[t[~better]]
            gained = (cost[won] - trial[better]) > tolerance * cost[won]
            s[won], cost[won] = new[better], trial[better]
            damping[won] = np.maximum(damping[won] / 6, 1e-12)
            active[won[~gained]] = False
            damping[lost] *= 4
            small = np.linalg.norm(ds[~better], axis=1) < 1e-10
            active[lost[small]] = False
            trying[t[better]] = False
            trying[t[~better][small]] = False
        active[rows[trying]] = False
    return s
