"""Exponential functions: e^x = 2^n e^r with a small r."""

from .pairs import Pair, fast_sum, rounded
from .terms import BIAS, SHIFT, Term, bits, fma, polynomial, power_of_two, where

LOG2 = (0.6931471805599453, 2.3190468138462996e-17)
"""log 2 as a sum of two floats."""

EXP = (
    0.5,
    0.1666666666666667,
    0.04166666666666667,
    0.008333333333326141,
    0.0013888888888883752,
    0.00019841269874800694,
    2.480158732553351e-05,
    2.755725542549107e-06,
    2.755727366116628e-07,
    2.5105206480259365e-08,
    2.0914679452495193e-09,
)
"""e^r = 1 + r + r^2 EXP(r) for |r| < log(2) / 2."""


def clamped(x: Term, low: float, high: float) -> Term:
    """Not below `low` and not above `high`; what is no number stays."""
    x = where(x < low, low, x)
    return where(x > high, high, x)


def reduced(x: Term, error: Term | None = None) -> tuple[Term, Term, Term]:
    """SHIFT + 2 BIAS + n, r and p, where e^(x + error) = 2^n (1 + r + p), |r| < log(2) / 2 and p is of second order.

    The first product needs no rounding: x and n LOG2[0] are multiples of 2^-54 and differ by less than a half.
    """
    shifted = fma(x, 1 / LOG2[0], SHIFT + 2 * BIAS)
    n = shifted - (SHIFT + 2 * BIAS)
    first = fma(-n, LOG2[0], x)
    if error is None:
        r = fma(-n, LOG2[1], first)
        e = fma(-n, LOG2[1], first - r)
    else:
        r, e = fast_sum(first, fma(-n, LOG2[1], error))
    return shifted, r, fma(r * r, polynomial(r, EXP), e)


def scaled(y: Term, shifted: Term) -> Term:
    """2^n y, in two steps: 2^n alone may be too large, or so small that bits of y would be lost twice."""
    both = bits(shifted)
    one = both >> 1
    return y * bits(one << 52) * bits((both - one) << 52)


def exp(x: Term) -> Term:
    shifted, r, p = reduced(clamped(x, -750.0, 710.0))
    return scaled(sum_of_three(r, p), shifted)


def sum_of_three(r: Term, p: Term) -> Term:
    """1 + r + p."""
    top = fast_sum(1.0, r)
    return top.high + (top.low + p)


def exp_parts(x: Pair) -> tuple[Term, Pair]:
    """SHIFT + 2 BIAS + n and y, where e^x = 2^n y; x may be from -750 to 712, beyond is as there."""
    shifted, r, p = reduced(clamped(x.high, -750.0, 712.0), x.low)
    top = fast_sum(1.0, r)
    return shifted, fast_sum(top.high, top.low + p)


def exp_of_pair(x: Pair) -> Term:
    shifted, y = exp_parts(x)
    return scaled(y.high, shifted)


def exp2(x: Term) -> Term:
    x = clamped(x, -1080.0, 1025.0)
    shifted = x + (SHIFT + 2 * BIAS)
    f = x - (shifted - (SHIFT + 2 * BIAS))
    r = f * LOG2[0]
    e = fma(f, LOG2[1], fma(f, LOG2[0], -r))
    return scaled(sum_of_three(r, fma(r * r, polynomial(r, EXP), e)), shifted)


def expm1(x: Term) -> Term:
    return where(abs(x) < 2.0**-54, x, 2.0 * rounded(half_expm1(clamped(x, -50.0, 710.0))))


def half_expm1(x: Term) -> Pair:
    """(e^x - 1) / 2 for -700 < x < 710; half, so that 2^n / 2 is a float in all of it."""
    shifted, r, p = reduced(x)
    half = power_of_two(shifted - (BIAS + 1.0))
    first, second = half - 0.5, half * r
    error = half - (first + 0.5)
    # The first term is not smaller than the second, or it is zero.
    total = fast_sum(first, second)
    return fast_sum(total.high, fma(half, p, total.low + error))
