"""The functions that networks and mechanisms use most, for float32: in float64, so that one part of everything will do.

Polynomials are as short as 24 bits allow, and no result is too large or too small for the float64 that is rounded.
"""

import numpy as np

from .exponential import LOG2, clamped
from .logarithm import split
from .terms import BIAS, SHIFT, Term, bits, copysign, fma, polynomial, power_of_two, rarely, remembered, where
from .trigonometric import HALF_PI, LIMIT, in_quarters

SIN = (
    -0.16666666663855267,
    0.008333331874701479,
    -0.00019840086730669242,
    2.7249925191609704e-06,
)
"""sin r = r + r^3 SIN(r^2) for |r| < pi/4."""

COS = (0.04166666465949019, -0.001388830303355935, 2.454794158044304e-05)
"""cos r = 1 - r^2/2 + r^4 COS(r^2) for |r| < pi/4."""

EXP = (
    0.5000000013457808,
    0.16666666681614345,
    0.04166646500523263,
    0.008333310934359203,
    0.0013933641121625462,
    0.00019890980969294606,
)
"""e^r = 1 + r + r^2 EXP(r) for |r| < log(2) / 2."""

LOG = (0.6666668503957587, 0.39988780566020704, 0.2957994939200757)
"""log((1 + s) / (1 - s)) = 2 s + s^3 LOG(s^2) for |s| < 3 - sqrt(8)."""


@remembered
def _sin_cos(x: Term) -> tuple[Term, Term]:
    size = abs(x)
    shifted = fma(size, 2 / 3.141592653589793, SHIFT)
    n = shifted - SHIFT
    r = fma(-n, HALF_PI[1], fma(-n, HALF_PI[0], size))
    z = r * r
    sine = fma(z * r, polynomial(z, SIN), r)
    cosine = fma(z, fma(z, polynomial(z, COS), -0.5), 1.0)
    return in_quarters(x, bits(shifted), sine, cosine)


def sin(x: Term) -> Term:
    return rarely("sin", abs(x) > LIMIT, _sin_cos(x)[0], x)


def cos(x: Term) -> Term:
    return rarely("cos", abs(x) > LIMIT, _sin_cos(x)[1], x)


def _exp_parts(x: Term) -> tuple[Term, Term]:
    """2^n and p, where e^x = 2^n (1 + p)."""
    shifted = fma(x, 1 / LOG2[0], SHIFT + BIAS)
    r = fma(SHIFT + BIAS - shifted, LOG2[0], x)
    return power_of_two(shifted), fma(r * r, polynomial(r, EXP), r)


def exp(x: Term) -> Term:
    power, p = _exp_parts(clamped(x, -110.0, 90.0))
    return fma(power, p, power)


def logistic(x: Term) -> Term:
    power, p = _exp_parts(-clamped(x, -110.0, 90.0))
    return 1.0 / (1.0 + fma(power, p, power))


def tanh(x: Term) -> Term:
    """-h / (2 + h) with h = e^-2|x| - 1."""
    size = abs(x)
    power, p = _exp_parts(-2.0 * where(size > 20.0, 20.0, size))
    h = fma(power, p, power - 1.0)
    return copysign(-h / (2.0 + h), x)


def log(x: Term) -> Term:
    """No float32 is too small to be a normal float64, except zero."""
    k, m, _ = split(x)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    value = fma(k, LOG2[0], fma(s * z, polynomial(z, LOG), 2.0 * s))
    value = where(x > 0.0, value, where(x < 0.0, np.nan, -np.inf))
    return where(x < np.inf, value, x)
