"""Powers and cube roots."""

import numpy as np

from .exponential import LOG2, exp_of_pair
from .logarithm import split_any
from .pairs import Pair, exact_product, fast_sum, product, quotient
from .terms import BIAS, SHIFT, Term, bits, copysign, flipped, fma, polynomial, power_of_two, where

TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)
"""2/3 as a sum of two floats."""

LOG_REST = (
    0.4,
    0.28571428571429364,
    0.22222222221656232,
    0.18181818335314404,
    0.15384594970895454,
    0.13334804238225553,
    0.11706248540917667,
    0.1172305102814051,
)
"""log((1 + s) / (1 - s)) = 2 s + 2/3 s^3 + s^5 LOG_REST(s^2) for |s| < 3 - sqrt(8)."""

CBRT = (
    2.106445644055421,
    -3.130448833606154,
    4.3861736045698985,
    -3.9752466321735342,
    2.2052801543409326,
    -0.6825991903503612,
    0.09039607708119622,
)
"""About m^(-1/3) from sqrt(1/2) to sqrt(2)."""


def pow(x: Term, y: Term) -> Term:
    """e^(y log |x|), with the sign and the special cases of the C standard."""
    size = abs(x)
    log = _log(size)
    limit = where(size.equals(0.0), -np.inf, size)
    log = Pair(where((size > 0.0) & (size < np.inf), log.high, limit), log.low)
    value = _exp_of_product(y, log)
    whole, half = y.equals(y.new("trunc")), 0.5 * y
    odd = whole & ~half.equals(half.new("trunc"))
    value = flipped(value, bits(where(odd, x, 1.0)))
    value = where((x < 0.0) & (x > -np.inf) & ~whole, np.nan, value)
    # The last two hold even where the other number is NaN.
    value = where(size.equals(1.0) & abs(y).equals(np.inf), 1.0, value)
    return where(x.equals(1.0) | y.equals(0.0), 1.0, value)


def _exp_of_product(y: Term, log: Pair) -> Term:
    high, low = exact_product(y, log.high)
    # Where the product is too large for e^x, its error is no number.
    low = where(abs(high) < 1000.0, fma(y, log.low, low), 0.0)
    return exp_of_pair(Pair(high, low))


def _log(x: Term) -> Pair:
    """log x to 2^-65 of its size, for a positive x."""
    k, m = split_any(x)
    f = m - 1.0
    s = quotient(Pair(f, x.constant(0.0)), fast_sum(2.0, f))
    z = product(s, s)
    third = product(z, Pair(x.constant(TWO_THIRDS[0]), x.constant(TWO_THIRDS[1])))
    rest = fast_sum(third.high, fma(z.high * z.high, polynomial(z.high, LOG_REST), third.low))
    two = fast_sum(2.0, rest.high)
    fraction = product(s, Pair(two.high, two.low + rest.low))
    doublings = exact_product(k, LOG2[0])
    total = fast_sum(doublings.high, fraction.high)
    return fast_sum(total.high, total.low + (fma(k, LOG2[1], doublings.low) + fraction.low))


def cbrt(x: Term) -> Term:
    """2^j cbrt(m), with m from 0.35 to 2.9 and its inverse cube root by a polynomial and two corrections."""
    k, m = split_any(abs(x))
    shifted = fma(k, 1 / 3, SHIFT + BIAS)
    left = fma(shifted - (SHIFT + BIAS), -3.0, k)
    more, less = left > 0.0, left < 0.0
    root = polynomial(m, CBRT) * where(more, 2 ** (-1 / 3), where(less, 2 ** (1 / 3), 1.0))
    m = m * where(more, 2.0, where(less, 0.5, 1.0))
    error = fma(-m * root, root * root, 1.0)
    root = fma(root * error, fma(error, 2 / 9, 1 / 3), root)
    y = m * root * root
    square, square_error = exact_product(y, y)
    missing = fma(-square_error, y, fma(-square, y, m))
    y = fma(missing * (1 / 3), root * root, y)
    value = copysign(y * power_of_two(shifted), x)
    return where((abs(x) > 0.0) & (abs(x) < np.inf), value, x)
