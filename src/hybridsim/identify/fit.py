"""From logs to a calibrated model."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Literal

import jax
import numpy as np

from ..contact import Contact
from ..data.log import Trajectory
from ..model import Model
from ..model.checks import check_kind
from ..simulate import Integrator, SemiImplicitEuler
from .apparatus import Apparatus
from .blas import one_thread
from .cautions import IdentifiabilityWarning, caution_logs, caution_steps
from .errors import errors_of
from .estimates import estimates, numbers, physical_covariance
from .free import Free
from .identifiability import Identifiability, identifiability
from .journal import Journal, fingerprint, shown
from .levenberg_marquardt import Point
from .losses import Loss, Squares
from .measured import Compare, Measured, several
from .prepare import prepare
from .problem import Problem
from .result import Fit
from .solvers import LevenbergMarquardt, Solver
from .starts import best_starts
from .uncertainty import uncertainty


@one_thread
def fit(
    model: Model,
    logs: Trajectory | Sequence[Trajectory],
    free: str | Free | Sequence[str | Free],
    solver: Solver = LevenbergMarquardt(),
    *,
    window: float = 1.0,
    stride: float | None = None,
    dt: float | None = None,
    substeps: int = 1,
    compare: Compare = "position",
    start: Literal["fitted", "measured"] = "fitted",
    loss: Loss = Squares(),
    jump: float | None = None,
    horizons: Sequence[float] = (),
    integrator: Integrator = SemiImplicitEuler(),
    contact: Contact | Literal["auto"] | None = "auto",
    folder: str | os.PathLike | None = None,
    resume: bool = False,
    seed: int = 0,
    progress: bool = False,
) -> Fit:
    """Parameters and weights for which simulated windows of the logs are nearest to measured ones (NeuralSim's equation 1).

    `free`: paths or patterns of what may change ("link/*/mass", "joint/*/damping", "network", "control/delay", ...), or
    `hs.Free` with bounds, scale, ties and priors. Each window of `window` seconds begins at a start that is fitted too, or
    as measured. With one dt as the window and the start as measured this is the one-step loss, quick and sensitive to noise.

    `compare`: what is compared, with the standard deviation of its noise if known: {"position": 1e-3}. `dt`: the logs are
    resampled to it (their own step); `substeps` of the simulator lie in each. `jump` joins windows of a run (multiple
    shooting): the standard deviation of a state's jump between them. `horizons`: begin with shorter windows [s].

    `folder` keeps the progress of long fits, with `resume` a killed one goes on; Ctrl-C returns the best fit until then.
    """
    check_kind("solver", solver, Solver, "hs.LevenbergMarquardt(), hs.LBFGSB() or another one")
    logs = several(logs)
    problem = prepare(
        model,
        logs,
        free,
        window=window,
        stride=stride,
        dt=dt,
        substeps=substeps,
        compare=compare,
        start=start,
        loss=loss,
        jump=jump,
        integrator=integrator,
        contact=contact,
    )
    caution_logs(logs, model)
    known = isinstance(compare, Mapping)
    found = solved(problem, solver, known, horizons, folder, resume, seed, progress)
    return replace(found, model=replace(found.model, timestep=model.timestep))


def solved(
    problem: Problem,
    solver: Solver,
    known: bool = False,
    horizons: Sequence[float] = (),
    folder: str | os.PathLike | None = None,
    resume: bool = False,
    seed: int = 0,
    progress: bool | Callable[[str, int, float], None] = False,
    start: Point | None = None,
) -> Fit:
    """The fit of a problem that is prepared. `known`: whether its weights are those of noise of a known level; `progress`
    may be a function that is told of stage, iteration and cost."""
    with nullcontext(progress) if callable(progress) else shown(progress) as show:
        journal = Journal(folder, _fingerprint(problem, solver, horizons, seed), resume, show)
        problem, point = _solve(problem, solver, horizons, journal, seed, known, start)
    return _result(problem, point, problem.parameters.model(point.z), journal, known)


def _solve(
    problem: Problem,
    solver: Solver,
    horizons: Sequence[float],
    journal: Journal,
    seed: int,
    known: bool,
    start: Point | None,
) -> tuple[Problem, Point]:
    """Stage after stage: short windows first, and, where priors have to be weighed against noise of unknown level, again."""
    z, s = problem.zeros()
    if problem.own and journal.stage is None and start is None:
        s = best_starts(problem, z, iterations=5)
    point = Point(z, s) if start is None else start
    stages = [f"horizon {h:g} s" for h in horizons] + ["fit"]
    weigh = not known and len(problem.parameters.prior()[0]) > 0
    stages += ["fit, noise known", "fit, noise known better"] if weigh else []
    skip = journal.stage in stages
    for stage, horizon in zip(stages, [*horizons, None, None, None], strict=False):
        if skip and stage != journal.stage:
            continue
        skip = False
        point = journal.start(stage, point)
        if weigh:
            problem = _at_level(problem, point)
        short = problem if horizon is None else problem.with_data(_short(problem.data, horizon))
        by = solver if horizon is None else solver.roughly()
        point = by.run(short, Point(point.z, point.s, damping=point.damping), journal, stage, seed)
        if point.done == "stopped":
            break
    return problem, point


def _at_level(problem: Problem, point: Point) -> Problem:
    """Weights such that residuals have the variance 1."""
    residuals = problem.residuals(point.z, point.s)
    squares = sum(float(np.sum((problem.data.weights[n] * r) ** 2)) for n, r in residuals.items())
    left = max(problem.data.count - problem.size - point.s.size, 1)
    return problem.scaled(1 / max(np.sqrt(squares / left), 1e-300))


def _short(data: Measured, horizon: float) -> Measured:
    if not horizon > 0:
        raise ValueError(f"a horizon is {horizon} s, but must be positive")
    return data.shortened(max(2, round(horizon / data.dt)))


def _result(problem: Problem, point: Point, model: Model, journal: Journal, known: bool) -> Fit:
    caution_steps(problem, point)
    lower, upper = problem.bounds()
    at_bound = (point.z <= lower) | (point.z >= upper)
    sure = uncertainty(problem, point, known, at_bound)
    told = _identifiability(problem, point, sure.noise if not known else 1.0)
    if told is not None and told.rank < len(told.numbers):
        warnings.warn(str(told), IdentifiabilityWarning, stacklevel=4)
    lost = frozenset() if told is None else frozenset(n for n, ok in told.determined.items() if not ok)
    free = problem.parameters
    return Fit(
        model,
        *_apparatus(problem, point),
        estimates(free, point.z, sure, lost),
        physical_covariance(free, point.z, sure),
        "of weights of networks nothing is said" if told is None else str(told),
        sure.words,
        sure.noise,
        errors_of(problem, point.z, point.s),
        np.array(journal.costs),
        point.cost,
        point.done,
        journal.seconds,
        not known,
        problem,
        point,
    )


def _apparatus(problem: Problem, point: Point) -> tuple[Apparatus, dict[str, Apparatus]]:
    """For runs that are not known, and for those that are."""
    free = problem.parameters
    x = free.values(point.z)
    if free.columns is None:
        return free.setup(x).apparatus, {}
    by_run = {run: free.local.setup(x[row]).apparatus for run, row in zip(free.runs, free.columns, strict=True)}
    of_runs = np.concatenate([np.full(p.size, p.free.per_run) for p in free.local.list])
    start = free.local.values(np.zeros(free.local.size))
    return free.local.setup(np.where(of_runs, start, x[free.columns[0]])).apparatus, by_run


def _identifiability(problem: Problem, point: Point, noise: float) -> Identifiability | None:
    """Which combinations of physical numbers the data see, whatever networks may explain; of weights nothing is said."""
    free = problem.parameters
    physical = np.concatenate([np.full(p.size, not p.networks) for p in free.list])
    if not physical.any():
        return None
    R = problem.root(point.z, point.s) / max(noise, 1e-300)
    if not physical.all():
        U, singular, _ = np.linalg.svd(R[:, ~physical], full_matrices=False)
        U = U[:, singular > 1e-9 * singular.max(initial=1e-300)]
        R = R - U @ (U.T @ R)
    chosen = [number for number, keep in zip(numbers(free, point.z), physical, strict=True) if keep]
    return identifiability(R[:, physical], chosen, free.slopes(point.z)[np.ix_(physical, physical)])


def _fingerprint(problem: Problem, solver: Solver, horizons: Sequence[float], seed: int) -> str:
    data, free = problem.data, [(p.names, p.free) for p in problem.parameters.list]
    how = problem.integrator, problem.contact, problem.substeps, problem.own_start, problem.loss, problem.jump
    options = solver, tuple(horizons), seed, free, how
    arrays = [np.asarray(leaf) for leaf in jax.tree.leaves(problem.parameters.base)]
    weights = [w for _, w in sorted(data.weights.items())]
    return fingerprint(options, data.runs, data.dt, *arrays, data.q, data.qd, data.controls, *weights)
