"""Numbers as a sum of two floats, the second the rounding error of the first: twice the digits where they are needed.

Every operation here relies on sums and products being rounded exactly once and not otherwise combined.
"""

from typing import NamedTuple

from .terms import Term, fma, sqrt


class Pair(NamedTuple):
    high: Term
    low: Term

    def __neg__(self) -> "Pair":
        return Pair(-self.high, -self.low)


def fast_sum(large: Term | float, small: Term) -> Pair:
    """Exact where the first is not smaller than the second, or is zero."""
    total = large + small
    return Pair(total, (large - total) + small)


def exact_sum(a: Term, b: Term | float) -> Pair:
    """Exact for all sizes."""
    total = a + b
    of_b = total - a
    return Pair(total, (a - (total - of_b)) + (-of_b + b))


def exact_product(a: Term, b: Term | float) -> Pair:
    high = a * b
    return Pair(high, fma(a, b, -high))


def product(a: Pair, b: Pair) -> Pair:
    high, low = exact_product(a.high, b.high)
    return Pair(high, fma(a.high, b.low, fma(a.low, b.high, low)))


def quotient(a: Pair, b: Pair) -> Pair:
    """With one division."""
    inverse = 1.0 / b.high
    high = a.high * inverse
    rest = fma(-high, b.high, a.high) + fma(-high, b.low, a.low)
    return Pair(high, rest * inverse)


def square_root(a: Term) -> Pair:
    root = sqrt(a)
    # The tiny number only keeps zero from being divided by zero.
    return Pair(root, fma(-root, root, a) / (2.0 * root + 2.0**-1000))


def rounded(a: Pair) -> Term:
    return a.high + a.low
