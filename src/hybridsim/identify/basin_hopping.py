"""Parallel monotonic basin hopping: out of poor local minima by restarting local searches around the best end so far.

As in NeuralSim (Heiden et al. 2021, section III-B, figure 4), after McCarty, Burke and McGuire (2018). Unlike there, workers
wait for each other at the end of a round, so that a seed gives the same result on any number of threads or machines.
"""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from .executors import as_they_end, threads


@dataclass(frozen=True)
class Ended:
    """Where a local search ended."""

    z: Float[np.ndarray, " parameters"]
    cost: float
    extra: Any = None
    """What else belongs to it, such as the start states of windows."""


Local = Callable[[np.ndarray], Ended]
"""A local search from a start. It raises FloatingPointError where it cannot begin, which counts as an infinite cost."""


@dataclass(frozen=True)
class Hopped:
    """What all local searches found, sorted by round and place within it; all that is needed to go on from there."""

    best: Ended
    round: Int[np.ndarray, " searches"]
    place: Int[np.ndarray, " searches"]
    starts: Float[np.ndarray, "searches parameters"]
    ends: Float[np.ndarray, "searches parameters"]
    costs: Float[np.ndarray, " searches"]
    """Infinite where a search could not begin."""
    done: str = ""
    """Why it ended; nothing while it has not."""
    stopped: bool = False
    """Whether Ctrl-C ended it."""

    @property
    def bests(self) -> Float[np.ndarray, " rounds"]:
        """The least cost after each round; it never rises."""
        rounds = int(self.round.max(initial=-1)) + 1
        least = [self.costs[self.round == r].min(initial=np.inf) for r in range(rounds)]
        return np.minimum.accumulate(np.array(least, dtype=float))

    def best_before(self, r: int) -> np.ndarray | None:
        """The best end of all earlier rounds, if any search had one."""
        costs = self.costs[self.round < r]
        return self.ends[int(np.argmin(costs))] if np.isfinite(costs).any() else None


def basin_hopping(
    local: Local,
    start: np.ndarray | Sequence[np.ndarray],
    lower: Float[np.ndarray, " parameters"],
    upper: Float[np.ndarray, " parameters"],
    *,
    spread: float | np.ndarray = 0.2,
    fading: float = 0.5,
    rounds: int = 20,
    workers: int = 8,
    executor: Executor | None = None,
    time_limit: float | None = None,
    target: float | None = None,
    patience: int | None = None,
    seed: int = 0,
    seen: Callable[[Hopped], None] = lambda hopped: None,
    resume: Hopped | None = None,
) -> Hopped:
    """The best of many local searches: `workers` in each of the `rounds`.

    The first round begins at the given start, or starts, and else anywhere between the bounds. Round r begins around the
    best so far, normally distributed within the bounds with the standard deviation `spread` r^-`fading`, as a part of the
    distance of the bounds or, where one is missing, of 1.

    It ends after all rounds, `patience` rounds without a gain, at the end of a round with a cost up to `target`, or when no
    search is begun any more because `time_limit` [s] is over. `seen` is told after every round, for a file from which to
    `resume`: with the same options the result is that of an uninterrupted run. Ctrl-C returns what there is.
    """
    plan = _Plan(np.atleast_2d(np.asarray(start, dtype=float)), lower, upper, spread, fading, workers, seed)
    for name, value in {"rounds": rounds, "patience": patience, "time_limit": time_limit}.items():
        if value is not None and not value > 0:
            raise ValueError(f"{name} is {value}; it has to be positive")
    state = _nothing(plan.starts[0]) if resume is None else replace(resume, done="", stopped=False)
    if state.best.z.shape != lower.shape:
        raise ValueError(
            f"resume is of {len(state.best.z)} parameters, but there are {len(lower)}; give the same problem"
        )
    search = partial(searched, local, lower, upper)
    pool = threads(min(workers, os.cpu_count() or 1)) if executor is None else executor
    end = np.inf if time_limit is None else time.monotonic() + time_limit
    found: list[tuple[int, int, np.ndarray, Ended]] = []
    try:
        while True:
            r, places = plan.open(state)
            done = _reason(state.bests[:r], rounds, patience, target) or (
                "out of time" if time.monotonic() >= end else ""
            )
            if done:
                break
            centre = state.best_before(r)
            tasks = [plan.draw(r, place, centre) for place in places]
            seconds = None if time_limit is None else end - time.monotonic()
            found = []
            for i, ended in as_they_end(pool, search, tasks, seconds=seconds):
                found.append((r, places[i], tasks[i], ended))
            state, found = _with(state, found), []
            seen(state)
    except KeyboardInterrupt:
        return replace(_with(state, found), done="stopped by Ctrl-C", stopped=True)
    finally:
        if executor is None:
            pool.shutdown(wait=False, cancel_futures=True)
    if not np.isfinite(state.best.cost):
        raise FloatingPointError(
            f"none of {len(state.costs)} starts has a finite cost; look at the data and the bounds, shorten the windows"
        )
    return replace(state, done=done)


