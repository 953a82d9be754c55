"""How well a model predicts: its errors and its motion on windows of measured runs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from ..identify import Errors, Free, Parameters, Problem
from ..identify.errors import errors_from, positions_known
from ..identify.levenberg_marquardt import Point, search
from ..identify.parts import shown_names, shown_numbers
from ..identify.starts import best_starts
from ..model import Model
from ..model.joints import Prismatic
from .library import one_freedom_joints
from .result import Prediction

_ZERO_SPREAD = 0.05
"""Of the zeros of encoders, before anything is known of a run [rad or m]."""
_ROUND = 4 * np.pi
"""A joint that moves farther turns round: each of its windows is drawn as if it were the first turn [rad]."""


def windows_of(problem: Problem, runs: Sequence[str], apart: int = 1) -> Problem:
    """The problem of some runs only, of each every so many-th window."""
    own = np.array(problem.data.runs)
    chosen = [i for run in runs for i in np.flatnonzero(own == run)[::apart]]
    return problem.with_data(problem.data[np.array(chosen, dtype=int)])


def judged(problem: Problem, z: np.ndarray, begin: float, apart: int) -> tuple[Errors, Prediction]:
    """Of all windows of a problem, each started by its first `begin` seconds (0: as measured); the motion of those that
    do not overlap."""
    data, s = problem.data, problem.zeros()[1]
    if begin > 0:
        short = problem.with_data(data.shortened(max(2, round(begin / data.dt))))
        s = best_starts(short, z, iterations=10, tolerance=1e-4)
    differences = problem.differences(z, s)
    errors = errors_from(problem, differences)
    own, model = np.array(errors.runs), problem.motion.model
    chosen = np.array([i for run in dict.fromkeys(errors.runs) for i in np.flatnonzero(own == run)[::apart]], dtype=int)
    first = data.q[chosen]
    measured = np.where(positions_known(problem)[chosen], first, np.nan) - _whole_turns(model, first)
    simulated = measured + differences[chosen]
    times = np.asarray(data.time)[chosen, None] + data.dt * np.arange(data.q.shape[1])
    prediction = Prediction(
        tuple(own[chosen]),
        tuple(name for name, _ in shown_names(model)),
        times,
        _shown(model, measured, first),
        _shown(model, simulated, first),
        begin,
        replace(errors, runs=tuple(own[chosen]), differences=errors.differences[chosen]),
    )
    return errors, prediction


def _shown(model: Model, q: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Motions as people see them, rotations from where each window begins."""
    if not len(q):
        return np.zeros((0, q.shape[1], len(shown_names(model))))
    return np.stack([shown_numbers(model, own, start[0]) for own, start in zip(q, measured, strict=True)])


def _whole_turns(model: Model, q: Float[np.ndarray, "windows samples nq"]) -> Float[np.ndarray, "windows 1 nq"]:
    """How far joints have turned round before each window, where they do so at all [rad]."""
    turns = np.zeros((len(q), 1, q.shape[-1]))
    for joint in one_freedom_joints(model):
        i = model.q_of(joint).start
        kind = model.topology.kinds[model.joint_names.index(joint)]
        if not isinstance(kind, Prismatic) and len(q) and np.ptp(q[..., i]) > _ROUND:
            turns[:, 0, i] = 2 * np.pi * np.round(q[:, 0, i] / (2 * np.pi))
    return turns


def expected(z: np.ndarray, parameters: Parameters, seen: Sequence[str]) -> np.ndarray:
    """z, with what every run has of its own (the zeros of its encoders) at the mean of the runs `seen` in the others.

    A mean that is small beside its uncertainty is taken for nothing (the factor of James and Stein).
    """
    found = z.copy()
    if parameters.columns is None:
        return found
    known = np.isin(parameters.runs, seen)
    for places in parameters.columns.T:
        if known.any() and np.ptp(places):
            mean, count = float(np.mean(z[places[known]])), int(known.sum())
            doubt = float(np.var(z[places[known]], ddof=1)) / count if count > 1 else mean**2
            found[places[~known]] = mean * max(1 - doubt / max(mean**2, 1e-300), 0.0)
    return found


def zeros_found(
    problem: Problem, z: np.ndarray, free: Sequence[Free], runs: Sequence[str], seconds: float, noise: float
) -> np.ndarray:
    """z, with the zeros of the encoders (`free`) of some runs as their first seconds tell them."""
    own = problem.parameters
    controls = np.shape(own.base.apparatus.control_gain)[0]
    few = [replace(f, prior=(0.0, _ZERO_SPREAD)) for f in free]
    zeros = Parameters(own.base.model, few, controls, None, runs)
    data = problem.data
    first = np.flatnonzero(np.isin(data.runs, runs) & (data.time <= seconds - data.dt * data.steps + 1e-9))
    part = problem.with_data(data[first]).part(zeros, z).scaled(1 / noise)
    start = Point(
        z[[own.names.index(name) for name in zeros.names]], best_starts(part, np.zeros(zeros.size), iterations=5)
    )
    found = z.copy()
    found[[own.names.index(name) for name in zeros.names]] = search(part, start, 10, 1e-3).z
    return found
