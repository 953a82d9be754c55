"""Sizes that are known when a program runs: `3 n + 1`, where n is the length of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Integer = int | np.integer
"""JAX has both in its equations."""


class NotGeneralError(NotImplementedError):
    """A program that can only be compiled for one length."""


@dataclass(frozen=True)
class Affine:
    """A sum of multiples of lengths and a number.

    Lengths are large: an `Affine` of positive factors is larger than any number and equals none. So what depends on a
    length is put in memory and computed in loops wherever the compiler chooses by size.
    """

    factors: tuple[tuple[int, int], ...]
    """(number of the length, its factor) in order of the first; no factor is zero. None at all: an empty array of long rows."""
    constant: int = 0

    __array_ufunc__ = None  # NumPy's integers leave arithmetic with it to the methods below

    @staticmethod
    def of(number: int, factor: int = 1) -> Affine:
        """A multiple of the length that has this number."""
        return Affine(((number, factor),))

    def at(self, lengths: Sequence[int]) -> int:
        """Its value for these lengths."""
        return self.constant + sum(factor * lengths[k] for k, factor in self.factors)

    def __add__(self, other: Integer | Affine) -> int | Affine:
        if not isinstance(other, Affine):
            return Affine(self.factors, self.constant + int(other))
        factors = dict(self.factors)
        for k, factor in other.factors:
            factors[k] = factors.get(k, 0) + factor
        return _made(factors, self.constant + other.constant)

    def __mul__(self, other: Integer | Affine) -> int | Affine:
        if isinstance(other, Affine):
            raise NotGeneralError(f"an array of {self} times {other} numbers")
        return _made({k: factor * int(other) for k, factor in self.factors}, self.constant * int(other))

    def __floordiv__(self, other: Integer) -> int | Affine:
        """By a number that divides all factors."""
        if isinstance(other, Affine) or any(factor % other for _, factor in self.factors):
            raise NotGeneralError(f"{self} divided by {other}")
        return _made({k: factor // int(other) for k, factor in self.factors}, self.constant // int(other))

    def __mod__(self, other: Integer) -> int:
        whole = self // other * other
        return int(self.constant - (whole.constant if isinstance(whole, Affine) else whole))

    def __neg__(self) -> int | Affine:
        return self * -1

    def __sub__(self, other: Integer | Affine) -> int | Affine:
        return self + -other

    def __rsub__(self, other: Integer) -> int | Affine:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def _exceeds(self, other: Integer | Affine) -> bool:
        difference = self - other
        if not isinstance(difference, Affine):
            return difference > 0
        signs = {factor > 0 for _, factor in difference.factors} or {True}
        if len(signs) > 1:
            raise NotGeneralError(f"whether {self} exceeds {other}")
        return signs.pop()

    def __gt__(self, other: Integer | Affine) -> bool:
        return self._exceeds(other)

    def __lt__(self, other: Integer | Affine) -> bool:
        return self != other and not self._exceeds(other)

    def __ge__(self, other: Integer | Affine) -> bool:
        return not self < other

    def __le__(self, other: Integer | Affine) -> bool:
        return not self > other

    def __index__(self) -> int:
        raise NotGeneralError(f"{self} as a number that is known when the program is compiled")

    __int__ = __index__

    def __bool__(self) -> bool:
        return bool(self.__index__())

    def __divmod__(self, other: Integer) -> tuple[int | Affine, int]:
        return self // other, self % other

    def __str__(self) -> str:
        parts = [f"{'' if factor == 1 else factor}n{k}" for k, factor in self.factors]
        return " + ".join([*parts, *([str(self.constant)] if self.constant else [])])


Size = int | Affine
Shape = tuple[Any, ...]
"""Of sizes; Python's own arithmetic does for both kinds."""


def _made(factors: dict[int, int], constant: int) -> int | Affine:
    """A number where nothing is left of the lengths."""
    left = tuple(sorted((k, factor) for k, factor in factors.items() if factor))
    return Affine(left, constant) if left else constant


def at_lengths(x: Any, lengths: Sequence[int]) -> Any:
    """A size, or tuples of sizes, as numbers."""
    if isinstance(x, Affine):
        return x.at(lengths)
    return tuple(at_lengths(y, lengths) for y in x) if isinstance(x, tuple) else x


def plain(size: Integer | Affine) -> Size:
    """Without NumPy's integers, which JAX's own derivative of a slice has in its parameters."""
    return size if isinstance(size, Affine) else int(size)


@dataclass(frozen=True)
class Count:
    """A number of a program's text that depends on lengths: a size or its inverse."""

    size: Affine
    inverse: bool = False