@dataclass(frozen=True)
class _Plan:
    """Where searches begin."""

    starts: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    spread: float | np.ndarray
    fading: float
    workers: int
    seed: int

    def __post_init__(self):
        n = len(self.lower)
        if self.starts.shape[1:] != (n,) or self.starts.shape[0] == 0:
            raise ValueError(f"start has the shape {self.starts.shape}; give one or several vectors of {n} numbers")
        if np.any(self.lower > self.upper):
            i = int(np.argmax(self.lower > self.upper))
            raise ValueError(
                f"bounds of parameter {i} are {self.lower[i]} and {self.upper[i]}; the lower one comes first"
            )
        outside = ~((self.starts >= self.lower) & (self.starts <= self.upper))
        if np.any(outside):
            k, i = np.argwhere(outside)[0]
            raise ValueError(
                f"start {k} has parameter {i} at {self.starts[k, i]}, not between {self.lower[i]} and {self.upper[i]}"
            )
        if not np.all(np.asarray(self.spread) > 0) or np.shape(self.spread) not in ((), (n,)):
            raise ValueError(f"spread is {self.spread}; give a positive number, or one for each of {n} parameters")
        if not self.fading >= 0:
            raise ValueError(f"fading is {self.fading}; give 0 for a constant spread, more for one that shrinks")
        if self.workers < 1:
            raise ValueError(f"workers is {self.workers}; at least 1 search a round is needed")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; give 0 or a positive number")

    def open(self, state: Hopped) -> tuple[int, list[int]]:
        """The round to work at and its places that have not been searched."""
        last = int(state.round.max(initial=0))
        left = self._left(state, last)
        return (last, left) if left else (last + 1, self._left(state, last + 1))

    def _left(self, state: Hopped, r: int) -> list[int]:
        size = max(self.workers, len(self.starts)) if r == 0 else self.workers
        return sorted(set(range(size)) - set(state.place[state.round == r].tolist()))

    def draw(self, r: int, place: int, centre: np.ndarray | None) -> np.ndarray:
        """Where to begin; the same whenever and wherever it is asked."""
        rng = np.random.default_rng([self.seed, r, place])
        if r == 0 and place < len(self.starts):
            return self.starts[place]
        width = self.upper - self.lower
        finite = np.isfinite(width)
        centre = self.starts[0] if centre is None else centre
        sigma = np.maximum(self.spread * np.where(finite, width, 1.0) * max(r, 1) ** -self.fading, 1e-300)
        from scipy.special import ndtr, ndtri

        # A normal distribution cut off at the bounds, by the inverse of its distribution function.
        share = rng.uniform(ndtr((self.lower - centre) / sigma), ndtr((self.upper - centre) / sigma))
        around = centre + sigma * ndtri(np.clip(share, 1e-12, 1 - 1e-12))
        if r == 0:
            anywhere = np.where(finite, self.lower, 0.0) + rng.uniform(size=len(width)) * np.where(finite, width, 0.0)
            around = np.where(finite, anywhere, around)
        return np.clip(around, self.lower, self.upper)


def searched(local: Local, lower: np.ndarray, upper: np.ndarray, start: np.ndarray) -> Ended:
    """Where the local search ends; with an infinite cost where it fails."""
    try:
        ended = local(start)
    except FloatingPointError:
        return Ended(start, np.inf)
    z, cost = np.asarray(ended.z, dtype=float), float(ended.cost)
    if not (np.isfinite(cost) and np.all(np.isfinite(z))):
        return Ended(start, np.inf)
    slack = 1e-9 * (1 + np.abs(z))
    if np.any(z < lower - slack) or np.any(z > upper + slack):
        raise ValueError(f"the local search from {start} ended at {z}, outside of the bounds {lower} and {upper}")
    return Ended(np.clip(z, lower, upper), cost, ended.extra)


def _nothing(start: np.ndarray) -> Hopped:
    """Before the first search."""
    none, rows = np.zeros(0, dtype=int), np.zeros((0, len(start)))
    return Hopped(Ended(start, np.inf), none, none, rows, rows, np.zeros(0))


def _with(state: Hopped, found: list[tuple[int, int, np.ndarray, Ended]]) -> Hopped:
    """With more ends. Of equally good ones the first in order is best, not the first in time."""
    if not found:
        return state
    rounds, places, starts, ended = zip(*found, strict=True)
    round, place = np.append(state.round, rounds), np.append(state.place, places)
    order = np.lexsort((place, round))
    costs = np.append(state.costs, [e.cost for e in ended])
    first = int(order[np.argmin(costs[order])])
    old = len(state.costs)
    best = state.best if first < old or not np.isfinite(costs[first]) else ended[first - old]
    return Hopped(
        best,
        round[order],
        place[order],
        np.vstack([state.starts, *starts])[order],
        np.vstack([state.ends, *(e.z for e in ended)])[order],
        costs[order],
    )


def _reason(bests: np.ndarray, rounds: int, patience: int | None, target: float | None) -> str:
    """To end after these complete rounds; nothing to go on. A gain is a millionth of the cost at least."""
    if target is not None and len(bests) and bests[-1] <= target:
        return "target reached"
    if len(bests) >= rounds:
        return "all rounds done"
    if patience is not None and len(bests) > patience:
        before = bests[-1 - patience]
        if not bests[-1] < (before - 1e-6 * abs(before) if np.isfinite(before) else before):
            return f"no gain in {patience} rounds"
    return ""
