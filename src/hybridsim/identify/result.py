"""What a fit leaves."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from ..augment.save import load_hybrid, save_hybrid
from ..model import Model
from ..reading import read_json, read_npz
from .apparatus import Apparatus
from .atomic_write import write_arrays, write_text
from .errors import Errors
from .estimates import Estimate
from .levenberg_marquardt import Point
from .problem import Problem


@dataclass(frozen=True, eq=False)
class Fit:
    """A calibrated model, and how far to trust it."""

    model: Model
    apparatus: Apparatus
    """Sensors and delay, as far as they were free; what belongs to single runs is not in it."""
    runs: dict[str, Apparatus]
    """The same of each run, where it had numbers of its own."""
    parameters: tuple[Estimate, ...]
    """Weights of networks are in the model only."""
    covariance: Float[np.ndarray, "size size"]
    """Of the numbers in `parameters` and then of weights, in their units."""
    identifiability: str
    """Which combinations the data determine, in words."""
    uncertainty: str
    """How the covariance was found."""
    noise: float
    """Standard deviation of the residuals, in units of the noise that was given, or of what is compared."""
    errors: Errors
    """Per window, run and joint, on the logs of the fit."""
    history: Float[np.ndarray, " iterations"]
    cost: float
    done: str
    """Why the search ended; "stopped" where it was interrupted."""
    seconds: float
    estimated_noise: bool = True
    """Whether the level of noise is that of the residuals, since none was given."""
    problem: Problem | None = field(default=None, repr=False)
    """For what comes after: profiles, samples. Not saved."""
    point: Point | None = field(default=None, repr=False)

    def __getitem__(self, name: str) -> Estimate:
        """By name."""
        for estimate in self.parameters:
            if estimate.name == name:
                return estimate
        raise KeyError(f"no parameter {name!r} was fitted; there are: {', '.join(e.name for e in self.parameters)}")

    @property
    def correlation(self) -> Float[np.ndarray, "size size"]:
        deviation = np.sqrt(np.maximum(np.diag(self.covariance), 1e-300))
        return self.covariance / np.outer(deviation, deviation)

    def ranges(self) -> dict[str, dict[str, float | str]]:
        """For domain randomisation: of each number its mean, standard deviation and interval of 95 %."""
        return {
            e.name: {"mean": e.value, "deviation": e.deviation, "lower": e.lower, "upper": e.upper, "unit": e.unit}
            for e in self.parameters
        }

    def summary(self) -> str:
        """A table and a few sentences, for people."""
        width = max([len(e.name) for e in self.parameters] or [9])
        lines = [f"{'parameter':{width}}  {'before':>11}  {'fitted':>11}  {'95 % interval':>25}  unit"]
        for e in self.parameters:
            interval = f"[{e.lower:.5g}, {e.upper:.5g}]"
            lines.append(
                f"{e.name:{width}}  {e.start:11.5g}  {e.value:11.5g}  {interval:>25}  {e.unit} {e.note}".rstrip()
            )
        for unit in self.errors.kinds or ("",):
            own = self.errors.of(unit)
            error = f"{own.median:.4g}, 90th percentile {own.ninth:.4g} {unit}".rstrip()
            lines += [f"error of positions, root mean square of a window: median {error}"]
        lines += [f"intervals {self.uncertainty}; {self.identifiability}"]
        lines += [f"{len(self.history)} iterations in {self.seconds:.2f} s; ended because: {self.done}"]
        return "\n".join(lines)

    __str__ = summary

    def save(self, folder: str | Path) -> None:
        """Readable JSON, exact arrays, and the model; `load_fit` reads it."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        save_hybrid(self.model, folder / "model")
        arrays: dict[str, Any] = {
            "covariance": self.covariance,
            "history": self.history,
            "differences": self.errors.differences,
        }
        arrays |= {f"apparatus.{name}": np.asarray(x) for name, x in vars(self.apparatus).items()}
        for i, own in enumerate(self.runs.values()):
            arrays |= {f"run{i}.{name}": np.asarray(x) for name, x in vars(own).items()}
        write_arrays(folder / "fit.npz", arrays)
        text = {
            "parameters": [asdict(e) for e in self.parameters],
            "identifiability": self.identifiability,
            "uncertainty": self.uncertainty,
            "noise": self.noise,
            "cost": self.cost,
            "done": self.done,
            "seconds": self.seconds,
            "estimated_noise": self.estimated_noise,
            "runs": list(self.runs),
            "errors": {
                "dt": self.errors.dt,
                "runs": self.errors.runs,
                "joints": self.errors.joints,
                "units": self.errors.units,
            },
        }
        write_text(folder / "fit.json", json.dumps(text, indent=1))
        write_text(folder / "ranges.json", json.dumps(self.ranges(), indent=1))


LARGEST_JSON, LARGEST_ARRAYS = 64 * 10**6, 2**31
"""Of a saved fit [bytes]: names and intervals of its numbers; covariance and the errors of all samples."""


def load_fit(folder: str | Path) -> Fit:
    """A fit that was saved, without the logs."""
    folder = Path(folder)
    try:
        text = read_json(folder / "fit.json", LARGEST_JSON)
        arrays = read_npz(folder / "fit.npz", LARGEST_ARRAYS)
        runs = {run: _apparatus(arrays, f"run{i}.") for i, run in enumerate(text["runs"])}
        where = text["errors"]
        return Fit(
            load_hybrid(folder / "model"),
            _apparatus(arrays, "apparatus."),
            runs,
            tuple(Estimate(**e) for e in text["parameters"]),
            arrays["covariance"],
            text["identifiability"],
            text["uncertainty"],
            text["noise"],
            Errors(
                where["dt"],
                tuple(where["runs"]),
                tuple(where["joints"]),
                arrays["differences"],
                tuple(where.get("units", ())),
            ),
            arrays["history"],
            text["cost"],
            text["done"],
            text["seconds"],
            text["estimated_noise"],
        )
    except Exception as problem:  # zipfile and NumPy meet damage with errors of many kinds
        raise ValueError(
            f"{folder} holds no fit that can be read ({problem}); it is written by fit.save(folder)"
        ) from problem


def _apparatus(arrays: dict[str, np.ndarray], prefix: str) -> Apparatus:
    return Apparatus(**{k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)})
