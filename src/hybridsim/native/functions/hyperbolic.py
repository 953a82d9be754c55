"""Hyperbolic functions, their inverses, and the logistic function, from e^x and log as pairs."""

import numpy as np

from .exponential import exp, exp_parts, half_expm1, scaled
from .logarithm import log_of_sum
from .pairs import Pair, exact_sum, fast_sum, quotient, rounded, square_root
from .terms import Term, copysign, fma, sqrt, where


def tanh(x: Term) -> Term:
    """With h = (e^-2|x| - 1) / 2 it is -h / (1 + h): nothing grows and nothing cancels."""
    size = abs(x)
    h = half_expm1(-2.0 * where(size > 22.0, 22.0, size))
    over = fast_sum(1.0, h.high)
    return copysign(rounded(quotient(-h, Pair(over.high, over.low + h.low))), x)


def logistic(x: Term) -> Term:
    """1 / (1 + e^-x), for negative x as e^x / (1 + e^x), which is right where it is tiny."""
    e = exp(-abs(x))
    return rounded(quotient(Pair(where(x < 0.0, e, 1.0), x.constant(0.0)), fast_sum(1.0, e)))


def _half_exp(x: Term) -> Pair:
    """e^x / 2 for x from 0 to 712; where that is infinite, so is the first part alone."""
    shifted, y = exp_parts(Pair(x, x.constant(0.0)))
    return Pair(scaled(y.high, shifted - 1.0), scaled(y.low, shifted - 1.0))


def cosh(x: Term) -> Term:
    """t + 1 / (4 t) with t = e^|x| / 2."""
    size = abs(x)
    t = _half_exp(where(size > 712.0, 712.0, size))
    other = 0.25 / t.high
    # The derivative of the formula times the error of t.
    rest = fma(-4.0 * other * other, t.low, t.low)
    return t.high + (other + rest)


def sinh(x: Term) -> Term:
    """With h = (e^|x| - 1) / 2 it is h + h / (1 + 2 h); for large sizes e^|x| / 2, which is the last to overflow."""
    size = abs(x)
    size = where(size > 712.0, 712.0, size)
    h = half_expm1(size)
    over = exact_sum(h.high, 0.5)
    part = quotient(Pair(0.5 * h.high, 0.5 * h.low), Pair(over.high, over.low + h.low))
    total = fast_sum(h.high, part.high)
    value = total.high + (total.low + (part.low + h.low))
    value = where(size > 40.0, _half_exp(size).high, value)
    return where(size < 2.0**-28, x, copysign(value, x))


def asinh(x: Term) -> Term:
    """log(1 + y + y^2 / (1 + sqrt(1 + y^2))) of the size y of x, or log(2 y) where it is large."""
    size = abs(x)
    large = size > 2.0**30
    y = where(large, 1.0, size)
    root = sqrt(fma(y, y, 1.0))
    u = fast_sum(y, y * y / (1.0 + root))
    whole = exact_sum(u.high, 1.0)
    value = log_of_sum(where(large, size, whole.high), where(large, 0.0, whole.low + u.low), where(large, 1.0, 0.0))
    return where(size < 2.0**-28, x, copysign(value, x))


def acosh(x: Term) -> Term:
    """log(1 + t + sqrt(2 t + t^2)) with t = x - 1, or log(2 x) where it is large."""
    large = x > 2.0**30
    t = where(large, 1.0, x - 1.0)
    root = square_root(fma(t, t, 2.0 * t))
    u = exact_sum(t, root.high)
    whole = exact_sum(u.high, 1.0)
    low = whole.low + (u.low + root.low)
    value = log_of_sum(where(large, x, whole.high), where(large, 0.0, low), where(large, 1.0, 0.0))
    return where(x < 1.0, np.nan, value)


def atanh(x: Term) -> Term:
    """log(1 + 2 y / (1 - y)) / 2 of the size y of x."""
    y = abs(x)
    u = quotient(Pair(2.0 * y, y.constant(0.0)), fast_sum(1.0, -y))
    whole = exact_sum(u.high, 1.0)
    value = 0.5 * log_of_sum(whole.high, whole.low + u.low)
    value = where(y < 1.0, value, where(y.equals(1.0), np.inf, np.nan))
    return where(y < 2.0**-28, x, copysign(value, x))
