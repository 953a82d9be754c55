"""In words: which combinations of numbers are determined, where the numbers themselves are not.

Directions and combinations count the change of a number in steps: relative changes of numbers on a logarithmic scale,
multiples of the size for linear ones. All that is said holds near the values of the numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Number:
    """One number that is searched for."""

    name: str
    value: float
    size: float = 1.0
    """What is a change of ordinary size [unit]; without meaning on a logarithmic scale."""
    unit: str = "1"
    log: bool = False
    """Whether it is counted by its logarithm."""
    lower: float = -np.inf
    upper: float = np.inf
    prior: float | None = None
    """Standard deviation of what is known of it beforehand [unit]."""

    def __post_init__(self):
        if self.log and not self.value > 0:
            raise ValueError(f"{self.name} is {self.value}, which has no logarithm; use log=False")
        if not self.log and not self.size > 0:
            raise ValueError(f"{self.name} has the size {self.size}; give a positive one")
        if self.prior is not None and not self.prior > 0:
            raise ValueError(f"{self.name} has a prior of standard deviation {self.prior}; give a positive one")

    @property
    def step(self) -> float:
        """The change that counts as one [unit]."""
        return self.value if self.log else self.size


@dataclass(frozen=True)
class Unidentified:
    """Numbers of which only some combinations are determined. No two of these have a number in common."""

    members: tuple[Number, ...]
    directions: Float[np.ndarray, "null members"]
    """Changes without effect, with few members each, in steps: relative for logarithms, else in sizes."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(n.name for n in self.members)

    def words(self) -> str:
        return defect(self.members, self.directions)


@dataclass(frozen=True)
class Weak:
    """A number that is determined, but badly."""

    number: Number
    deviation: float
    """Standard deviation [unit]."""
    reason: str

    def words(self) -> str:
        n, steps = self.number, self.deviation / self.number.step
        factor = f"a factor of {np.exp(steps):.3g}" if steps < 10 else f"{steps / np.log(10):.0f} orders of magnitude"
        spread = factor if n.log else measure(self.deviation, n.unit)
        return f"{n.name} = {measure(n.value, n.unit)} is uncertain by {spread}, {self.reason}"


def defect(members: Sequence[Number], directions: Float[np.ndarray, "null members"]) -> str:
    """What is known of numbers of which no change along the directions has an effect."""
    names, null = [n.name for n in members], len(directions)
    if null == len(members):
        return f"{listed(names)} {'has' if len(names) == 1 else 'have'} no effect on what was measured"
    rows = echelon(_complement(directions))[0]
    known = [combination(members, row) for row in rows] if len(rows) <= 3 else [""]
    if all(known) and len(members) == 2:
        return f"only {known[0]} is determined"
    count = "1 combination" if len(rows) == 1 else f"{len(rows)} combinations"
    head = f"of {_all(names)}, the data determine only {count}"
    if all(known):
        return f"{head}: {listed(known)}"
    simplest = sorted(directions, key=np.count_nonzero)[:4]
    readable = [_change(members, v) for v in simplest if np.count_nonzero(v) <= 5]
    return f"{head}; nothing measured changes by {', or by '.join(readable)}" if readable else head


def combination(members: Sequence[Number], row: Float[np.ndarray, " members"]) -> str:
    """The function of the numbers whose slopes are the row; nothing where no simple one is known."""
    used = np.abs(row) > _TOLERANCE * np.abs(row).max()
    parts = [n for n, use in zip(members, used, strict=True) if use]
    c = row[used]
    slopes = c / [n.step for n in parts]
    logs = [n.log for n in parts]
    product = _product([n.name for n in parts], whole(slopes * [n.value for n in parts]))
    plain = _sum(parts, whole(slopes, 1)) if len({n.unit for n in parts}) == 1 else ""
    if len(parts) == 1:
        return parts[0].name
    if not any(logs):
        return plain or product or _weighted(parts, slopes)
    if product or plain:
        return product or plain
    if all(logs) and len(parts) == 2:
        powers = c / np.abs(c).min() * np.sign(c[0])
        return " * ".join(n.name if x == 1 else f"{n.name}^{x:.3g}" for n, x in zip(parts, powers, strict=True))
    return ""


_TOLERANCE = 5e-3  # of coefficients, which come from data: nearer to a whole number than this is that number


