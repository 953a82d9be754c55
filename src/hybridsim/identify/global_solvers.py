"""Global solvers behind the same interface: local searches from many starts, in any executor."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .basin_hopping import Ended, Hopped, basin_hopping
from .journal import Journal
from .levenberg_marquardt import Point
from .population import Evolved, population
from .problem import Problem
from .solvers import LevenbergMarquardt, Solver
from .starts import best_starts


@dataclass(frozen=True)
class _Search:
    """A local search from any parameters; starts of windows are first made the best for them. Travels to other processes."""

    problem: Problem
    solver: Solver
    seed: int

    def __call__(self, z: np.ndarray) -> Ended:
        s = best_starts(self.problem, z, iterations=5)
        point = self.solver.run(self.problem, Point(z, s), Journal(), "local", self.seed)
        return Ended(point.z, point.cost, point.s)


@dataclass(frozen=True)
class BasinHopping(Solver):
    """The papers' way out of local minima: searches restart around the best end so far, with a spread that fades.

    The result depends on the seed, not on the executor: threads by default, `hs.processes(n)`, or that of a cluster
    (`dask.distributed.Client(...).get_executor()`).
    """

    local: Solver = field(default_factory=lambda: LevenbergMarquardt(iterations=50))
    rounds: int = 20
    searches: int = 8
    """In each round."""
    spread: float = 0.2
    fading: float = 0.5
    """The standard deviation of round r is spread r^-fading, as a part of the distance of the bounds, or of 1."""
    target: float | None = None
    """A cost that is good enough."""
    patience: int | None = None
    """Rounds without a gain after which it ends."""
    time_limit: float | None = None
    """[s]"""
    executor: Executor | None = field(default=None, compare=False, repr=False)

    def run(self, problem, start, journal, stage, seed):
        hopped = basin_hopping(
            _Search(problem, self.local, seed),
            start.z,
            *problem.bounds(),
            spread=self.spread,
            fading=self.fading,
            rounds=self.rounds,
            workers=self.searches,
            executor=self.executor,
            time_limit=self.time_limit,
            target=self.target,
            patience=self.patience,
            seed=seed,
            seen=_noting(journal, stage),
            resume=_hopped(journal.restored(stage)),
        )
        journal.write(stage, _state(hopped))
        return _end(hopped, start)


@dataclass(frozen=True)
class Population(Solver):
    """Islands of candidates that evolve by pygmo (extra `global`), each judged by where a local search from it ends.

    Needs bounds for everything that is free.
    """

    local: Solver = field(default_factory=lambda: LevenbergMarquardt(iterations=10))
    islands: int = 4
    individuals: int = 8
    generations: int = 1
    """Between two migrations."""
    rounds: int = 10
    algorithm: str = "sade"
    target: float | None = None
    time_limit: float | None = None
    """[s]"""
    executor: Executor | None = field(default=None, compare=False, repr=False)

    def run(self, problem, start, journal, stage, seed):
        lower, upper = problem.bounds()
        for name, a, b in zip(problem.parameters.names, lower, upper, strict=True):
            if not (np.isfinite(a) and np.isfinite(b)):
                raise ValueError(
                    f"a population needs bounds, but {name} has none: hs.Free({name!r}, lower=..., upper=...)"
                )
        evolved = population(
            lower,
            upper,
            local=_Search(problem, self.local, seed),
            start=start.z,
            islands=self.islands,
            individuals=self.individuals,
            generations=self.generations,
            rounds=self.rounds,
            algorithm=self.algorithm,
            executor=self.executor,
            time_limit=self.time_limit,
            target=self.target,
            seed=seed,
            seen=_noting(journal, stage),
            resume=_evolved(journal.restored(stage)),
        )
        journal.write(stage, _state(evolved))
        return _end(evolved, start)


def _end(found: Hopped | Evolved, start: Point) -> Point:
    s = start.s if found.best.extra is None else np.asarray(found.best.extra).reshape(start.s.shape)
    done = "stopped" if found.stopped else found.done
    return replace(start, z=found.best.z, s=s, cost=found.best.cost, iteration=len(found.bests), done=done)


def _noting(journal: Journal, stage: str) -> Callable[[Any], None]:
    def seen(found: Hopped | Evolved) -> None:
        journal.note(stage, len(found.bests), found.best.cost, lambda: _state(found))

    return seen


_PARTS = {Hopped: ("round", "place", "starts", "ends", "costs"), Evolved: ("z", "costs", "bests")}


def _state(found: Hopped | Evolved) -> dict[str, Any]:
    best = {"best_z": found.best.z, "best_cost": found.best.cost}
    best |= {} if found.best.extra is None else {"best_extra": found.best.extra}
    return {name: getattr(found, name) for name in _PARTS[type(found)]} | best


def _best(kept: dict[str, np.ndarray]) -> Ended:
    return Ended(kept["best_z"], float(kept["best_cost"]), kept.get("best_extra"))


def _parts(kept: dict[str, np.ndarray], kind: type) -> dict[str, Any]:
    return {name: kept[name] for name in _PARTS[kind]}


def _hopped(kept: dict[str, np.ndarray] | None) -> Hopped | None:
    return None if kept is None else Hopped(best=_best(kept), **_parts(kept, Hopped))


def _evolved(kept: dict[str, np.ndarray] | None) -> Evolved | None:
    return None if kept is None else Evolved(best=_best(kept), **_parts(kept, Evolved))
