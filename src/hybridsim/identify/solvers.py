"""Local solvers behind one interface: Levenberg-Marquardt, L-BFGS-B, Adam over windows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..augment.train import Adam as AdamSteps
from ..model.checks import POSITIVE
from .journal import Journal
from .levenberg_marquardt import Point, search
from .problem import Problem


class Solver(ABC):
    """From a point to a better one. An interrupted search returns the best point until then, with `done` "stopped"."""

    @abstractmethod
    def run(self, problem: Problem, start: Point, journal: Journal, stage: str, seed: int) -> Point: ...

    def roughly(self) -> "Solver":
        """For stages whose result only begins the next one."""
        return self


def check_counts(options: Any, *names: str) -> None:
    """Whole numbers, at least 1."""
    for name in names:
        value = getattr(options, name)
        if not isinstance(value, int | np.integer) or value < 1:
            raise ValueError(f"{type(options).__name__}: {name} is {value!r}; it must be a whole number, at least 1")


@dataclass(frozen=True)
class LevenbergMarquardt(Solver):
    """For residuals and up to some hundred parameters the fastest by far."""

    iterations: int = 100
    tolerance: float = 1e-7
    """It ends where two steps in a row lower the cost by less than this part of it."""

    def __post_init__(self) -> None:
        check_counts(self, "iterations")
        POSITIVE.check("LevenbergMarquardt: tolerance", self.tolerance)

    def roughly(self):
        return replace(self, tolerance=max(self.tolerance, 1e-2))

    def run(self, problem, start, journal, stage, seed):
        kept = journal.restored(stage)
        if kept is not None:
            counts = int(kept["iteration"]), int(kept["flat"])
            start = Point(kept["z"], kept["s"], float(kept["cost"]), float(kept["damping"]), *counts, str(kept["done"]))
            if start.done:
                return start
        best = start

        def seen(point: Point) -> None:
            nonlocal best
            best = point
            journal.note(stage, point.iteration, point.cost, lambda: vars(point))

        try:
            best = search(problem, start, self.iterations, self.tolerance, seen)
        except KeyboardInterrupt:
            journal.write(stage, vars(best))
            return replace(best, done="stopped")
        journal.write(stage, vars(best))
        return best


@dataclass(frozen=True)
class LBFGSB(Solver):
    """For many parameters (networks) and all windows at once; needs gradients only (Zhu, Byrd, Lu, Nocedal 1997)."""

    iterations: int = 500
    tolerance: float = 1e-12
    memory: int = 20
    """Steps from which it guesses the curvature."""

    def __post_init__(self) -> None:
        check_counts(self, "iterations", "memory")
        POSITIVE.check("LBFGSB: tolerance", self.tolerance)

    def run(self, problem, start, journal, stage, seed):
        from scipy.optimize import minimize

        known = journal.restored(stage) or dict.fromkeys(("points", "values", "slopes"), np.zeros(0))
        points, values, slopes = (list(known[name]) for name in ("points", "values", "slopes"))
        shape, n, asked, count, before = start.s.shape, problem.size, 0, 0, int(known.get("iteration", 0))
        best = start

        def evaluate(both):
            nonlocal asked, best
            if asked == len(points):
                cost, g, h = problem.gradient(both[:n], both[n:].reshape(shape))
                if not (np.isfinite(cost) and np.all(np.isfinite(g)) and np.all(np.isfinite(h))):
                    cost, g, h = 1e300, np.zeros_like(g), np.zeros_like(h)
                points.append(both.copy())
                values.append(cost)
                slopes.append(np.concatenate([g, h.ravel()]))
            # A resumed search asks for the same points again, and is answered from memory.
            value, slope = float(values[asked]), slopes[asked]
            asked += 1
            if value < best.cost:
                best = Point(both[:n].copy(), both[n:].reshape(shape).copy(), value)
            return value, slope

        def after(_):
            nonlocal count
            count += 1
            if count > before:
                journal.note(stage, count, best.cost, state)

        def state():
            return {"points": points, "values": values, "slopes": slopes, "iteration": count}

        lower, upper = problem.bounds()
        free = np.full(start.s.size, np.inf)
        bounds = np.stack([np.concatenate([lower, -free]), np.concatenate([upper, free])], axis=1)
        options = {"maxiter": self.iterations, "maxfun": 3 * self.iterations, "maxcor": self.memory}
        options |= {"ftol": self.tolerance, "gtol": 1e-12}
        first = np.concatenate([start.z, start.s.ravel()])
        if evaluate(first)[0] >= 1e300:
            raise FloatingPointError(
                "the simulated motion at the start is not finite; begin elsewhere, shorten the windows"
            )
        asked = 0
        try:
            ended = minimize(
                evaluate, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options, callback=after
            )
            done = str(ended.message)
        except KeyboardInterrupt:
            done = "stopped"
        journal.write(stage, state())
        return replace(best, iteration=count, done=done)


@dataclass(frozen=True)
class Adam(Solver):
    """Mini-batches of windows, for long logs and networks (Kingma and Ba 2015). The rate fades like a cosine."""

    steps: int = 1000
    learning_rate: float = 1e-2
    batch: int | None = None
    """Windows of each step; None: all."""
    start_rate: float = 1e-3
    """Learning rate of the windows' starts [rad, m, and per s], which are known better than parameters."""

    def __post_init__(self) -> None:
        check_counts(self, "steps", *(() if self.batch is None else ("batch",)))
        POSITIVE.check("Adam: learning_rate", self.learning_rate)
        POSITIVE.check("Adam: start_rate", self.start_rate)

    def run(self, problem, start, journal, stage, seed):
        count, lower, upper = len(problem.data), *problem.bounds()
        of_z, of_s = AdamSteps(start.z.size), AdamSteps(start.s.size)
        z, s, first, best = start.z, start.s, 0, replace(start, cost=np.inf)
        kept = journal.restored(stage)
        if kept is not None:
            z, s, first = kept["z"], kept["s"], int(kept["iteration"])
            best = Point(kept["best_z"], kept["best_s"], float(kept["best"]))
            for adam, name in ((of_z, "of_z"), (of_s, "of_s")):
                adam.mean, adam.square, adam.count = kept[f"{name}.mean"], kept[f"{name}.square"], first

        def state():
            moments = {
                f"{name}.{part}": getattr(adam, part)
                for adam, name in ((of_z, "of_z"), (of_s, "of_s"))
                for part in ("mean", "square")
            }
            found = {"best_z": best.z, "best_s": best.s, "best": best.cost}
            return {"z": z, "s": s, "iteration": iteration} | found | moments

        done, iteration = "out of steps", first
        try:
            for iteration in range(first, self.steps):
                chosen = None
                if self.batch is not None and self.batch < count:
                    # A generator for each step: seed and step are all that has to be remembered of chance.
                    rng = np.random.default_rng([seed, iteration])
                    chosen = np.sort(rng.choice(count, self.batch, replace=False))
                cost, g, h = problem.gradient(z, s, chosen)
                if not (np.isfinite(cost) and np.all(np.isfinite(g))):
                    raise FloatingPointError(
                        f"the cost is {cost} at step {iteration} of Adam; give a smaller learning_rate, or shorter windows"
                    )
                if chosen is None and cost < best.cost:
                    best = Point(z, s, cost, iteration=iteration)
                fading = 0.5 * (1 + np.cos(np.pi * iteration / self.steps))
                slope_s = np.zeros_like(s)
                slope_s[slice(None) if chosen is None else chosen] = h
                z = np.clip(of_z.step(z, g, fading * self.learning_rate)[0], lower, upper)
                s = of_s.step(s.ravel(), slope_s.ravel(), fading * self.start_rate)[0].reshape(s.shape)
                iteration += 1
                journal.note(stage, iteration, cost, state)
        except KeyboardInterrupt:
            done = "stopped"
        journal.write(stage, state())
        last = problem.cost(z, s)
        if last < best.cost or best.cost == np.inf:
            best = Point(z, s, last)
        return replace(best, iteration=iteration, done=done)
