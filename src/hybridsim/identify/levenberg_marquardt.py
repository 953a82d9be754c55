"""Levenberg-Marquardt with bounds (Marquardt 1963), on normal equations in which windows' own numbers are eliminated."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from .normal import Normal


@runtime_checkable
class LeastSquares(Protocol):
    """What is searched: `Problem` is one."""

    def cost(self, z: np.ndarray, s: np.ndarray) -> float: ...

    def normal(self, z: np.ndarray, s: np.ndarray) -> Normal: ...

    def bounds(self) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True)
class Point:
    """Where a search stands; all that is needed to go on from there."""

    z: Float[np.ndarray, " size"]
    s: Float[np.ndarray, "windows own"]
    cost: float = np.inf
    damping: float = 1e-3
    iteration: int = 0
    flat: int = 0
    """How many of the last steps hardly lowered the cost."""
    done: str = ""
    """Why it ended; nothing while it has not."""


def search(
    problem: LeastSquares,
    start: Point,
    iterations: int = 100,
    tolerance: float = 1e-7,
    seen: Callable[[Point], None] = lambda point: None,
    held: tuple[int, ...] = (),
) -> Point:
    """The point of least cost. `seen` is told of every better point; those in `held` stay where they are.

    A trial that is not finite counts as worse. It ends where two steps one after the other lower the cost by less than
    this part of it, or where steps do not change the point any more.
    """
    lower, upper = problem.bounds()
    fixed = np.isin(np.arange(len(start.z)), held)
    now = problem.normal(start.z, start.s)
    if not now.finite:
        raise FloatingPointError(
            "the simulated motion or its slopes at the start are not finite; look at the data, begin elsewhere, shorten "
            "the windows"
        )
    point = replace(start, cost=now.cost, done="")
    while point.iteration < iterations:
        stuck = fixed | ((point.z <= lower) & (now.g > 0)) | ((point.z >= upper) & (now.g < 0))
        damping = point.damping
        while True:
            dz, ds, promised = now.step(damping, stuck)
            z, s = np.clip(point.z + dz, lower, upper), point.s + ds
            cost = problem.cost(z, s)
            small = np.sqrt(np.sum((z - point.z) ** 2) + np.sum(ds**2)) < 1e-12 * (1 + np.linalg.norm(point.z))
            if cost < point.cost:
                following = problem.normal(z, s)
                if following.finite:
                    break
            if small or damping > 1e16:
                return replace(point, damping=damping, done="no better point nearby")
            damping *= 4.0
        flat = point.flat + 1 if point.cost - cost < tolerance * point.cost else 0
        done = "the steps are small" if small else "the cost falls no more" if flat > 1 else ""
        # Nielsen's rule (1999): trust more the nearer the fall of the cost is to what was promised.
        kept = (point.cost - cost) / promised if promised > 0 else 0.5
        damping *= max(1 / 10, 1 - (2 * kept - 1) ** 3)
        point, now = Point(z, s, cost, max(damping, 1e-14), point.iteration + 1, flat, done), following
        seen(point)
        if done:
            return point
    return replace(point, done="out of iterations")
