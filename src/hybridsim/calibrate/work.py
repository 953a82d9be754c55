"""What the stages of the main job share: models are fitted, judged, and kept as they come."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..data.log import Quality
from ..identify import Fit, Free, LevenbergMarquardt, Problem, prepare
from ..identify.fit import solved
from ..identify.levenberg_marquardt import Point
from ..model import Model
from .config import Config
from .files import make_room, write_files
from .judge import judged, windows_of, zeros_found
from .load import Bench
from .result import Calibration, Candidate, Curve, Finding, Stage

TITLES = {
    "original": "as in the file",
    "calibrated": "numbers fitted",
    "explained": "with what was found, as laws",
    "hybrid": "with a network for what was found",
}
PARTS = (
    "reading model and logs",
    "looking at the data",
    "compiling all that may be missing",
    "fitting the numbers that are free",
    "asking what is missing",
    "fitting the laws that were found",
    "training the network",
    "drawing what was learned",
)
"""Of the work, as `say` is told of them."""
_SETTLE = 2.0
"""How much of a held-out run may be used to find the zeros of its encoders, where these differ from run to run [s]."""
SHORT = 0.3
"""Of every window the part in which searches begin, and in which effects are looked for first."""
APART = 2
"""Windows overlap by half; fits and pictures take every second."""
_TOLERANCE, ROUGH, FEW = 1e-5, 1e-3, 25


class StoppedError(Exception):
    """Ctrl-C: what there is until now is kept."""


@dataclass
class Work:
    """What the stages share, and what they have left so far."""

    config: Config
    bench: Bench
    folder: Path
    resume: bool
    say: Callable[[str], None]
    caught: list[warnings.WarningMessage]
    qualities: dict[str, Quality] = field(default_factory=dict)
    stages: list[Stage] = field(default_factory=list)
    candidates: tuple[Candidate, ...] = ()
    findings: tuple[Finding, ...] = ()
    curves: tuple[Curve, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    points: dict[str, np.ndarray] = field(default_factory=dict)
    """Of each stage, its numbers in the problem in which it was judged."""

    @property
    def training(self) -> tuple[str, ...]:
        return tuple(log.run for log in self.bench.training)

    @property
    def judging(self) -> tuple[str, ...]:
        """Runs by which models are judged: those held out, else those of the fit."""
        return tuple(log.run for log in self.bench.held_out) or self.training

    def calibration(self, stopped: bool) -> Calibration:
        """The result so far. `stopped`: whether stages may be missing."""
        told = (str(w.message) for w in self.caught if issubclass(w.category, UserWarning))
        return Calibration(
            self.config.model_file.stem,
            self.config.model_file,
            self.bench.training,
            self.bench.held_out,
            self.qualities,
            tuple(self.stages),
            self.candidates,
            self.findings,
            self.curves,
            tuple(dict.fromkeys(told)),
            self.config.window,
            self.seconds,
            stopped,
        )

    @contextmanager
    def part(self, words: str) -> Iterator[None]:
        self.say(words)
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[words] = time.perf_counter() - began

    def problem(self, model: Model, free: Sequence[Free], noise: float | None = None) -> Problem:
        """Of all runs, windows overlapping by half."""
        bench, config = self.bench, self.config
        return prepare(
            model,
            [*bench.training, *bench.held_out],
            free,
            window=config.window,
            stride=config.window / APART,
            dt=bench.dt,
            substeps=bench.substeps,
            compare="position" if noise is None else {"position": noise},
            integrator=bench.integrator,
            contact=bench.contact,
        )

    def fit(self, name: str, problem: Problem, known: bool = False, start: Point | None = None) -> Fit:
        """Of the training windows; can be interrupted and resumed. Weights need not be as exact as physical numbers."""
        most = self.config.iterations
        solver = LevenbergMarquardt(min(most, FEW), ROUGH) if known else LevenbergMarquardt(most, _TOLERANCE)
        folder = self.folder / "progress" / name

        def told(stage: str, iteration: int, cost: float) -> None:
            self.say(f"iteration {iteration}")

        return solved(problem, solver, known, folder=folder, resume=self.resume, progress=told, start=start)

    def add(self, name: str, model: Model, fit: Fit | None, problem: Problem, z: np.ndarray) -> None:
        """A stage: judged on what it has seen and on what it has not. Its files are written now, in case the process dies."""
        begin = 0.0 if self.config.start == "measured" else float(self.config.start)
        seen, _ = judged(windows_of(problem, self.training), z, begin, APART)
        held_out, prediction = judged(windows_of(problem, self.judging), z, begin, APART)
        title, apparatus = TITLES[name], None if fit is None else fit.apparatus
        self.stages.append(Stage(name, title, model, apparatus, fit, seen, held_out, prediction))
        self.points[name] = z
        if fit is not None:
            make_room(self.folder / "fits" / name / "model")
            fit.save(self.folder / "fits" / name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they come again when the last stage is written
                write_files(self.calibration(stopped=True), self.folder)
            if fit.done == "stopped":
                raise StoppedError

    def settle(self, problem: Problem, zeros: Sequence[Free], fit: Fit) -> None:
        """Judge the stages of this problem once more, after the first seconds of each run have told its encoders' zeros."""
        runs = [log.run for log in self.bench.held_out]
        if not zeros or not runs:
            return
        begin = 0.0 if self.config.start == "measured" else float(self.config.start)
        data = problem.data
        later = np.flatnonzero(np.isin(data.runs, runs) & (data.time >= _SETTLE - 1e-9))
        if not len(later):
            return
        noise = max(fit.noise, 1e-12) * redundancy(fit)
        for i, stage in enumerate(self.stages):
            z = self.points[stage.name]
            if stage.settled is None and len(z) == problem.size:
                known = zeros_found(problem, z, zeros, runs, _SETTLE, noise)
                errors, _ = judged(problem.with_data(data[later]), known, begin, APART)
                self.stages[i] = replace(stage, settled=errors)


def redundancy(fit: Fit) -> float:
    """By how much errors that go on from one sample to the next say less than so many independent ones: a factor of the
    noise, for which a window counts as no fewer than a few observations."""
    r = np.nan_to_num(fit.errors.differences)
    c = float(np.sum(r[:, 1:] * r[:, :-1]) / max(np.sum(r[:, :-1] ** 2), 1e-300))
    most = r.shape[1] / 4
    return float(np.sqrt(np.clip((1 + c) / max(1 - c, 1e-9), 1.0, most)))
