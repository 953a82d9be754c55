"""The elementary functions: what they should be, where they are tried, and how far from exact they may be."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np
import scipy.special
from mpmath import mp, mpf

DIGITS = 50
Samples = Callable[[np.random.Generator, int], tuple[np.ndarray, ...]]


@dataclass(frozen=True)
class Case:
    exact: Callable[..., mpf]
    bound: float
    """Of the error, in units in the last place of float64."""
    ranges: dict[str, Samples]
    single: float = 0.6
    """The same for float32."""


def uniform(low: float, high: float) -> Samples:
    return lambda rng, count: (rng.uniform(low, high, count),)


def sizes(low: int, high: int, signs=(-1.0, 1.0)) -> Samples:
    """All sizes from 2^low to 2^high alike."""
    return lambda rng, count: (_sizes(rng, count, low, high) * rng.choice(signs, count),)


def _sizes(rng: np.random.Generator, count: int, low: int, high: int) -> np.ndarray:
    return np.ldexp(rng.uniform(1.0, 2.0, count), rng.integers(low, high, count))


def near(*points: float, width: int = 3) -> Samples:
    """Beside points where formulas change: so many floats to each side, and numbers a little further away."""

    def samples(rng: np.random.Generator, count: int):
        found = []
        for point in points:
            x = np.full(2 * width + 1, point)
            for k in range(2 * width + 1):
                for _ in range(abs(k - width)):
                    x[k] = np.nextafter(x[k], np.inf if k > width else -np.inf)
            found += [x, point + point * rng.uniform(-1e-9, 1e-9, count // len(points))]
        return (np.concatenate(found),)

    return samples


def powers(rng: np.random.Generator, count: int):
    """Results of all sizes, from the smallest to the largest."""
    x = _sizes(rng, count, -1074, 1024)
    return x, rng.uniform(-1074.0, 1024.0, count) / np.log2(x)


def powers_near_one(rng: np.random.Generator, count: int):
    x = 1.0 + _sizes(rng, count, -50, -2) * rng.choice([-1.0, 1.0], count)
    return x, rng.uniform(-740.0, 709.0, count) / np.log(x)


def integer_powers(rng: np.random.Generator, count: int):
    return rng.uniform(-8.0, 8.0, count), rng.integers(-60, 60, count).astype(float)


def points(rng: np.random.Generator, count: int):
    return rng.normal(size=count), rng.normal(size=count)


def points_of_all_sizes(rng: np.random.Generator, count: int):
    y, ratio = _sizes(rng, count, -1074, 1000), _sizes(rng, count, -20, 20)
    x = np.where(ratio < 1, y * ratio, np.minimum(y, 1e300) * ratio)
    return y * rng.choice([-1.0, 1.0], count), x * rng.choice([-1.0, 1.0], count)


def logistic(x: mpf) -> mpf:
    return 1 / (1 + mp.exp(-x))


def erf_inv(x: mpf) -> mpf:
    """Newton's method from what float64 gives, each step with twice the digits."""
    y = mpf(float(scipy.special.erfinv(float(x))))
    for _ in range(2):
        y -= (mp.erf(y) - x) * mp.exp(y * y) * mp.sqrt(mp.pi) / 2
    return y


def power(x: mpf, y: mpf) -> mpf:
    return mp.power(abs(x), y) * (-1 if x < 0 and int(y) % 2 else 1)


ANGLES = {"to 4": uniform(-4, 4), "to 10 000": uniform(-1e4, 1e4), "all sizes": sizes(-1074, 1024)}
QUARTERS = near(*(k * 0.25 * np.pi for k in range(1, 9)))
LOG2 = float(np.log(2.0))
BREAKS = near(*(k * 0.5 * LOG2 for k in (-3, -1, 1, 3)), *(k * 0.25 * LOG2 for k in (-1, 1)), 20.0, 37.5, 40.0)
SMALL = sizes(-1074, 0)
ABOVE_ONE = {"above 1": lambda rng, count: (1 + _sizes(rng, count, -52, 0),)}
BELOW_ONE = {"below 1": lambda rng, count: (1 - _sizes(rng, count, -53, -1),)}

