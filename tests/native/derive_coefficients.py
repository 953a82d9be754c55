"""Derives the polynomials of hybridsim.native.functions: `python tests/native/derive_coefficients.py` prints them.

Each approximates what is left of a function when its first terms are taken off, by as many coefficients as the
accuracy needs; it is computed with 80 digits and rounded to float64. Equal at the Chebyshev points it is nearly as
good everywhere as a polynomial of its degree can be.
"""

from collections.abc import Callable

import mpmath
from mpmath import mp, mpf

Function = Callable[[mpf], mpf]


def fit(function: Function, low, high, count: int) -> tuple[float, ...]:
    """c0, c1, ... of the polynomial that equals `function` at the Chebyshev points from `low` to `high`."""
    with mpmath.workdps(80):
        low, high = mpf(low), mpf(high)
        points = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
        # Where terms cancel at zero, a place beside it is near enough.
        beside = mpf(10) ** -35
        values = [function(x if abs(x) > beside else beside) for x in points]
        powers = mpmath.matrix([[x**k for k in range(count)] for x in points])
        return tuple(float(c) for c in mpmath.lu_solve(powers, mpmath.matrix(values)))


def odd(function: Function, known: int) -> Function:
    """Of an odd function f and z = x^2: what follows the first `known` terms of f(x) / x, as a series in z."""
    return _rest(lambda x: function(x) / x, function, known, 1)


def even(function: Function, known: int) -> Function:
    """Of an even function f and z = x^2: what follows its first `known` terms, as a series in z."""
    return _rest(function, function, known, 0)


def _rest(reduced: Function, function: Function, known: int, first: int) -> Function:
    series = mpmath.taylor(function, 0, 2 * known + first)[first::2][:known]

    def rest(z: mpf) -> mpf:
        x = mp.sqrt(z)
        return (reduced(x) - sum(c * z**k for k, c in enumerate(series))) / z**known

    return rest


def parts(value: mpf, *bits: int) -> tuple[float, ...]:
    """A number as a sum of floats of so many bits, each the nearest to what the former leave."""
    found = []
    for count in bits:
        with mpmath.workprec(count):
            found.append(float(+value))
        value -= found[-1]
    return tuple(found)


def scaled_erfc(t: mpf) -> mpf:
    """e^(x^2) (1 + 2 x) erfc x for t = (x - 4) / (x + 4)."""
    x = 4 * (1 + t) / (1 - t)
    return mp.exp(x * x) * (1 + 2 * x) * mp.erfc(x)


def erf_inv_ratio(w: mpf) -> mpf:
    """y / x with x = erf y and w = -log(1 - x^2), by Newton's method on log(1 - x)."""
    x = mp.sqrt(-mp.expm1(-w))
    goal = -w - mp.log1p(x)
    y = x * mp.sqrt(mp.pi) / 2 if w < 1 else mp.sqrt(w) * mpf("0.95")
    for _ in range(100):
        rest = mp.erfc(y)
        step = (mp.log(rest) - goal) * rest * mp.exp(y * y) * mp.sqrt(mp.pi) / 2
        y += step
        if abs(step) < mpf(10) ** -40 * y:
            return y / x
    raise ArithmeticError(f"no inverse of the error function at w = {w}")


def erf_inv_rest(center: float) -> Function:
    """The ratio less the root of w, by how far that root is from a center."""
    return lambda v: erf_inv_ratio((v + center) ** 2) - (v + center)


def derive() -> dict[str, tuple[float, ...]]:
    """By file and name."""
    with mpmath.workdps(80):
        quarter, half_log2 = mp.pi / 4 * (1 + mpf(10) ** -6), mp.log(2) / 2 * (1 + mpf(10) ** -6)
        tiny, root = mpf(10) ** -12, mp.sqrt(2)
        log_end = (3 - 2 * root) ** 2
        return {
            "trigonometric.HALF_PI": parts(mp.pi / 2, 53, 33, 53),
            "trigonometric.SIN": fit(odd(mp.sin, 1), tiny, quarter**2, 6),
            "trigonometric.COS": fit(even(mp.cos, 2), tiny, quarter**2, 6),
            "exponential.LOG2": parts(mp.log(2), 53, 53),
            "exponential.EXP": fit(lambda x: (mp.expm1(x) - x) / x**2, -half_log2, half_log2, 11),
            "logarithm.LOG": fit(lambda z: 2 * odd(mp.atanh, 1)(z), tiny, log_end, 7),
            "power.TWO_THIRDS": parts(mpf(2) / 3, 53, 53),
            "power.LOG_REST": fit(lambda z: 2 * odd(mp.atanh, 2)(z), tiny, log_end, 8),
            "power.CBRT": fit(lambda m: m ** (-mpf(1) / 3), 1 / root, root, 7),
            "inverse.QUARTER_PI": parts(mp.pi / 4, 53, 53),
            "inverse.ASIN": fit(odd(mp.asin, 1), tiny, mpf(1) / 4, 13),
            "inverse.ATAN": fit(odd(mp.atan, 1), tiny, (root - 1) ** 2, 11),
            "error.ERF": fit(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1, tiny, mpf(49) / 64, 12),
            "error.ERFC_AT_4": parts(scaled_erfc(mpf(0)), 53, 53),
            "error.ERFC": fit(lambda t: (scaled_erfc(t) - scaled_erfc(mpf(0))) / t, mpf(-13) / 19, mpf(3) / 4, 20),
            "error.CENTRAL": fit(lambda w: erf_inv_ratio(w) - mpf(7) / 8 - w / 4, mpf(0), mpf(9) / 2, 22),
            "error.MIDDLE": fit(erf_inv_rest(11 / 4), mp.sqrt(mpf(9) / 2) - mpf(11) / 4, mp.sqrt(12) - mpf(11) / 4, 21),
            "error.TAIL": fit(erf_inv_rest(9 / 2), mp.sqrt(12) - mpf(9) / 2, mpf("6.01") - mpf(9) / 2, 23),
            "single.SIN": fit(odd(mp.sin, 1), tiny, quarter**2, 4),
            "single.COS": fit(even(mp.cos, 2), tiny, quarter**2, 3),
            "single.EXP": fit(lambda x: (mp.expm1(x) - x) / x**2, -half_log2, half_log2, 6),
            "single.LOG": fit(lambda z: 2 * odd(mp.atanh, 1)(z), tiny, log_end, 3),
        }


if __name__ == "__main__":
    for name, values in derive().items():
        print(name, "= (")  # noqa: T201
        for value in values:
            print(f"    {value!r},")  # noqa: T201
        print(")")  # noqa: T201
