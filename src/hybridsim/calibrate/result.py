"""What the main job leaves: models side by side, what was missing, and how far to trust it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from ..data.log import Quality, Trajectory
from ..identify import Apparatus, Errors, Fit
from ..model import Model


@dataclass(frozen=True, eq=False)
class Prediction:
    """Windows of held-out runs: each begins anew at the measured motion and then runs by itself."""

    runs: tuple[str, ...]
    """Of each window."""
    joints: tuple[str, ...]
    times: Float[np.ndarray, "windows samples"]
    """Since the run began [s]."""
    measured: Float[np.ndarray, "windows samples joints"]
    """[rad or m], NaN where nothing was measured; of joints that turn round without whole turns before the window, and of
    rotations the vector from the first of the window."""
    simulated: Float[np.ndarray, "windows samples joints"]
    begin: float
    """How much of a window may be used to find its start [s]."""
    errors: Errors | None = None
    """Of the same windows; None: differences of the numbers above."""


@dataclass(frozen=True, eq=False)
class Stage:
    """One of the models that are compared."""

    name: str
    """"original", "calibrated", "explained" (with the laws that were found) or "hybrid" (with a network)."""
    title: str
    """For people, such as "as in the file"."""
    model: Model
    apparatus: Apparatus | None
    fit: Fit | None
    """None for the original."""
    seen: Errors
    """On the runs of the fit."""
    held_out: Errors
    """On runs that no fit has seen; on the same as `seen` where there are none."""
    prediction: Prediction
    settled: Errors | None = None
    """On held-out runs after their first seconds, from which the zeros of their encoders were found; None where every run
    has the same zeros."""


@dataclass(frozen=True)
class Candidate:
    """Something that the model may lack."""

    effect: str
    """Such as "Coulomb friction"."""
    where: str
    """Joint, link or control; empty where it is of all."""
    gain: float
    """Part of the squared error of left-out data that it would explain beside what was chosen before it, 0 to 1; what is
    chosen has the gain that it had when it was chosen."""
    chosen: bool
    order: int = -1
    """When it was chosen: 0 first; -1 where it was not."""


@dataclass(frozen=True)
class Finding:
    """A candidate that was chosen, in words."""

    effect: str
    where: str
    gain: float
    words: str
    """One sentence, such as "force at joint elbow depends on its velocity, odd, saturating: looks like Coulomb friction of
    0.31 N m"."""


@dataclass(frozen=True)
class Curve:
    """A learned force over one or two variables, the others at their usual values."""

    joint: str
    unit: str
    """Of the force."""
    labels: tuple[str, ...]
    """Of the axes, with units: one for a curve, two for a surface."""
    axes: tuple[np.ndarray, ...]
    """One array of points for each axis."""
    force: np.ndarray
    """Shape: points of the first axis (by points of the second)."""
    law: np.ndarray
    """The same of the laws that were found, without a network."""
    words: str


@dataclass(frozen=True, eq=False)
class Calibration:
    """All of a run, for reports and files."""

    title: str
    """Name of the robot."""
    model_file: Path
    training: tuple[Trajectory, ...]
    held_out: tuple[Trajectory, ...]
    """Empty where there was only one run."""
    qualities: dict[str, Quality]
    """By run."""
    stages: tuple[Stage, ...]
    """Original first; the best and last is a hybrid, or explained, or calibrated if nothing was missing."""
    candidates: tuple[Candidate, ...]
    findings: tuple[Finding, ...]
    curves: tuple[Curve, ...]
    warnings: tuple[str, ...]
    """What was said aloud on the way."""
    window: float
    """Horizon of the comparison [s]."""
    seconds: dict[str, float]
    """Time of each part of the work."""
    stopped: bool = False
    """Whether it was interrupted: later stages are missing."""

    def stage(self, name: str) -> Stage | None:
        return next((stage for stage in self.stages if stage.name == name), None)

    @property
    def best(self) -> Stage:
        """The least median error on held-out runs (`Errors.score`); of equals the simpler one."""
        return min(self.stages, key=lambda stage: stage.held_out.score)

    def improvement(self, worse: str, better: str) -> float:
        """How many times smaller the median held-out error is (`Errors.score`)."""
        a, b = self.stage(worse), self.stage(better)
        if a is None or b is None:
            raise KeyError(f"there is no stage {worse if a is None else better!r} in this run")
        return a.held_out.score / b.held_out.score
