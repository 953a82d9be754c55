"""Arrays while compiling: small ones are tables of scalars, large ones are formulas, rows or memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from .graph import Buffer, Loop, Region, Store, is_within, root
from .rows import Columns, RowLoop, RowLoops, Rows, has_rows, is_long, narrow_axes
from .scalars import Scalars
from .types import INDEX, Type

FROM_MEMORY = 576
"""What comes out of memory becomes scalars only up to this many numbers."""
SMALL = 2048
"""Arrays with more numbers than this stay in memory."""
STAY = 64
"""Arrays that are computed in memory stay there if they have more numbers than this."""
BLOCK = 16
"""How many parts long folds are made of, and these again."""


@dataclass(eq=False)
class Small:
    """Every entry is a value of its own."""

    ids: np.ndarray
    type: Type
    origin: "tuple[Array, Callable[[tuple[int, ...]], tuple[int, ...]]] | None" = None
    """Where the entries are repeated: the array without repetition, and from which of its places each comes."""
    columns: dict[tuple[int, ...], Buffer] = field(default_factory=dict)
    """Memory of one number of every row, by its place in a row."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.ids.shape


@dataclass(eq=False)
class Lazy:
    """Entries by formula: `element(indices)` gives the value at places that are values themselves."""

    shape: tuple[int, ...]
    type: Type
    element: Callable[[tuple[int, ...]], int]
    cheap: bool = True
    reads: frozenset[Buffer] | None = None
    """The memory that the formula reads; None where that is not known."""
    loops: frozenset[RowLoop] = frozenset()
    """The loops over rows that compute what the formula reads."""
    aligned: bool = True
    """Whether what is at a place along the first axis needs of them, while they are open, no other turn than that."""


@dataclass(eq=False)
class Stored:
    """Entries in memory, in C order."""

    shape: tuple[int, ...]
    type: Type
    buffer: Buffer
    scalars: Scalars

    def element(self, indices: tuple[int, ...]) -> int:
        g = self.scalars.g
        if self.buffer.data is not None and all(i in g.constants for i in indices[1:]):
            # A table of constants, of which all rows may be alike in this number.
            rest = (int(g.constants[i]) for i in indices[1:])
            column = self.buffer.data.reshape(self.shape)[(slice(None), *rest)]
            if column.tobytes() == column[:1].tobytes() * len(column):
                return g.constant(column[0], self.type)
        return g.load(self.buffer, flat_index(self.scalars, self.shape, indices))


Array = Small | Lazy | Stored | Rows | Columns


def memory_read(x: Array) -> frozenset[Buffer] | None:
    """The memory from which entries of an array may still be read; None where that is not known."""
    if isinstance(x, Small):
        return frozenset() if x.origin is None else memory_read(x.origin[0])
    if isinstance(x, (Rows, Columns)):  # memory of their own
        return frozenset()
    return frozenset({root(x.buffer)}) if isinstance(x, Stored) else x.reads


def in_memory(x: Array) -> bool:
    """Whether this is better computed with in a loop than number by number."""
    return not isinstance(x, Small) and (size_of(x.shape) > STAY or is_long(x.shape))


def is_known(s: Scalars, x: Array) -> bool:
    """Whether all entries are constants."""
    return isinstance(x, Small) and all(i in s.g.constants for i in x.ids.ravel().tolist())


def is_cheap(x: Array) -> bool:
    """Whether reading an entry computes nothing."""
    return x.cheap if isinstance(x, Lazy) else True


def loops_of(x: Array) -> frozenset[RowLoop]:
    """The loops over rows that compute an array, or what its formula reads."""
    if isinstance(x, Rows):
        return frozenset({x.loop})
    return x.loops if isinstance(x, Lazy) else frozenset()


def is_aligned(x: Array) -> bool:
    """Whether a loop over the rows of this array may be the one that computes it."""
    return x.aligned if isinstance(x, (Rows, Lazy)) else True


