"""Folds of as many terms as a program is told when it runs."""

from collections.abc import Callable

from ..arrays import BLOCK, Arrays

LEVELS = 4
"""Of blocks of blocks of terms."""

Turn = Callable[[int, list[int]], list[int]]
Combine = Callable[[list[int], list[int]], list[int]]


def fold_long(
    arrays: Arrays,
    count: int,
    prepared: Callable[[int, int], Turn],
    combine: Combine,
    start: list[int],
) -> list[int]:
    """totals = turn(i, totals) for i from 0 up to `count`, a value.

    As in `Arrays.fold`, totals of some terms are put together in blocks, these in larger blocks and so on, for a small error.
    `prepared(first, n)` makes the turn for the n terms of a block of at most BLOCK.
    """
    s = arrays.s

    def block(level: int, first: int, n: int) -> list[int]:
        """The fold of n terms, at least one."""
        if level == 0:
            turn = prepared(first, n)
            return arrays.turns(n, lambda i, totals: turn(s.add(first, i), totals), start)
        size = s.index(BLOCK**level)

        def one(i: int, totals: list[int]) -> list[int]:
            begin = s.mul(i, size)
            left = s.op("min", s.sub(n, begin), size)
            return combine(totals, block(level - 1, s.add(first, begin), left))

        return arrays.turns(_ceiling(arrays, n, BLOCK**level), one, start)

    size = s.index(BLOCK**LEVELS)

    def largest(i: int, totals: list[int]) -> list[int]:
        begin = s.mul(i, size)
        return combine(totals, block(LEVELS - 1, begin, s.op("min", s.sub(count, begin), size)))

    return arrays.loop_between(s.index(0), _ceiling(arrays, count, BLOCK**LEVELS), largest, start)


def fold_long_line(
    arrays: Arrays,
    count: int,
    width: int,
    at: Callable[[int], int],
    fold: Callable[[int, int], int],
    start: int,
    type,
    light: bool,
) -> int:
    """at(0), at(1), ... folded, `width` folds side by side; entries that are not `light` are computed in memory, block by block."""
    s, g = arrays.s, arrays.g
    side_by_side = s.index(width)

    def prepared(first: int, n: int) -> Turn:
        begin = s.mul(first, side_by_side)
        if light:
            return lambda i, totals: [
                fold(x, at(s.add(s.mul(i, side_by_side), s.index(u)))) for u, x in enumerate(totals)
            ]
        piece = g.buffer(type, width * BLOCK)
        arrays.turns(s.mul(n, side_by_side), lambda i, _: g.store(piece, i, at(s.add(begin, i))) or [], [])

        def turn(i: int, totals: list[int]) -> list[int]:
            place = s.mul(s.sub(i, first), side_by_side)
            return [fold(x, g.load(piece, s.add(place, s.index(u)))) for u, x in enumerate(totals)]

        return turn

    def combine(some: list[int], others: list[int]) -> list[int]:
        return [fold(x, y) for x, y in zip(some, others, strict=True)]

    turns = s.integer_div(count, side_by_side)
    totals = fold_long(arrays, turns, prepared, combine, [start] * width)
    while len(totals) > 1:
        totals = combine(totals[::2], totals[1::2])
    rest = arrays.loop_between(s.mul(turns, side_by_side), count, lambda i, c: [fold(c[0], at(i))], [start])
    return fold(totals[0], rest[0])


def _ceiling(arrays: Arrays, count: int, divisor: int) -> int:
    s = arrays.s
    return s.integer_div(s.add(count, s.index(divisor - 1)), s.index(divisor))
