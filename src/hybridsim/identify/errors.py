"""How far a model's motion is from measured motion, window by window."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from ..contact import Contact
from ..data.log import Trajectory
from ..model import Model
from ..model.checks import POSITIVE
from ..simulate import Integrator, SemiImplicitEuler
from .apparatus import Apparatus
from .blas import one_thread
from .measured import Measured, measured
from .parameters import Parameters
from .places import position_names
from .problem import Problem
from .setting import at_rate, contact_of
from .starts import growing_starts


@dataclass(frozen=True)
class Errors:
    """Of positions; a window that diverged counts as infinitely far off."""

    dt: float
    runs: tuple[str, ...]
    """Of each window."""
    joints: tuple[str, ...]
    differences: Float[np.ndarray, "windows samples nq"]
    """Simulated minus measured, NaN where nothing was measured."""

    @property
    def rmse(self) -> Float[np.ndarray, " windows"]:
        """Of each window, over all joints and samples [rad or m]."""
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
        """Root of the mean square over all windows."""
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
    data: Measured = problem.data
    differences = problem.differences(z, s)
    known = data.weights.get("position", np.ones_like(data.q)) > 0
    known[..., problem.motion.model.topology.prescribed_q] = False
    differences = np.where(known, differences, np.nan)
    return Errors(data.dt, data.runs, position_names(problem.motion.model), differences)
