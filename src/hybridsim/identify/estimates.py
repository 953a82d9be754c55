"""What a fit says of each parameter: value, how sure, and what it was before."""

from dataclasses import dataclass

import numpy as np

from .parameters import Parameters
from .scales import InertiaScale
from .uncertainty import Uncertainty
from .words import Number


@dataclass(frozen=True)
class Estimate:
    """One identified number."""

    name: str
    value: float
    deviation: float
    """Standard deviation [unit]; infinite where the data do not determine it."""
    lower: float
    upper: float
    """Between these it lies with a probability of 95 %."""
    start: float
    unit: str
    note: str = ""
    """Such as "at its bound"."""


def estimates(
    parameters: Parameters, z: np.ndarray, found: Uncertainty, undetermined: frozenset[str] = frozenset()
) -> tuple[Estimate, ...]:
    """Of all but weights of networks. Intervals are those of the search's own scale: positive numbers stay so."""
    x, start = parameters.values(z), parameters.values(np.zeros(parameters.size))
    physical = physical_covariance(parameters, z, found)
    lower_z, upper_z = parameters.bounds()
    wide = found.wide * np.sqrt(np.maximum(np.diag(found.covariance), 0.0))
    with np.errstate(over="ignore"):
        low, high = parameters.values(z - wide), parameters.values(z + wide)
    result = []
    for p, a, b in parameters.parts():
        if p.networks:
            continue
        for i in range(a, b):
            deviation = float(np.sqrt(max(physical[i, i], 0.0)))
            lower, upper = float(low[i]), float(high[i])
            if isinstance(p.scale, InertiaScale):
                lower, upper = float(x[i] - found.wide * deviation), float(x[i] + found.wide * deviation)
            lower, upper = max(lower, p.free.lower), min(upper, p.free.upper)
            name, note = parameters.names[i], ""
            if z[i] <= lower_z[i] or z[i] >= upper_z[i]:
                note = "at its bound"
            if name in undetermined:
                deviation, lower, upper, note = np.inf, -np.inf, np.inf, "not determined by the data"
            result.append(Estimate(name, float(x[i]), deviation, lower, upper, float(start[i]), p.units[i - a], note))
    return tuple(result)


def physical_covariance(parameters: Parameters, z: np.ndarray, found: Uncertainty) -> np.ndarray:
    """In the units of the numbers, to first order."""
    slopes = parameters.slopes(z)
    return slopes @ found.covariance @ slopes.T


def numbers(parameters: Parameters, z: np.ndarray) -> tuple[Number, ...]:
    """As the words about identifiability want them."""
    x, result = parameters.values(z), []
    slopes = parameters.slopes(z)
    for p, a, b in parameters.parts():
        for i in range(a, b):
            log = bool((p.logarithmic or parameters.names[i].endswith("/mass")) and x[i] > 0)
            size = float(np.linalg.norm(slopes[i])) or 1.0
            bounds = (-np.inf, np.inf) if p.networks else (p.free.lower, p.free.upper)
            result.append(Number(parameters.names[i], float(x[i]), size, p.units[i - a], log, *bounds))
    return tuple(result)
