"""Levenberg-Marquardt with bounds, for many windows that share parameters and each have a few numbers of their own.

Each window w has residuals r_w(z, s_w): z are the parameters, s_w what belongs to it alone, such as its start. The normal
equations have the form of an arrow; eliminating every s_w (Schur complement) leaves a system as large as z.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Linearised:
    """Residuals and their slopes at one point."""

    r: Float[np.ndarray, "windows n"]
    J: Float[np.ndarray, "windows n parameters"]
    K: Float[np.ndarray, "windows n own"]

    @property
    def cost(self) -> float:
        return 0.5 * float(np.sum(self.r**2))

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.cost) and np.all(np.isfinite(self.J)) and np.all(np.isfinite(self.K)))


@dataclass(frozen=True)
class Point:
    """Where a search stands; all that is needed to go on from there."""

    z: Float[np.ndarray, " parameters"]
    s: Float[np.ndarray, "windows own"]
    cost: float
    """Half the sum of squares."""
    damping: float = 1e-3
    iteration: int = 0
    done: str = ""
    """Why it ended; nothing while it has not."""


def search(
    evaluate: Callable[[np.ndarray, np.ndarray], Linearised],
    start: Point,
    lower: Float[np.ndarray, " parameters"],
    upper: Float[np.ndarray, " parameters"],
    iterations: int = 100,
    tolerance: float = 1e-10,
    seen: Callable[[Point], None] = lambda point: None,
) -> tuple[Point, Linearised]:
    """The point of least squares. `seen` is told of every better point.

    A trial that is not finite counts as worse. It ends where a step is smaller than `tolerance` beside the point, or lowers
    the cost by less than that part of it.
    """
    point, now = start, evaluate(start.z, start.s)
    if not now.finite:
        raise FloatingPointError(
            "the residuals or their slopes at the start are not finite; look at the data, begin elsewhere, shorten the windows"
        )
    point = Point(point.z, point.s, now.cost, point.damping, point.iteration)
    while point.iteration < iterations:
        normal = _Normal(now)
        held = ((point.z <= lower) & (normal.g > 0)) | ((point.z >= upper) & (normal.g < 0))
        damping = point.damping
        while True:
            dz, ds = normal.step(damping, held)
            z = np.clip(point.z + dz, lower, upper)
            trial = evaluate(z, point.s + ds)
            small = np.sqrt(np.sum((z - point.z) ** 2) + np.sum(ds**2)) < tolerance * (1 + np.linalg.norm(point.z))
            if trial.finite and trial.cost < point.cost:
                break
            if small or damping > 1e16:
                return Point(point.z, point.s, point.cost, damping, point.iteration, "no better point nearby"), now
            damping *= 4.0
        gained = point.cost - trial.cost
        ended = "the steps are small" if small else "the cost falls no more" if gained < tolerance * point.cost else ""
        point = Point(z, point.s + ds, trial.cost, max(damping / 6.0, 1e-14), point.iteration + 1, ended)
        now = trial
        seen(point)
        if ended:
            return point, now
    return Point(point.z, point.s, point.cost, point.damping, point.iteration, "out of iterations"), now


class _Normal:
    """The normal equations at one point."""

    def __init__(self, at: Linearised):
        self.A = np.einsum("wnp,wnq->pq", at.J, at.J)
        self.g = np.einsum("wnp,wn->p", at.J, at.r)
        self.B = np.einsum("wnp,wnm->wpm", at.J, at.K)
        self.C = np.einsum("wnm,wnk->wmk", at.K, at.K)
        self.h = np.einsum("wnm,wn->wm", at.K, at.r)

    def step(self, damping: float, held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the parameters that are not held, and of every window's own numbers; damped by Marquardt's diagonal."""
        own = self.C + damping * _diagonal(self.C) * np.eye(self.C.shape[-1])
        solved = np.linalg.solve(own, np.concatenate([self.B.transpose(0, 2, 1), self.h[..., None]], axis=2))
        inner, alone = solved[..., :-1], solved[..., -1]
        free = ~held
        A = self.A + damping * np.diag(_diagonal(self.A[None])[0, 0]) - np.einsum("wpm,wmq->pq", self.B, inner)
        g = self.g - np.einsum("wpm,wm->p", self.B, alone)
        dz = np.zeros(len(g))
        if np.any(free):
            dz[free] = -np.linalg.lstsq(A[np.ix_(free, free)], g[free], rcond=1e-15)[0]
        return dz, -alone - np.einsum("wmp,p->wm", inner, dz)


def _diagonal(matrices: np.ndarray) -> np.ndarray:
    """Of each, as a row that multiplies columns; nothing is left without damping."""
    found = np.einsum("wii->wi", matrices)
    return np.maximum(found, 1e-12 * max(float(found.max(initial=0.0)), 1e-300))[:, None, :]
