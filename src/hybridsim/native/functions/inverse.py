"""Inverse trigonometric functions."""

from .pairs import Pair, exact_product, fast_sum, quotient, square_root
from .terms import Term, bits, copysign, flipped, fma, negative, polynomial, where

QUARTER_PI = (0.7853981633974483, 3.061616997868383e-17)
"""pi/4 as a sum of two floats."""

ASIN = (
    0.16666666666666669,
    0.07499999999998433,
    0.04464285714635543,
    0.030381944138531247,
    0.02237217294214989,
    0.017352392720869945,
    0.013971212973553311,
    0.011479177415181617,
    0.0103228143502052,
    0.005457506718563782,
    0.01740087944288715,
    -0.014851887071528912,
    0.028757851367602328,
)
"""asin s = s + s^3 ASIN(s^2) for |s| < 1/2."""

ATAN = (
    -0.3333333333333333,
    0.1999999999999552,
    -0.14285714284666542,
    0.11111111015256361,
    -0.09090904578123901,
    0.07692183190826078,
    -0.06664511447381855,
    0.05858148912801507,
    -0.050854497379370145,
    0.03923165829550329,
    -0.01917688711896928,
)
"""atan t = t + t^3 ATAN(t^2) for |t| < tan(pi/8)."""

TAN_EIGHTH = 0.41421356237309503
"""tan(pi/8)"""


def _angle(quarters: Term, sign: Term, t: Term, rest: Term) -> Term:
    """quarters pi/4 + t + rest, where t and rest change sign with the first bit of `sign`, and |t| < pi/4."""
    base = exact_product(quarters, QUARTER_PI[0])
    total = fast_sum(base.high, flipped(t, sign))
    small = fma(quarters, QUARTER_PI[1], base.low) + flipped(rest, sign)
    return total.high + (total.low + small)


def asin(x: Term) -> Term:
    """Of the size y of x; above one half as pi/2 - 2 asin(sqrt((1 - y) / 2))."""
    y = abs(x)
    large = y > 0.5
    s, rest = _asin_parts(y, large)
    value = _angle(where(large, 2.0, 0.0), bits(where(large, -1.0, 1.0)), s, rest)
    return copysign(value, x)


def acos(x: Term) -> Term:
    """pi/2 - asin x; for large sizes 2 asin(sqrt((1 - |x|) / 2)) or pi less that, without cancelling."""
    y = abs(x)
    large = y > 0.5
    s, rest = _asin_parts(y, large)
    below = x < 0.0
    quarters = where(large, where(below, 4.0, 0.0), 2.0)
    less = where(below, where(large, -1.0, 1.0), where(large, 1.0, -1.0))
    return _angle(quarters, bits(less), s, rest)


def _asin_parts(y: Term, large: Term) -> tuple[Term, Term]:
    """s and rest, where s + rest is asin y, or for a large y twice the arc sine of sqrt((1 - y) / 2)."""
    half = fma(y, -0.5, 0.5)
    root = square_root(half)
    s, error = where(large, root.high, y), where(large, root.low, 0.0)
    z = where(large, half, y * y)
    factor = where(large, 2.0, 1.0)
    return s * factor, fma(s * z, polynomial(z, ASIN), error) * factor


def atan(x: Term) -> Term:
    """Beyond 2^60 it is pi/2 to the last bit."""
    y = abs(x)
    y = where(y > 2.0**60, 2.0**60, y)
    one = x.constant(1.0)
    swap = y > 1.0
    return copysign(_atan_parts(where(swap, one, y), where(swap, y, one), swap, None), x)


def atan2(y: Term, x: Term) -> Term:
    a, b = abs(y), abs(x)
    swap = a > b
    small, large = where(swap, b, a), where(swap, a, b)
    # Where sums would overflow or errors underflow, both are scaled; infinite by infinite is as one by one.
    scale = where(large < 1.0, 2.0**700, where(large > 2.0**600, 2.0**-300, 1.0))
    infinite = large > 1.7976931348623157e308
    small = where(infinite, where(small.equals(large), 1.0, small - small), small * scale)
    large = where(infinite, 1.0, large * scale)
    large = where(large.equals(0.0), 1.0, large)
    return copysign(_atan_parts(small, large, swap, negative(bits(x))), y)


def _atan_parts(small: Term, large: Term, swap: Term, behind: Term | None) -> Term:
    """The angle, from 0 to pi, of the point that has these sizes as coordinates: small above large, or swapped."""
    steep = small > TAN_EIGHTH * large
    less, more = fast_sum(-large, small), fast_sum(large, small)
    above = Pair(where(steep, less.high, small), where(steep, less.low, 0.0))
    below = Pair(where(steep, more.high, large), where(steep, more.low, 0.0))
    t = quotient(above, below)
    z = t.high * t.high
    rest = fma(t.high * z, polynomial(z, ATAN), t.low)
    # The angle counts from the other axis where coordinates are swapped, and from behind.
    turned = swap if behind is None else swap ^ behind
    start = where(swap, 2.0, 0.0) if behind is None else where(swap, 2.0, where(behind, 4.0, 0.0))
    sign = where(turned, -1.0, 1.0)
    return _angle(start + where(steep, sign, 0.0), bits(sign), t.high, rest)
