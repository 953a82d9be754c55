"""What is said aloud about a fit that would otherwise mislead in silence."""

import functools
import warnings
from collections.abc import Callable, Iterable

import numpy as np
from jaxtyping import Float

from ..data.log import DataWarning, Trajectory, quality
from ..dynamics import mass_matrix
from ..model import Model, State
from ..simulate import ImplicitDamping, RungeKutta4, StepWarning, explosion, longest_spring_step
from .levenberg_marquardt import Point
from .problem import Problem

_LOST = 0.5
"""Part of a joint's velocity that friction and damping may take away within one step of the simulator."""
LOST_BY_RUNGE_KUTTA = 1.2
"""The same for an integrator of fourth order, which follows such a decay to a percent."""
_SPRING_SAFETY = 0.7
"""Part of the longest stable step of contact springs that is advised."""
_FEW = 10
"""Samples below which nothing is said of a log."""


class IdentifiabilityWarning(UserWarning):
    """Something that is free is not determined by the data."""


def caution_logs(logs: Iterable[Trajectory], model: Model) -> None:
    """Warn of what `quality` calls bad."""
    for log in logs:
        if len(log) >= _FEW:
            for level, words in quality(log, model).verdicts:
                if level == "bad":
                    warnings.warn(f"{log.run or 'a log'}: {words}", DataWarning, stacklevel=4)


def caution_steps(problem: Problem, point: Point) -> None:
    """Warn where contact springs, friction or damping of the fitted model are too stiff for the simulator's step."""
    _caution_springs(problem, point)
    if isinstance(problem.integrator, ImplicitDamping):
        return
    lost = share_lost(problem, point)
    worst = int(np.argmax(lost))
    most = LOST_BY_RUNGE_KUTTA if isinstance(problem.integrator, RungeKutta4) else _LOST
    if lost[worst] > most:
        step = problem.data.dt / problem.substeps
        enough = int(np.ceil(problem.substeps * lost[worst] / (most / 2)))
        warnings.warn(
            f"friction and damping would take {100 * lost[worst]:.0f} % of the velocity of the joint "
            f"{_owner(problem, worst)!r} within one step of {1e3 * step:.3g} ms: what is fitted answers for the steps too; "
            f"give substeps={enough}, or a larger friction_speed",
            StepWarning,
            stacklevel=4,
        )


def _caution_springs(problem: Problem, point: Point) -> None:
    if not len(problem.data):
        return
    data, step = problem.data, problem.data.dt / problem.substeps
    start = State(data.q[0, 0], np.nan_to_num(data.qd[0, 0]))
    found = longest_spring_step(problem.parameters.model(point.z), start, problem.integrator, problem.contact)
    if found is not None and step > found[0]:
        enough = int(np.ceil(data.dt / (_SPRING_SAFETY * found[0])))
        warnings.warn(f"{explosion(step, found[1])}; give substeps={enough}", StepWarning, stacklevel=5)


def share_lost(problem: Problem, point: Point) -> np.ndarray:
    """Of each freedom, the part of its velocity that friction and damping take in one step, at their steepest."""
    model = problem.parameters.model(point.z)
    friction = np.asarray(model.joints.friction)[model.topology.own_v]
    starts = problem.data.q[:: max(1, len(problem.data) // 5), 0]
    return problem.data.dt / problem.substeps * decay_rates(model, starts, friction)


def decay_rates(
    model: Model, configurations: Float[np.ndarray, "some nq"], friction: Float[np.ndarray, " nv"]
) -> Float[np.ndarray, " nv"]:
    """How fast damping and friction slow each freedom down at most [1/s]: v' = -(d + f / v0) v / M near rest, with the
    smallest inertia in these configurations, 1 / (M^-1)_ii."""
    own, joints = model.topology.own_v, model.joints
    steep = np.asarray(joints.damping)[own] + friction / np.asarray(joints.friction_speed)[own]
    inertia = _native_mass_matrix()
    if model.topology.yields is not None:
        steep = np.where(model.topology.yields, steep, 0.0)
    return steep * np.max([np.diag(np.linalg.inv(np.asarray(inertia(model, q)))) for q in configurations], axis=0)


@functools.cache
def _native_mass_matrix() -> Callable:
    """Traced once for models of the same structure."""
    from .. import native

    return native.jit(mass_matrix)


def _owner(problem: Problem, freedom: int) -> str:
    model = problem.parameters.base.model
    for name in model.joint_names:
        v = model.v_of(name)
        if v.start <= freedom < v.stop:
            return name
    return str(freedom)