CASES = {
    "sin": Case(mp.sin, 1.5, {**ANGLES, "breaks": QUARTERS}),
    "cos": Case(mp.cos, 1.5, {**ANGLES, "breaks": QUARTERS}),
    "tan": Case(mp.tan, 1.1, {**ANGLES, "breaks": QUARTERS}),
    "exp": Case(mp.exp, 0.9, {"to 1": uniform(-1, 1), "all": uniform(-745, 709.7), "small": SMALL, "breaks": BREAKS}),
    "exp2": Case(lambda x: mp.power(2, x), 0.9, {"to 1": uniform(-1, 1), "all": uniform(-1074, 1024), "small": SMALL}),
    "expm1": Case(mp.expm1, 1.4, {"to 1": uniform(-1, 1), "all": uniform(-40, 709.7), "small": SMALL, "breaks": BREAKS}),
    "log": Case(
        mp.log,
        1.0,
        {
            "about 1": uniform(0.5, 2),
            "all sizes": sizes(-1074, 1024, [1.0]),
            **ABOVE_ONE,
            **BELOW_ONE,
            "breaks": near(0.5**0.5, 2**0.5, 2.0**-1022),
        },
    ),
    "log1p": Case(
        mp.log1p,
        1.0,
        {"to 1": uniform(-0.999, 1), "small": SMALL, "large": sizes(0, 1024, [1.0]), "breaks": near(2**0.5 - 1, 2.0**-54)},
    ),
    "tanh": Case(mp.tanh, 1.0, {"to 1": uniform(-1, 1), "to 22": uniform(-22, 22), "small": SMALL, "breaks": BREAKS}),
    "sinh": Case(mp.sinh, 1.2, {"to 1": uniform(-1, 1), "all": uniform(-710.4, 710.4), "small": SMALL, "breaks": BREAKS}),
    "cosh": Case(mp.cosh, 1.0, {"to 1": uniform(-1, 1), "all": uniform(-710.4, 710.4), "small": SMALL, "breaks": BREAKS}),
    "logistic": Case(logistic, 1.4, {"to 4": uniform(-4, 4), "all": uniform(-745, 50), "small": SMALL, "breaks": BREAKS}),
    "asin": Case(mp.asin, 0.8, {"all": uniform(-1, 1), "small": SMALL, **BELOW_ONE, "breaks": near(-0.5, 0.5)}),
    "acos": Case(mp.acos, 0.8, {"all": uniform(-1, 1), "small": SMALL, **BELOW_ONE, "breaks": near(-0.5, 0.5)}),
    "atan": Case(mp.atan, 0.9, {"to 4": uniform(-4, 4), "all": sizes(-1074, 1024), "breaks": near(2**0.5 - 1, 1.0, 2.4142135)}),
    "atan2": Case(mp.atan2, 1.1, {"points": points, "all sizes": points_of_all_sizes}),
    "asinh": Case(mp.asinh, 1.4, {"to 2": uniform(-2, 2), "all sizes": sizes(-1074, 1024), "breaks": near(2.0**-28, 2.0**30)}),
    "acosh": Case(mp.acosh, 1.4, {"to 2": uniform(1, 2), **ABOVE_ONE, "all sizes": sizes(0, 1024, [1.0]), "breaks": near(2.0**30)}),
    "atanh": Case(mp.atanh, 1.0, {"all": uniform(-1, 1), "small": SMALL, **BELOW_ONE, "breaks": near(2.0**-28)}),
    "pow": Case(power, 0.9, {"all sizes": powers, "near 1": powers_near_one, "integers": integer_powers}),
    "cbrt": Case(lambda x: mp.sign(x) * mp.cbrt(abs(x)), 0.6, {"to 10": uniform(-10, 10), "all sizes": sizes(-1074, 1024)}),
    "erf": Case(mp.erf, 1.0, {"to 2": uniform(-2, 2), "to 6": uniform(-6, 6), "small": SMALL, "breaks": near(-0.875, 0.875)}),
    "erfc": Case(mp.erfc, 1.2, {"to 2": uniform(-2, 2), "all": uniform(-6, 27.2), "small": SMALL, "breaks": near(-0.75, 0.75)}),
    "erf_inv": Case(erf_inv, 1.3, {"all": uniform(-1, 1), "small": SMALL, **BELOW_ONE, "breaks": near(0.5, 0.994439, 0.99999693)}),
}  # fmt: skip


def special_power(x: float, y: float) -> float | None:
    """x to the power of y as C99 (annex F) has it, where that is no matter of rounding; None elsewhere."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return math.pow(x, y)  # from a table of Python's own
    if y == 0 or x == 1:
        return 1.0
    if x == 0:
        size = 0.0 if y > 0 else math.inf
        return math.copysign(size, x) if y.is_integer() and y % 2 else size
    if x < 0 and not y.is_integer():
        return math.nan
    if x == -1:
        return -1.0 if y % 2 else 1.0
    return None


def special_angle(y: float, x: float) -> float | None:
    """The angle of (x, y) where one of them is infinite, NaN, or y is zero; None elsewhere."""
    if y == 0 or not (math.isfinite(x) and math.isfinite(y)):
        return math.atan2(y, x)  # from a table of Python's own
    return None


SPECIAL_PAIRS = {"pow": special_power, "atan2": special_angle}


def errors(found: np.ndarray, case: Case, arguments: tuple[np.ndarray, ...]) -> np.ndarray:
    """In units in the last place of the exact result. What is too large for a float should be infinite."""
    bits, smallest = (53, -1074) if found.dtype == np.float64 else (24, -149)
    largest = 1024 if found.dtype == np.float64 else 128
    out = np.empty(found.size)
    with mpmath.workdps(DIGITS):
        for k, (y, *xs) in enumerate(zip(found, *arguments, strict=True)):
            exact = case.exact(*(mpf(float(x)) for x in xs))
            unit = mpf(2) ** max(mp.mag(exact) - bits, smallest) if exact else mpf(2) ** smallest
            if abs(exact) < mpf(2) ** largest * (1 - mpf(2) ** -(bits + 1)):  # where rounding gives infinity
                out[k] = abs(mpf(float(y)) - exact) / unit
            else:
                out[k] = 0.0 if y == mp.sign(exact) * np.inf else 1.0
    return out


def closest_to_quarters(low: int, high: int) -> np.ndarray:
    """The floats nearest to multiples of pi/2, of sizes from 2^low to 2^high: of their sines most digits cancel.

    m 2^e is near k pi/2 where m / k is a convergent of the continued fraction of pi/2 / 2^e.
    """
    found = []
    with mpmath.workdps(700):
        for e in range(low - 52, high - 52):
            rest = mp.pi / 2 / mpf(2) ** e
            m, before = int(mp.floor(rest)), 1
            while m < 2**53:
                found.append(float(m) * 2.0**e)
                rest = 1 / (rest - mp.floor(rest))
                m, before = int(mp.floor(rest)) * m + before, m
    return np.array([x for x in found if 2.0**low <= x < 2.0**high])