def whole(c: Float[np.ndarray, " n"], largest: int = 4) -> np.ndarray | None:
    """The coefficients as whole numbers up to a common factor, the first positive; None where they are not."""
    if np.abs(c).max() == 0:
        return None
    for most in range(1, largest + 1):
        scaled = c * (most / np.abs(c).max())
        rounded = np.round(scaled)
        if np.all(rounded != 0) and np.all(np.abs(scaled - rounded) < _TOLERANCE * most):
            return (rounded * np.sign(rounded[0])).astype(int)
    return None


def echelon(rows: Float[np.ndarray, "rank n"]) -> tuple[Float[np.ndarray, "rank n"], list[int]]:
    """Reduced echelon form of independent rows by Gauss and Jordan with full pivoting, and the pivots' columns."""
    A, pivots = rows.copy(), []
    for i in range(len(A)):
        row, column = np.unravel_index(np.argmax(np.abs(A[i:])), A[i:].shape)
        A[[i, i + row]] = A[[i + row, i]]
        A[i] /= A[i, column]
        others = np.arange(len(A)) != i
        A[others] -= np.outer(A[others, column], A[i])
        A[others, column] = 0.0
        pivots.append(int(column))
    return A, pivots


def listed(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _all(names: list[str]) -> str:
    """Each of a few; of many only to what they belong."""
    if len(names) <= 8:
        return f"{listed(names)} ({len(names)} numbers)"
    return f"{len(names)} numbers of {listed(list(dict.fromkeys(name.rpartition('/')[0] or name for name in names)))}"


def measure(value: float, unit: str) -> str:
    return f"{value:.3g}" if unit == "1" else f"{value:.3g} {unit}"


def _complement(directions: np.ndarray) -> np.ndarray:
    """What is perpendicular to all of them."""
    return np.linalg.svd(directions)[2][len(directions) :]


def _product(names: list[str], powers: np.ndarray | None) -> str:
    if powers is None:
        return ""
    over = [f"{n}^{p}" if p > 1 else n for n, p in zip(names, powers, strict=True) if p > 0]
    under = [f"{n}^{-p}" if p < -1 else n for n, p in zip(names, powers, strict=True) if p < 0]
    if not under:
        return f"the product {' * '.join(over)}"
    below = " * ".join(under)
    return f"the ratio {' * '.join(over)} / {f'({below})' if len(under) > 1 else below}"


def _sum(parts: list[Number], signs: np.ndarray | None) -> str:
    if signs is None:
        return ""
    text = parts[0].name + "".join(f" {'-+'[int(s > 0)]} {n.name}" for n, s in zip(parts[1:], signs[1:], strict=True))
    return f"the {'sum' if np.all(signs > 0) else 'difference' if len(parts) == 2 else 'combination'} {text}"


def _weighted(parts: list[Number], slopes: np.ndarray) -> str:
    """Such as 1.53 a - b; with units where they differ."""
    weights = slopes / np.abs(slopes).min() * np.sign(slopes[0])
    terms = [
        n.name if f"{abs(w):.3g}" == "1" else f"{abs(w):.3g} {n.name}" for n, w in zip(parts, weights, strict=True)
    ]
    text = terms[0] + "".join(f" {'-+'[int(w > 0)]} {t}" for t, w in zip(terms[1:], weights[1:], strict=True))
    units = [n.unit for n in parts]
    return text if len(set(units)) == 1 else f"{text} (in {listed(units)})"


def _change(members: Sequence[Number], direction: np.ndarray) -> str:
    """A small step along it, such as raising a by 1 % while lowering b by 0.003 m."""
    parts = [(n, x) for n, x in zip(members, direction, strict=True) if x != 0]
    equal = np.ptp([x for _, x in parts]) < _TOLERANCE * np.abs(direction).max()
    if equal and all(n.log for n, _ in parts):
        return f"multiplying {listed([n.name for n, _ in parts])} by the same factor"
    small = 0.01 / np.abs(direction).max()

    def amounts(sign: int) -> str:
        return listed([f"{n.name} by {_amount(n, small * abs(x))}" for n, x in parts if sign * x > 0])

    return " while ".join(f"{verb} {amounts(s)}" for verb, s in (("raising", 1), ("lowering", -1)) if amounts(s))


def _amount(number: Number, steps: float) -> str:
    return f"{100 * steps:.3g} %" if number.log else measure(steps * number.size, number.unit)
