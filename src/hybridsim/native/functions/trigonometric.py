"""Sine, cosine and tangent."""

from .pairs import Pair, fast_sum, quotient, rounded
from .terms import SHIFT, Term, bits, flipped, fma, negative, polynomial, rarely, remembered, where

HALF_PI = (1.5707963267948966, 6.12323399538461e-17, 3.5215598651832e-27)
"""pi/2 as a sum of three floats, the second of 33 bits."""

SIN = (
    -0.16666666666666666,
    0.008333333333330948,
    -0.00019841269836758538,
    2.755731610253375e-06,
    -2.5051131841108437e-08,
    1.591812901423411e-10,
)
"""sin r = r + r^3 SIN(r^2) for |r| < pi/4."""

COS = (
    0.041666666666666664,
    -0.0013888888888887398,
    2.4801587298765665e-05,
    -2.75573172717181e-07,
    2.087614626596642e-09,
    -1.138263224996048e-11,
)
"""cos r = 1 - r^2/2 + r^4 COS(r^2) for |r| < pi/4."""

LIMIT = 2.0**20
"""Beyond it the C library is asked."""


def _reduced(x: Term) -> tuple[Term, Term, Term]:
    """r, its error e and q, where x = q pi/2 + r + e and |r| < pi/4 or hardly more, for x from 0 to LIMIT.

    Nothing is lost however near x is to a multiple of pi/2. The first product needs no rounding, because x and
    n HALF_PI[0] are multiples of 2^-53 and differ by less than one; and the second part of pi/2 is so short that
    its product with n < 2^20 is a float.
    """
    shifted = fma(x, 2 / 3.141592653589793, SHIFT)
    n = shifted - SHIFT
    first = fma(-n, HALF_PI[0], x)
    r = fma(-n, HALF_PI[1], first)
    e = fma(-n, HALF_PI[2], fma(-n, HALF_PI[1], first - r))
    return r, e, bits(shifted)


def _near_zero(r: Term, e: Term) -> tuple[Pair, Pair]:
    """sin(r + e) and cos(r + e) for |r| < pi/4 and a tiny e."""
    z = r * r
    half = r * -0.5
    top = fma(r, half, 1.0)
    sine = fma(z * r, polynomial(z, SIN), e * top)
    rest = fma(-r, e, fma(r, half, 1.0 - top))
    return fast_sum(r, sine), fast_sum(top, fma(z * z, polynomial(z, COS), rest))


def in_quarters(x: Term, q: Term, sine: Term, cosine: Term) -> tuple[Term, Term]:
    """sin x and cos x, from those of what is left when q quarters of a turn are taken off the size of x.

    From the size, so that sine is odd and cosine is even to the last bit, zero included.
    """
    odd = negative(q << 63)
    return (
        flipped(where(odd, cosine, sine), (q << 62) ^ bits(x)),
        flipped(where(odd, sine, cosine), (q + 1) << 62),
    )


@remembered
def _sin_cos(x: Term) -> tuple[Term, Term]:
    """Both at once, by the shortest way: the rounding of what is left of x, half a unit, is not made good.

    The last part of pi/2 matters only where almost nothing is left of x, and there only to the sine itself.
    """
    size = abs(x)
    shifted = fma(size, 2 / 3.141592653589793, SHIFT)
    n = shifted - SHIFT
    r = fma(-n, HALF_PI[1], fma(-n, HALF_PI[0], size))
    z = r * r
    sine = fma(z * r, polynomial(z, SIN), fma(-n, HALF_PI[2], r))
    cosine = fma(z * z, polynomial(z, COS), fma(r, r * -0.5, 1.0))
    return in_quarters(x, bits(shifted), sine, cosine)


def sin(x: Term) -> Term:
    return rarely("sin", abs(x) > LIMIT, _sin_cos(x)[0], x)


def cos(x: Term) -> Term:
    return rarely("cos", abs(x) > LIMIT, _sin_cos(x)[1], x)


def tan(x: Term) -> Term:
    """sin / cos, or -cos / sin in every other quarter, with the errors of both."""
    r, e, q = _reduced(abs(x))
    sine, cosine = _near_zero(r, e)
    odd = negative(q << 63)
    above = Pair(*(where(odd, c, s) for s, c in zip(sine, cosine, strict=True)))
    below = Pair(*(where(odd, s, c) for s, c in zip(sine, cosine, strict=True)))
    value = flipped(rounded(quotient(above, below)), (q << 63) ^ bits(x))
    return rarely("tan", abs(x) > LIMIT, value, x)
