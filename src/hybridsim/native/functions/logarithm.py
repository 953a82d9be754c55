"""Logarithms: log(2^k m) = k log 2 + log m, with m from sqrt(1/2) to sqrt(2)."""

import numpy as np

from .exponential import LOG2
from .pairs import exact_sum, fast_sum
from .terms import BIAS, ONE, Term, bits, fma, polynomial, where

LOG = (
    0.666666666666667,
    0.39999999999899505,
    0.28571428625975487,
    0.22222211134795078,
    0.1818288912526188,
    0.1533172160055169,
    0.14616449685088906,
)
"""log((1 + s) / (1 - s)) = 2 s + s^3 LOG(s^2) for |s| < 3 - sqrt(8)."""

FRACTION = (1 << 52) - 1
"""The bits of a float after those of its exponent."""

HALF_ROOT = int(np.float64(np.sqrt(0.5)).view(np.int64))
"""The bits of sqrt(1/2)."""

INTEGERS = (BIAS + 52) << 52
"""The bits of 2^52: an integer in the low bits makes it 2^52 + that integer."""


def split(x: Term) -> tuple[Term, Term, Term]:
    """k, m and the bits of 2^k, for a normal, positive x."""
    moved = bits(x) + (ONE - HALF_ROOT)
    k = bits((moved >> 52) | INTEGERS) - (2.0**52 + BIAS)
    return k, bits((moved & FRACTION) + HALF_ROOT), moved & ~FRACTION


def split_any(x: Term) -> tuple[Term, Term]:
    """k and m, for a positive x."""
    tiny = x < 2.0**-1022
    k, m, _ = split(where(tiny, x * 2.0**54, x))
    return where(tiny, k - 54.0, k), m


def _from_parts(k: Term, f: Term, e: Term | None = None) -> Term:
    """k log 2 + log(1 + f + e) for sqrt(1/2) < 1 + f < sqrt(2) and a tiny e.

    With s = f / (2 + f) the second is f - f^2/2 + s (f^2/2 + s^2 LOG(s^2)), in which f has no error.
    """
    s = f / (2.0 + f)
    z = s * s
    half = 0.5 * f * f
    less = fma(-s, fma(z, polynomial(z, LOG), half), half)
    if e is not None:
        less = less - fma(-f, e, e)
    return fma(k, LOG2[0], f - fma(-k, LOG2[1], less))


def log(x: Term) -> Term:
    k, m = split_any(x)
    return _with_limits(x, _from_parts(k, m - 1.0))


def _with_limits(x: Term, value: Term) -> Term:
    value = where(x > 0.0, value, where(x < 0.0, np.nan, -np.inf))
    return where(x < np.inf, value, x)


def log1p(x: Term) -> Term:
    whole = exact_sum(x, 1.0)
    return where(abs(x) < 2.0**-54, x, log_of_sum(whole.high, whole.low))


def log_of_sum(large: Term, small: Term, doublings: Term | float = 0.0) -> Term:
    """log((large + small) 2^doublings), where `large` is zero or normal and `small` is its error."""
    k, m, power = split(large)
    # 2^-k matters only while the error does, and is a float for k < 1023.
    inverse = bits(2 * ONE - power)
    f = fast_sum(m - 1.0, where(large < 2.0**60, small * inverse, 0.0))
    return _with_limits(large, _from_parts(k + doublings, f.high, f.low))