def size_of(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def flat_index(s: Scalars, shape: tuple[int, ...], indices: tuple[int, ...]) -> int:
    total = s.index(0)
    stride = size_of(shape)
    for n, i in zip(shape, indices, strict=True):
        stride //= max(n, 1)
        if n > 1:
            total = s.add(total, s.mul(i, s.index(stride)))
    return total


def division(count: int, leaf: int) -> tuple[int, int, int]:
    """(turns, size, rest): more than `leaf` terms as at most BLOCK equal blocks, which leave a rest smaller than BLOCK."""
    largest = leaf
    while largest * BLOCK < count:
        largest *= BLOCK
    turns = -(-count // largest)
    return turns, *divmod(count, turns)


class Arrays:
    """Moving arrays between their representations."""

    def __init__(self, scalars: Scalars):
        self.s = scalars
        self.g = scalars.g
        self.rows = RowLoops(self)

    def constant(self, value: np.ndarray, type: Type) -> Array:
        value = np.asarray(value, dtype=type.dtype)
        if value.size <= FROM_MEMORY:
            flat = value.ravel()
            ids = np.fromiter((self.g.constant(x, type) for x in flat), dtype=np.int64, count=flat.size)
            return Small(ids.reshape(value.shape), type)
        buffer = self.g.buffer(type, value.size, "constant", np.ascontiguousarray(value).ravel(), region=self.g.top)
        return Stored(value.shape, type, buffer, self.s)

    def at(self, x: Array, indices: tuple[int, ...]) -> int:
        """The entry at indices that are values."""
        if isinstance(x, Small):
            constants = self.g.constants
            if all(i in constants for i in indices):
                return int(x.ids[tuple(int(constants[i]) for i in indices)])
            if x.ids.size and (x.ids == x.ids.flat[0]).all():
                return int(x.ids.flat[0])
            if x.origin is not None:
                return self.at(x.origin[0], x.origin[1](indices))
            if indices[0] not in constants and all(i in constants for i in indices[1:]):
                return self._in_some_row(x, indices[0], tuple(int(constants[i]) for i in indices[1:]))
            return self.stored(x).element(indices)
        return x.element(indices)

    def _in_some_row(self, x: Small, row: int, rest: tuple[int, ...]) -> int:
        """One number of a row that is not known."""
        column = x.ids[(slice(None), *rest)]
        if (column == column[0]).all():
            return int(column[0])
        if rest not in x.columns:
            x.columns[rest] = self._store_small(Small(column, x.type)).buffer
        return self.g.load(x.columns[rest], row)

    def settle(self, x: Array) -> None:
        """End the loops over rows that compute an array: it is needed in another order."""
        for loop in loops_of(x):
            self.g.place(loop)

    def ready(self, x: Array) -> Array:
        """An array that is computed by now, because what follows reads it more than once."""
        if not isinstance(x, Lazy) or x.cheap:
            return x
        return self.by_rows(x) if has_rows(x.shape) else self.stored(x)

    def in_any_order(self, x: Array) -> Array:
        """An array of which anything may be read at any time."""
        if isinstance(x, (Rows, Columns)):
            return self.stored(x)
        self.settle(x)
        return x

    def by_rows(self, x: Array) -> Array:
        """An array that is computed now, in a loop over rows, if it is a formula that is."""
        if not isinstance(x, Lazy):
            return x
        return self.in_rows(x.shape[0], x.type, (x,), lambda row: self.row_of(x, row))

    def in_rows(self, rows: int, type: Type, inputs: Sequence[Array], compute: Callable[[int], np.ndarray]) -> Rows:
        """compute(row), the values of a row, for all rows; of the inputs it needs at most the same row."""
        for x in inputs:
            if not is_aligned(x) or x.shape[:1] != (rows,):
                self.settle(x)
        loop = self.rows.loop(rows)
        with self.g.inside(loop.body):
            ids = compute(loop.index)
        return Rows((rows, *ids.shape), type, loop, ids[None], 1, self)

    def is_zero(self, x: Array) -> bool:
        """Whether it is known that all entries are zero."""
        constants = self.g.constants
        if isinstance(x, Small):
            return all(constants.get(i) == 0 for i in x.ids.ravel().tolist())
        if not has_rows(x.shape) or not is_cheap(x):
            return False
        self.settle(x)
        somewhere = self.g.fresh("counter", INDEX, Region(self.g.current, pinned=False))
        return all(constants.get(i) == 0 for i in self.row_of(x, somewhere).ravel().tolist())

    def moved(self, shape: tuple[int, ...], x: Array, sources: np.ndarray) -> Lazy:
        """Rows of x in another order: of each row the row that it comes from, or -1 where it is zero."""
        self.settle(x)
        table = self.constant(sources, INDEX)
        zero = self.s.const(0, x.type)

        def element(indices):
            source = self.at(table, indices[:1])
            value = self.at(x, (self.s.clamp_index(source, 0, max(x.shape[0] - 1, 0)), *indices[1:]))
            return value if (sources >= 0).all() else self.s.select(self.s.compare("lt", source, self.s.index(0)), zero, value)

        return Lazy(shape, x.type, element, cheap=False, reads=memory_read(x))

    def joined(self, shape: tuple[int, ...], xs: Sequence[Array]) -> Columns:
        """Arrays of rows, one below the other."""
        type, offset = xs[0].type, 0
        columns = np.empty(shape[1:], dtype=object)
        pieces = []
        for x in xs:
            if isinstance(x, Small) or x.shape[0] == 1:
                pieces.append((offset, None, self.small(x).ids))
            elif x.shape[0]:
                rows = self.in_rows(x.shape[0], type, (x,), lambda row, x=x: self.row_of(x, row))
                pieces.append((offset, rows.loop, rows.ids))
            offset += x.shape[0]
        for rest in np.ndindex(*shape[1:]):
            parts = [(offset, loop, ids[(slice(None), *rest)].tolist()) for offset, loop, ids in pieces]
            values = {value for _, _, ids in parts for value in ids}
            home = self.g.current
            if len(values) == 1 and all(is_within(home, self.g.regions[v]) for v in values):
                columns[rest] = values.pop()
                continue
            columns[rest] = column = self.g.buffer(type, offset)
            for first, loop, ids in parts:
                for k, value in enumerate(ids):
                    place = self.s.index(first + k)
                    if loop is None:
                        home.items.append(Store(column, place, value))
                        continue
                    with self.g.inside(loop.body):
                        self.g.store(column, self.s.add(place, loop.index), value)
        self.g.close(self.g.current)
        return Columns(shape, type, columns, self)

    def row_of(self, x: Array, row: int) -> np.ndarray:
        """The values of one row."""
        ids = np.empty(x.shape[1:], dtype=np.int64)
        for place in np.ndindex(*x.shape[1:]):
            ids[place] = self.at(x, (row, *(self.s.index(i) for i in place)))
        return ids

    def small(self, x: Array) -> Small:
        if isinstance(x, Small):
            return x
        ids = np.empty(x.shape, dtype=np.int64)
        for place in np.ndindex(*x.shape):
            ids[place] = x.element(tuple(self.s.index(i) for i in place))
        return Small(ids, x.type)

    def stored(self, x: Array) -> Stored:
        """In memory, in C order; written there now if it is not yet."""
        if isinstance(x, Stored):
            return x
        if isinstance(x, Small):
            return self._store_small(x)
        if isinstance(x, (Rows, Columns)):
            for found in x.in_order:
                if is_within(self.g.current, found.buffer.region):
                    return found
        out = Stored(x.shape, x.type, self.g.buffer(x.type, size_of(x.shape)), self.s)
        self.copy(out.buffer, x)
        self.g.close(self.g.current)
        if isinstance(x, (Rows, Columns)):
            x.in_order.append(out)
        return out

    def _store_small(self, x: Small) -> Stored:
        flat = x.ids.ravel()
        if all(int(i) in self.g.constants for i in flat):
            data = np.array([self.g.constants[int(i)] for i in flat], dtype=x.type.dtype)
            return Stored(
                x.shape, x.type, self.g.buffer(x.type, flat.size, "constant", data, region=self.g.top), self.s
            )
        # The memory belongs where all entries are known, which may be outside the present loop.
        home = max((self.g.regions[int(i)] for i in flat), key=lambda r: r.depth)
        pin = self.g.current.pin
        if pin is not None and pin.depth > home.depth:
            home = pin
        key = ("stored", *flat.tolist())
        buffer = home.table.get(key)
        if buffer is None:
            buffer = self.g.buffer(x.type, flat.size, region=home)
            home.table[key] = buffer
            for i, value in enumerate(flat.tolist()):
                home.items.append(Store(buffer, self.s.index(i), value))
        return Stored(x.shape, x.type, buffer, self.s)

    def fill(
        self,
        buffer: Buffer,
        shape: tuple[int, ...],
        element: Callable[[tuple[int, ...]], int],
        offset: int | None = None,
    ):
        """Write element(i, j, ...) at every place of memory."""
        self.each_place(shape, lambda indices: self._write(buffer, shape, indices, element(indices), offset))

    def _write(self, buffer: Buffer, shape: tuple[int, ...], indices: tuple[int, ...], value: int, offset: int | None):
        place = flat_index(self.s, shape, indices)
        self.g.store(buffer, place if offset is None else self.s.add(place, offset), value)

    def copy(self, buffer: Buffer, x: Array, offset: int | None = None) -> None:
        """Write an array into memory that nothing reads before the present region is left."""
        if isinstance(x, Small):
            for i, value in enumerate(x.ids.ravel().tolist()):
                self.g.store(buffer, self.s.index(i) if offset is None else self.s.add(offset, self.s.index(i)), value)
            return
        if not has_rows(x.shape) or not is_aligned(x):
            self.settle(x)
        if not has_rows(x.shape):
            self.fill(buffer, x.shape, x.element, offset)
            return
        loop = self.rows.loop(x.shape[0])
        with self.g.inside(loop.body):
            for rest in np.ndindex(*x.shape[1:]):
                indices = (loop.index, *(self.s.index(i) for i in rest))
                self._write(buffer, x.shape, indices, x.element(indices), offset)

    def each_place(self, shape: tuple[int, ...], body: Callable[[tuple[int, ...]], None]) -> None:
        """body(indices) for all places of a shape: loops over the first axes, short last ones written out."""
        looped = len(shape) - narrow_axes(shape)

        def write_out(indices: tuple[int, ...]) -> None:
            for rest in np.ndindex(*shape[looped:]):
                body((*indices, *(self.s.index(i) for i in rest)))

        self.nest(shape[:looped], write_out)

    def nest(self, shape: tuple[int, ...], body: Callable[[tuple[int, ...]], None]) -> None:
        """Loops over all places of a shape; axes of length one are no loops."""
        self._nest(list(shape), (), body)

    def _nest(self, shape: list[int], indices: tuple[int, ...], body) -> None:
        if not shape:
            body(indices)
        elif shape[0] == 1:
            self._nest(shape[1:], (*indices, self.s.index(0)), body)
        elif shape[0] > 0:
            self.loop(shape[0], lambda i, _: self._nest(shape[1:], (*indices, i), body) or [])

    def loop(self, trip: int, body: Callable[[int, list[int]], list[int]], initial: list[int] = []) -> list[int]:  # noqa: B006
        """for i in range(trip): carries = body(i, carries). Returns the carries after it."""
        region = self.g.enter()
        counter = self.g.fresh("counter", INDEX, region)
        inside = [self.g.fresh("carry", self.g.types[v], region) for v in initial]
        after = body(counter, inside)
        self.g.leave()
        loop = Loop(region, counter, trip, list(zip(inside, initial, after, strict=True)))
        self.g.append(loop)
        loop.results = [self.g.fresh("result", self.g.types[v], self.g.current) for v in initial]
        return loop.results

    def fold(
        self,
        count: int,
        leaf: int,
        part: Callable[[int, int], list[int]],
        combine: Callable[[list[int], list[int]], list[int]],
        start: list[int],
        first: int | None = None,
    ) -> list[int]:
        """part(first, n), a fold of n <= leaf terms, for all parts of `count` terms, combined.

        Parts are put together in blocks, these in larger blocks and so on: a sum has an error like the logarithm of
        the number of its terms (Higham 1993, "The accuracy of floating point summation").
        """
        first = self.s.index(0) if first is None else first
        if count <= leaf:
            return part(first, count)
        turns, size, rest = division(count, leaf)

        def block(i: int) -> list[int]:
            begin = self.s.add(first, self.s.mul(i, self.s.index(size)))
            return self.fold(size, leaf, part, combine, start, begin)

        total = self.loop(turns, lambda i, c: combine(c, block(i)), start)
        return combine(total, part(self.s.add(first, self.s.index(turns * size)), rest)) if rest else total

    def loop_between(
        self,
        begin: int,
        end: int,
        body: Callable[[int, list[int]], list[int]],
        initial: list[int] = [],  # noqa: B006
    ) -> list[int]:
        """As `loop`, for i from `begin` up to `end`, which are values; there may be no turn at all."""
        test_region = self.g.enter()
        starts = [begin, *initial]
        inside = [self.g.fresh("carry", self.g.types[v], test_region) for v in starts]
        test = self.s.compare("lt", inside[0], end)
        # What the body computes is not moved out of it: outside it would be computed even if there is no turn.
        region = self.g.enter(pinned=True)
        after = [self.s.add(inside[0], self.s.index(1)), *body(inside[0], inside[1:])]
        self.g.leave()
        self.g.leave()
        loop = Loop(region, None, None, list(zip(inside, starts, after, strict=True)), test_region, test)
        self.g.append(loop)
        loop.results = [self.g.fresh("result", self.g.types[v], self.g.current) for v in starts]
        return loop.results[1:]


class Memory:
    """Memory that is read and overwritten in the order of the program, for algorithms that work in place."""

    def __init__(self, arrays: Arrays, type: Type, shape: tuple[int, ...]):
        self.g, self.s = arrays.g, arrays.s
        self.shape = shape
        self.type = type
        self.buffer = self.g.buffer(type, size_of(shape))

    def __getitem__(self, indices: tuple[int, ...]) -> int:
        return self.g.read_now(self.buffer, flat_index(self.s, self.shape, indices))

    def __setitem__(self, indices: tuple[int, ...], value: int) -> None:
        self.g.store(self.buffer, flat_index(self.s, self.shape, indices), value)

    def array(self) -> Stored:
        """As an array: nothing is written any more."""
        return Stored(self.shape, self.type, self.buffer, self.s)
