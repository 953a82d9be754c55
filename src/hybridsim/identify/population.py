"""Population-based search by pygmo: islands of parameter vectors that evolve, with a local search inside.

As in NeuralSim (Heiden et al. 2021, section III-B), after Biscani and Izzo, "A parallel global multiobjective framework for
optimization: pagmo" (2020). Islands evolve in the executors of executors.py and exchange their best in a ring; pygmo's own
archipelago migrates whenever an island happens to be ready, so that a seed would not determine its result.
"""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float

from .basin_hopping import Ended, Local, searched
from .executors import run_all, threads

ALGORITHMS: dict[str, dict[str, Any]] = {
    "sade": {},
    "de1220": {},
    "pso": {},
    "bee_colony": {},
    "cmaes": {"force_bounds": True},
    "xnes": {"force_bounds": True},
}
"""Algorithms of pygmo by their names there, with the options that keep them between the bounds."""

_FEWEST = 7
"""Individuals that every one of these algorithms is content with."""

_HUGE = 1e300
"""Stands for an infinite cost: pygmo computes with costs."""

ValueAndGradient = Callable[[np.ndarray], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class Evolved:
    """What a population has found; all that is needed to go on from there."""

    best: Ended
    z: Float[np.ndarray, "islands individuals parameters"]
    costs: Float[np.ndarray, "islands individuals"]
    """NaN of what has not been judged yet, infinite where no search could begin."""
    bests: Float[np.ndarray, " rounds"]
    """The least cost after each round; it never rises."""
    done: str = ""
    """Why it ended; nothing while it has not."""
    stopped: bool = False
    """Whether Ctrl-C ended it."""


def population(
    lower: Float[np.ndarray, " parameters"],
    upper: Float[np.ndarray, " parameters"],
    *,
    value_and_gradient: ValueAndGradient | None = None,
    local: Local | None = None,
    start: np.ndarray | Sequence[np.ndarray] | None = None,
    islands: int = 5,
    individuals: int = 10,
    generations: int = 10,
    rounds: int = 20,
    algorithm: str = "sade",
    executor: Executor | None = None,
    time_limit: float | None = None,
    target: float | None = None,
    seed: int = 0,
    seen: Callable[[Evolved], None] = lambda evolved: None,
    resume: Evolved | None = None,
) -> Evolved:
    """The best of a population, after `rounds` in each of which every island evolves by some `generations`.

    With `value_and_gradient`, an individual is judged by its value, and at the end of a round the best of each island is
    improved by the local search; without `local`, that is L-BFGS. With `local` alone, an individual is judged by the cost
    where the local search from it ends: a population of local optimisers, as in the paper.

    It ends after all rounds, or at the end of a round with a cost up to `target` or after `time_limit` [s]. `seen` is told
    after every round, for a file from which to `resume`. Ctrl-C returns the last complete round.
    """
    _pygmo()
    for name, value, least in (("islands", islands, 1), ("individuals", individuals, _FEWEST), ("seed", seed, 0)):
        if value < least:
            raise ValueError(f"{name} is {value}; give at least {least}")
    for name, value in {"generations": generations, "rounds": rounds, "time_limit": time_limit}.items():
        if value is not None and not value > 0:
            raise ValueError(f"{name} is {value}; it has to be positive")
    if algorithm not in ALGORITHMS:
        raise ValueError(f"there is no algorithm {algorithm!r}; there are {', '.join(ALGORITHMS)}")
    if value_and_gradient is None and local is None:
        raise ValueError("nothing judges an individual; give value_and_gradient, local, or both")
    drawn = _first(lower, upper, start, islands, individuals, seed)
    state = drawn if resume is None else replace(resume, done="", stopped=False)
    if state.z.shape != drawn.z.shape:
        raise ValueError(f"resume is of shape {state.z.shape}, not {drawn.z.shape}; give the same problem and options")
    evolve = partial(_evolve, value_and_gradient, local, lower, upper, algorithm, generations)
    pool = threads(min(islands, os.cpu_count() or 1)) if executor is None else executor
    end = np.inf if time_limit is None else time.monotonic() + time_limit
    try:
        while not (done := _reason(state.bests, rounds, target, end)):
            tasks = [_Task(state.z[i], state.costs[i], _seed(seed, len(state.bests), i)) for i in range(islands)]
            state = _migrated(state, run_all(pool, evolve, tasks))
            seen(state)
    except KeyboardInterrupt:
        return replace(state, done="stopped by Ctrl-C", stopped=True)
    finally:
        if executor is None:
            pool.shutdown(wait=False, cancel_futures=True)
    if not np.isfinite(state.best.cost):
        raise FloatingPointError(
            "no individual has a finite cost; look at the data and the bounds, shorten the windows"
        )
    return replace(state, done=done)


def _pygmo() -> ModuleType:
    try:
        import pygmo
    except ImportError as error:
        raise ImportError("a population search needs pygmo: pip install hybridsim[global]") from error
    return pygmo


def _seed(seed: int, r: int, island: int) -> int:
    return int(np.random.SeedSequence([seed, r, island]).generate_state(1)[0])


def _first(
    lower: np.ndarray,
    upper: np.ndarray,
    start: np.ndarray | Sequence[np.ndarray] | None,
    islands: int,
    individuals: int,
    seed: int,
) -> Evolved:
    """Individuals anywhere between the bounds, but the first ones, of one island after another, where they shall start."""
    good = np.isfinite(lower) & np.isfinite(upper) & (lower < upper)
    if not np.all(good):
        i = int(np.argmin(good))
        raise ValueError(
            f"bounds of parameter {i} are {lower[i]} and {upper[i]}; a population needs finite ones, the lower one first"
        )
    n = len(lower)
    starts = np.zeros((0, n)) if start is None else np.atleast_2d(np.asarray(start, dtype=float))
    if starts.shape[1:] != (n,) or len(starts) > islands * individuals:
        raise ValueError(
            f"start has the shape {starts.shape}; give up to {islands * individuals} vectors of {n} numbers"
        )
    if not np.all((starts >= lower) & (starts <= upper)):
        raise ValueError(f"start {starts} is not between the bounds {lower} and {upper}")
    z = np.random.default_rng(seed).uniform(lower, upper, (individuals, islands, n))
    z.reshape(-1, n)[: len(starts)] = starts
    z = np.ascontiguousarray(z.transpose(1, 0, 2))
    return Evolved(Ended(z[0, 0], np.inf), z, np.full(z.shape[:2], np.nan), np.zeros(0))


@dataclass(frozen=True)
class _Task:
    """An island, and the seed of its round."""

    z: np.ndarray
    costs: np.ndarray
    seed: int


class _Problem:
    """What pygmo asks of a problem. It remembers the best end of a local search."""

    def __init__(self, value_and_gradient: ValueAndGradient | None, local: Local | None, lower, upper):
        self.value_and_gradient, self.local, self.bounds = value_and_gradient, local, (lower, upper)
        self.best: Ended | None = None

    def __deepcopy__(self, memo: dict) -> "_Problem":
        """pygmo copies a problem; what is compiled in ours, and what it remembers, is to be shared."""
        return self

    def get_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self.bounds

    def fitness(self, z: np.ndarray) -> list[float]:
        cost = self.searched(z).cost if self.value_and_gradient is None else self._value_and_gradient(z)[0]
        return [min(cost, _HUGE)]

    def gradient(self, z: np.ndarray) -> np.ndarray:
        return self._value_and_gradient(z)[1]

    def has_gradient(self) -> bool:
        return self.value_and_gradient is not None

    def _value_and_gradient(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """Level where it is not finite, so that L-BFGS turns back there."""
        try:
            value, gradient = self.value_and_gradient(np.array(z))  # pyright: ignore[reportOptionalCall]
        except FloatingPointError:
            return np.inf, np.zeros(len(z))
        finite = np.isfinite(value) and np.all(np.isfinite(gradient))
        return (float(value), np.asarray(gradient, dtype=float)) if finite else (np.inf, np.zeros(len(z)))

    def searched(self, z: np.ndarray) -> Ended:
        """Where the local search ends."""
        ended = searched(self.local or self._lbfgs, *self.bounds, np.array(z))
        if self.best is None or ended.cost < self.best.cost:
            self.best = ended
        return ended

    def _lbfgs(self, z: np.ndarray) -> Ended:
        """NLopt's, which comes with pygmo and keeps to the bounds."""
        pygmo = _pygmo()
        method = pygmo.nlopt("lbfgs")
        method.xtol_rel, method.ftol_rel, method.maxeval = 1e-10, 1e-14, 1000
        one = pygmo.population(self, 0)
        one.push_back(z)
        one = pygmo.algorithm(method).evolve(one)
        return Ended(np.array(one.champion_x), float(_infinite(one.champion_f)[0]))


def _infinite(costs: np.ndarray) -> np.ndarray:
    """Costs of pygmo with infinity where it stands for one."""
    return np.where(np.asarray(costs) >= _HUGE, np.inf, costs)


def _evolve(
    value_and_gradient: ValueAndGradient | None,
    local: Local | None,
    lower: np.ndarray,
    upper: np.ndarray,
    algorithm: str,
    generations: int,
    task: _Task,
) -> tuple[np.ndarray, np.ndarray, Ended]:
    """An island after some generations, its best one improved, and the best that was seen on the way."""
    pygmo = _pygmo()
    problem = _Problem(value_and_gradient, local, lower, upper)
    island = pygmo.population(problem, 0, seed=task.seed)
    for z, cost in zip(task.z, task.costs, strict=True):
        island.push_back(z, problem.fitness(z) if np.isnan(cost) else [min(cost, _HUGE)])
    method = getattr(pygmo, algorithm)(gen=generations, seed=task.seed, **ALGORITHMS[algorithm])
    island = pygmo.algorithm(method).evolve(island)
    z, costs = np.array(island.get_x()), _infinite(island.get_f()[:, 0])
    if value_and_gradient is not None:
        first = int(np.argmin(costs))
        improved = problem.searched(z[first])
        if improved.cost < costs[first]:
            z[first], costs[first] = improved.z, improved.cost
        elif np.isinf(improved.cost):
            problem.best = Ended(z[first].copy(), float(costs[first]))
    best = problem.best or Ended(z[0], np.inf)
    return z, costs, best


def _migrated(state: Evolved, islands: list[tuple[np.ndarray, np.ndarray, Ended]]) -> Evolved:
    """After a round: the best of each island replaces the worst of the next one, if it is better."""
    z, costs = np.stack([island[0] for island in islands]), np.stack([island[1] for island in islands])
    best = min([state.best, *(island[2] for island in islands)], key=lambda ended: ended.cost)
    guests = [(z[i, k].copy(), costs[i, k]) for i, k in enumerate(np.argmin(costs, axis=1))]
    for i, (guest, cost) in enumerate(guests):
        neighbour = (i + 1) % len(islands)
        worst = int(np.argmax(costs[neighbour]))
        if cost < costs[neighbour, worst]:
            z[neighbour, worst], costs[neighbour, worst] = guest, cost
    return Evolved(best, z, costs, np.append(state.bests, best.cost))


def _reason(bests: np.ndarray, rounds: int, target: float | None, end: float) -> str:
    """To end after these rounds; nothing to go on."""
    if target is not None and len(bests) and bests[-1] <= target:
        return "target reached"
    if len(bests) >= rounds:
        return "all rounds done"
    return "out of time" if time.monotonic() >= end else ""
