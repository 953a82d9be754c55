"""How far a model's motion is from measured motion, window by window."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from ..contact import Contact
from ..data.log import Trajectory
from ..model import Model
from ..model.checks import POSITIVE
from ..simulate import Integrator, SemiImplicitEuler
from .apparatus import Apparatus
from .blas import one_thread
from .measured import Measured, measured
from .parameters import Parameters
from .parts import part_differences, parts_of
from .problem import Problem
from .setting import at_rate, contact_of
from .starts import growing_starts


@dataclass(frozen=True)
class Errors:
    """Of positions; a window that diverged counts as infinitely far off.

    Where a mechanism turns and slides, `of("rad")` and `of("m")` are its errors in either unit; numbers of all parts together
    would mix them.
    """

    dt: float
    runs: tuple[str, ...]
    """Of each window."""
    joints: tuple[str, ...]
    """Of each part of a configuration; NAME.position and NAME.rotation are those of a free or planar joint."""
    differences: Float[np.ndarray, "windows samples parts"]
    """Simulated minus measured, NaN where nothing was measured. Of a place the distance, of a rotation the angle."""
    units: tuple[str, ...] = ()
    """Of each part, "rad" or "m"; empty: as it may be."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The units in which something was measured."""
        if not self.differences.size:
            return tuple(dict.fromkeys(self.units))
        known = np.atleast_1d(~np.isnan(self.differences).all(axis=(0, 1)))
        return tuple(dict.fromkeys(unit for i, unit in enumerate(self.units) if known[i]))

    def of(self, unit: str) -> "Errors":
        """Of the parts in one unit, "rad" or "m"."""
        if not self.units or set(self.units) == {unit}:
            return self
        own = [i for i, known in enumerate(self.units) if known == unit]
        if not own:
            raise KeyError(
                f"no part of this mechanism has an error in {unit!r}; there are: {', '.join(dict.fromkeys(self.units))}"
            )
        names, units = (tuple(words[i] for i in own) for words in (self.joints, self.units))
        return replace(self, joints=names, differences=self.differences[..., own], units=units)

    @property
    def scores(self) -> Float[np.ndarray, " windows"]:
        """One number a window to rank by: its error, and of several units the geometric mean of the errors in each."""
        return _geometric([self.of(unit).rmse for unit in self.kinds or ("",)])

    @property
    def score(self) -> float:
        """One number to rank models by: the median, and of several units the geometric mean of the medians in each."""
        return float(_geometric([self.of(unit).median for unit in self.kinds or ("",)]))

    @property
    def rmse(self) -> Float[np.ndarray, " windows"]:
        """Of each window, over all parts and samples [rad or m]."""
        with np.errstate(invalid="ignore", over="ignore"):
            found = np.sqrt(np.nanmean(self.differences**2, axis=(1, 2)))
        return np.where(np.isfinite(found), found, np.inf)

    @property
    def median(self) -> float:
        return float(np.median(self.rmse))

    @property
    def ninth(self) -> float:
        """The 90th percentile: what the worse windows are like."""
        return float(np.quantile(self.rmse, 0.9, method="lower" if np.isinf(self.rmse).any() else "linear"))

    def by_run(self) -> dict[str, float]:
        """Median of each run's windows."""
        runs = np.array(self.runs)
        return {run: float(np.median(self.rmse[runs == run])) for run in dict.fromkeys(self.runs)}

    def by_joint(self) -> dict[str, float]:
        """Of each part, root of the mean square over all windows."""
        with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
            # A joint that was never measured has no error: NaN.
            warnings.simplefilter("ignore", RuntimeWarning)
            found = np.sqrt(np.nanmean(self.differences**2, axis=(0, 1)))
        return dict(zip(self.joints, map(float, found), strict=True))

    def by_horizon(self) -> tuple[Float[np.ndarray, " samples"], Float[np.ndarray, " samples"]]:
        """Times since the start of a window, and the median of the distance at each, over windows in which it was measured."""
        with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
            # Moments at which nothing was measured stay NaN.
            warnings.simplefilter("ignore", RuntimeWarning)
            distance = np.sqrt(np.nanmean(self.differences**2, axis=2))
            middle = np.nanmedian(distance, axis=0)
        return self.dt * np.arange(distance.shape[1]), middle


@one_thread
def evaluate(
    model: Model,
    logs: Trajectory | Sequence[Trajectory],
    window: float = 1.0,
    stride: float | None = None,
    *,
    start: Literal["measured", "fitted"] | float = "measured",
    dt: float | None = None,
    integrator: Integrator = SemiImplicitEuler(),
    contact: Contact | Literal["auto"] | None = "auto",
    substeps: int = 1,
    apparatus: Apparatus | None = None,
) -> Errors:
    """Roll a model out over windows of measured motion and compare positions.

    `start`: as measured; fitted to the whole window; or fitted to its first so many seconds. Compare models only with the
    same choice. `apparatus`: sensors and delay that a fit has found (`fit.apparatus`).
    """
    if isinstance(start, str):
        if start not in ("measured", "fitted"):
            raise ValueError(f"start is {start!r}; it must be 'measured', 'fitted' or a time in seconds")
    else:
        POSITIVE.check("start", start)
    delay = 0.0 if apparatus is None else abs(float(apparatus.delay))
    data = measured(model, logs, window, stride, dt, "position", delay, substeps)
    contact = contact_of(model, contact)
    model = at_rate(model, data.dt, substeps)
    parameters = Parameters(model, (), data.controls.shape[-1], apparatus)
    problem = Problem(parameters, data, integrator, contact, substeps, start != "measured")
    z, s = problem.zeros()
    if start != "measured":
        short = data if start == "fitted" else data.shortened(max(2, round(float(start) / data.dt)))
        s = growing_starts(problem.with_data(short), z)
    return errors_of(problem, z, s)


def errors_of(problem: Problem, z: np.ndarray, s: np.ndarray) -> Errors:
    """Of a problem at a point."""
    return errors_from(problem, problem.differences(z, s))


def errors_from(problem: Problem, differences: Float[np.ndarray, "windows samples nq"]) -> Errors:
    """From simulated minus measured positions."""
    data: Measured = problem.data
    parts = parts_of(problem.motion.model)
    apart = part_differences(parts, data.q + differences, data.q, positions_known(problem))
    return Errors(data.dt, data.runs, tuple(p.name for p in parts), apart, tuple(p.unit for p in parts))


def positions_known(problem: Problem) -> Bool[np.ndarray, "windows samples nq"]:
    """Which positions were measured, and are predictions rather than given by the log."""
    known = np.array(problem.data.weights.get("position", np.ones_like(problem.data.q)) > 0)
    known[..., problem.motion.model.topology.prescribed_q] = False
    return known


def _geometric(numbers: Sequence) -> np.ndarray:
    """Geometric mean; of what is nothing or without an end it is that."""
    with np.errstate(divide="ignore"):
        found = np.exp(np.mean(np.log(np.stack([np.asarray(x, dtype=float) for x in numbers])), axis=0))
    return np.asarray(found)
