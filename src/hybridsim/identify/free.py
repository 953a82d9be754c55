"""What may change: numbers of a model chosen by patterns, with bounds, scales, ties and priors."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..model.checks import POSITIVE, check_choice
from .place import Place
from .scales import LogScale, Scale


@dataclass(frozen=True)
class Free:
    """Numbers that may change: those whose path matches the pattern.

    "link/*/inertial" stands for mass, centre of mass and inertia together, and keeps them physical. "network" are all
    weights of the model's networks; a prior of mean 0 is a penalty on them.
    """

    pattern: str | tuple[str, ...]
    """One, or several: ("link/left_*/mass", "link/right_*/mass")."""
    lower: float = -np.inf
    upper: float = np.inf
    scale: Literal["linear", "log", "auto"] = "auto"
    """Auto: by its logarithm what has to be positive; linearly all else."""
    start: float | None = None
    """Instead of the model's own value; needed where that is zero and the scale is log."""
    tied: bool = False
    """Whether all that match are one number."""
    prior: tuple[float, float] | None = None
    """Mean and standard deviation of what is known of it beforehand."""
    per_run: bool = False
    """Whether every run has its own, as zeros of encoders that are set whenever a robot starts; only of sensors and
    controls."""

    def __post_init__(self) -> None:
        what = f"hs.Free({self.pattern!r})"
        check_choice(f"{what}: scale", self.scale, ("linear", "log", "auto"))
        if not self.lower <= self.upper:
            raise ValueError(f"{what}: lower is {self.lower} and upper {self.upper}; the lower one comes first")
        if self.prior is not None:
            POSITIVE.check(f"{what}: the standard deviation of its prior", self.prior[1])

    @property
    def patterns(self) -> tuple[str, ...]:
        return (self.pattern,) if isinstance(self.pattern, str) else tuple(self.pattern)


@dataclass(frozen=True)
class Parameter:
    """An entry of the vector, or several that belong together."""

    names: tuple[str, ...]
    groups: tuple[tuple[Place, ...], ...]
    """Who gets the numbers: one group of places, one after another, or several groups where they are tied."""
    scale: Scale
    free: Free
    units: tuple[str, ...]
    networks: bool = False
    """Whether these are the weights of networks."""

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def logarithmic(self) -> bool:
        return isinstance(self.scale, LogScale)
