"""Products of matrices: small ones written out, others as loops.

The order of every sum is the same for any number of lanes, so what can be computed at once are several sums: the inner
loop runs over results that lie together in memory, or, where the operand does not lie so, over a few sums side by side.
Long sums are made of blocks, see `Arrays.fold`.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import BLOCK, SMALL, Array, Lazy, Memory, Small, Stored, division, memory_read, size_of, strides_of
from ..lengths.affine import Affine, Shape
from ..lengths.folds import fold_long
from ..types import Type, type_of
from .reductions import fold_line

UNROLL = 1024
"""Products of scalars with more multiplications than this are loops."""
UNROLL_SPARSE = 4096
"""The same where at least half of the factors are zero, of which loops know nothing."""
UNROLL_EACH = 64
"""The same of each of many products, as of the matrices of all bodies, whose number does not count."""
UNROLL_FROM_MEMORY = 256
"""The same where an operand is in memory."""
TERMS = 8
"""Terms of a sum that are added in one pass over a row of results."""
SUMS = 8
"""Sums computed side by side."""


@dataclass(frozen=True)
class Operand:
    """One factor: its axes are batch, free, or contracted."""

    array: Array
    batch: tuple[int, ...]
    free: tuple[int, ...]
    contracted: tuple[int, ...]

    def sizes(self, axes: tuple[int, ...]) -> Shape:
        return tuple(self.array.shape[d] for d in axes)

    def at(self, low, batch, free, contracted) -> int:
        """The entry at places along the three groups of axes."""
        place = dict(zip((*self.batch, *self.free, *self.contracted), (*batch, *free, *contracted), strict=True))
        return low.a.at(self.array, tuple(place[d] for d in range(len(self.array.shape))))

    def flat(self, low, order: tuple[int, ...], shape: Shape) -> Array:
        """The array with axes in another order and then reshaped, as a formula; in place where that changes nothing."""
        x = self.array
        if order == tuple(range(len(x.shape))) and isinstance(x, Stored):
            return Stored(shape, x.type, x.buffer, x.scalars)
        groups = _grouping(tuple(x.shape[d] for d in order), shape)

        def element(indices):
            split = [i for index, group in zip(indices, groups, strict=True) for i in _split(low, index, group)]
            return low.a.at(x, tuple(split[order.index(d)] for d in range(len(x.shape))))

        return Lazy(shape, x.type, element, reads=memory_read(x))


def _grouping(shape, flat) -> list[Shape]:
    """Which axes of `shape` make up each axis of `flat`."""
    groups, rest = [], list(shape)
    for n in flat:
        group: list = []
        while rest and (size_of(tuple(group)) < n or rest[0] == 1):
            group.append(rest.pop(0))
        groups.append(tuple(group))
    groups[-1] = (*groups[-1], *rest)
    return groups


def _split(low, index: int, shape: Shape) -> list[int]:
    s, out = low.s, []
    for n, stride in zip(shape, strides_of(shape), strict=True):
        if n == 1:
            out.append(s.index(0))
        elif size_of(shape) == n:
            out.append(index)
        else:
            whole = s.integer_div(index, s.index(stride))
            out.append(s.rem(whole, s.index(n)))
    return out


def _dot_general(low, eqn, a, b):
    (ca, cb), (ba, bb) = eqn.params["dimension_numbers"]
    aval = eqn.outvars[0].aval
    type = type_of(aval.dtype)
    left, right = (
        Operand(x, tuple(batch), tuple(d for d in range(len(x.shape)) if d not in (*c, *batch)), tuple(c))
        for x, c, batch in ((a, ca, ba), (b, cb, bb))
    )
    work = size_of(aval.shape) * size_of(left.sizes(left.contracted))
    if work == 0:
        return [low.result(aval.shape, type, lambda indices: low.s.const(0, type), ())]
    both_small = isinstance(a, Small) and isinstance(b, Small)
    if both_small and size_of(aval.shape) <= SMALL and work <= 16 * UNROLL_SPARSE:
        tables = [_table(low, x) for x in (left, right)]
        there = _multiplications(low, *tables)
        products = len(tables[0])
        if there <= max(UNROLL_SPARSE if 2 * there <= work else UNROLL, UNROLL_EACH * products):
            return [_unrolled(low, tables, aval.shape, type)]
    elif work <= UNROLL_FROM_MEMORY:
        return [_unrolled(low, [_table(low, x) for x in (left, right)], aval.shape, type)]
    return [_looped(low, left, right, aval.shape, type)]


def _table(low, x: Operand) -> np.ndarray:
    """Scalars by batch, free place and contracted place."""
    ids = low.a.small(x.array).ids.transpose(*x.batch, *x.free, *x.contracted)
    return ids.reshape([size_of(x.sizes(axes)) for axes in (x.batch, x.free, x.contracted)])


def _multiplications(low, left: np.ndarray, right: np.ndarray) -> int:
    """How many remain when factors that are zero are left out."""
    zeros = np.array([i for i, value in low.g.constants.items() if value == 0], dtype=np.int64)
    there = [(~np.isin(ids, zeros)).astype(np.int64) for ids in (left, right)]
    return int(np.einsum("bik,bjk->", *there))


def _unrolled(low, tables: list[np.ndarray], shape, type: Type) -> Small:
    s = low.s
    out = []
    for L, R in zip(*(t.tolist() for t in tables), strict=True):
        for row in L:
            for column in R:
                products = [s.mul(s.cast(x, type), s.cast(y, type)) for x, y in zip(row, column, strict=True)]
                out.append(s.total(products, type))
    return Small(np.array(out, dtype=np.int64).reshape(shape), type)


def _looped(low, left: Operand, right: Operand, shape, type: Type) -> Array:
    """As matrices: out[b, i, j] is the sum over k of left[b, i, k] times right, of which j should lie together."""
    I, J = size_of(left.sizes(left.free)), size_of(right.sizes(right.free))
    flipped = J < SUMS and I > J  # a matrix times a vector: the results run along the matrix
    if flipped:
        left, right, I, J = right, left, J, I
    B, K = size_of(left.sizes(left.batch)), size_of(left.sizes(left.contracted))
    rows = left.flat(low, (*left.batch, *left.free, *left.contracted), (B, I, K))
    rows = rows if isinstance(rows, Stored) else low.a.stored(rows)
    together = (*right.batch, *right.contracted, *right.free)
    out = Memory(low.a, type, (B, I, J))
    if I == J == 1:
        _one_by_one(low, rows, low.a.stored(right.flat(low, together, (B, K))), out)
    elif not isinstance(K, Affine) and (
        together == tuple(range(len(right.array.shape))) or I >= 4 or isinstance(J, Affine)
    ):
        _by_rows(low, rows, low.a.stored(right.flat(low, together, (B, K, J))), out)
    else:
        columns = right.flat(low, (*right.batch, *right.free, *right.contracted), (B, J, K))
        _side_by_side(low, rows, low.a.stored(columns), out)
    found = out.array()
    if not flipped:
        return Stored(shape, type, found.buffer, low.s)
    if I == 1:
        return Stored(shape, type, found.buffer, low.s)
    turned = Lazy((B, J, I), type, lambda i: found.element((i[0], i[2], i[1])))
    return Stored(shape, type, low.a.stored(turned).buffer, low.s)


def _one_by_one(low, rows: Stored, columns: Stored, out: Memory) -> None:
    s, zero, type = low.s, low.s.index(0), out.type

    def sum_of(place):
        (b,) = place

        def product(k):
            return s.mul(s.cast(rows.element((b, zero, k)), type), s.cast(columns.element((b, k)), type))

        out[b, zero, zero] = fold_line(low, rows.shape[-1], product, type, True, s.const(0, type), s.add)

    low.a.nest(out.shape[:1], sum_of)


def _by_rows(low, rows: Stored, matrix: Stored, out: Memory) -> None:
    """A row of results is the sum of rows of the matrix; several are added in one pass."""
    s, (B, I, J), K = low.s, out.shape, rows.shape[-1]
    type = out.type

    def each_column(body) -> None:
        low.a.loop(J, lambda j, _: body(j) or []) if J > 1 else body(s.index(0))

    def row(place):
        b, i = place

        def products(first: int, count: int, j: int) -> int:
            total = s.const(0, type)
            for u in range(count):
                k = s.add(first, s.index(u))
                factors = rows.element((b, i, k)), matrix.element((b, k, j))
                total = s.add(total, s.mul(*(s.cast(x, type) for x in factors)))
            return total

        def collect(first: int, count: int, target: Memory, at: tuple[int, ...]) -> None:
            """The sum of some terms in a row of memory: blocks of blocks of terms, as by `Arrays.fold`."""

            def put(j: int, value: int, fresh: bool = False) -> None:
                target[(*at, j)] = value if fresh else s.add(target[(*at, j)], value)

            def add_block(p: int) -> None:
                part = Memory(low.a, type, (J,))
                collect(s.add(first, s.mul(p, s.index(size))), size, part, ())
                each_column(lambda j: put(j, part[j,]))

            def add_terms(p: int, n: int = TERMS) -> None:
                begin = s.add(first, s.mul(p, s.index(size)))
                each_column(lambda j: put(j, products(begin, n, j)))

            if count > TERMS * BLOCK:
                turns, size, rest = division(count, TERMS * BLOCK)
                each_column(lambda j: put(j, s.const(0, type), fresh=True))
                low.a.loop(turns, lambda p, _: add_block(p) or [])
            else:
                size, (turns, rest) = TERMS, divmod(count, TERMS)
                each_column(lambda j: put(j, products(first, min(count, TERMS), j), fresh=True))
                if turns > 1:
                    low.a.loop(turns - 1, lambda p, _: add_terms(s.add(p, s.index(1))) or [])
            if rest and turns:
                add_terms(s.index(turns), rest)

        collect(s.index(0), K, out, (b, i))

    low.a.nest((B, I), row)


def _side_by_side(low, rows: Stored, columns: Stored, out: Memory) -> None:
    """Some sums at a time, each along a row of both factors."""
    s, (B, I, J), K = low.s, out.shape, rows.shape[-1]
    type = out.type

    def sums(b, i, first: int, count: int) -> None:
        places = [s.add(first, s.index(u)) for u in range(count)]
        zeros = [s.const(0, type)] * count

        def turn(k, totals):
            x = s.cast(rows.element((b, i, k)), type)
            return [
                s.add(total, s.mul(x, s.cast(columns.element((b, j, k)), type)))
                for total, j in zip(totals, places, strict=True)
            ]

        def part(begin, n):
            return (
                low.a.loop(n, lambda i, totals: turn(s.add(begin, i), totals), zeros) if n > 1 else turn(begin, zeros)
            )

        def plus(some, others):
            return [s.add(x, y) for x, y in zip(some, others, strict=True)]

        if isinstance(K, Affine):
            totals = fold_long(low.a, s.index(K), lambda first, n: turn, plus, zeros)
        else:
            totals = low.a.fold(K, BLOCK, part, plus, zeros)
        for j, total in zip(places, totals, strict=True):
            out[b, i, j] = total

    def row(place):
        b, i = place
        blocks, rest = divmod(J, SUMS)
        if blocks:
            low.a.loop(blocks, lambda p, _: sums(b, i, s.mul(p, s.index(SUMS)), SUMS) or [])
        if rest:
            sums(b, i, s.index(J - rest), rest)

    low.a.nest((B, I), row)


DOT = {"dot_general": _dot_general}
