"""Arrays while compiling: small ones are tables of scalars, large ones are formulas or memory."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .graph import Buffer, Loop, root
from .lengths.affine import Affine, NotGeneralError, Shape, Size
from .scalars import Scalars
from .types import INDEX, Type

FROM_MEMORY = 256
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

    @property
    def shape(self) -> Shape:
        return self.ids.shape


@dataclass(eq=False)
class Lazy:
    """Entries by formula: `element(indices)` gives the value at places that are values themselves."""

    shape: Shape
    type: Type
    element: Callable[[tuple[int, ...]], int]
    cheap: bool = True
    reads: frozenset[Buffer] | None = None
    """The memory that the formula reads; None where that is not known."""


@dataclass(eq=False)
class Stored:
    """Entries in memory, in C order."""

    shape: Shape
    type: Type
    buffer: Buffer
    scalars: Scalars

    def element(self, indices: tuple[int, ...]) -> int:
        return self.scalars.g.load(self.buffer, flat_index(self.scalars, self.shape, indices))


Array = Small | Lazy | Stored


def memory_read(x: Array) -> frozenset[Buffer] | None:
    """The memory from which entries of an array may still be read; None where that is not known."""
    if isinstance(x, Small):
        return frozenset() if x.origin is None else memory_read(x.origin[0])
    return frozenset({root(x.buffer)}) if isinstance(x, Stored) else x.reads


def memories_read(arrays: Iterable[Array]) -> frozenset[Buffer] | None:
    """The same of several arrays together."""
    read = [memory_read(x) for x in arrays]
    return None if None in read else frozenset().union(*(r for r in read if r is not None))


def in_memory(x: Array) -> bool:
    """Whether this is better computed with in a loop than number by number."""
    return not isinstance(x, Small) and size_of(x.shape) > STAY


def size_of(shape: Shape) -> Any:
    """A number; where that depends on a length an `Affine`, which compares as a large one, also if another axis is empty."""
    size = math.prod(shape)
    if isinstance(size, Affine):
        return size
    return Affine(()) if any(isinstance(n, Affine) for n in shape) else int(size)


def strides_of(shape: Shape) -> list:
    """How far apart neighbours along each axis are."""
    return [size_of(tuple(max(n, 1) for n in shape[d + 1 :])) for d in range(len(shape))]


def flat_index(s: Scalars, shape: Shape, indices: tuple[int, ...]) -> int:
    total = s.index(0)
    for n, i, stride in zip(shape, indices, strides_of(shape), strict=True):
        if n > 1:
            total = s.add(total, s.mul(i, s.index(stride)))
    return total


def division(count: Size, leaf: int) -> tuple[int, int, int]:
    """(turns, size, rest): more than `leaf` terms as at most BLOCK equal blocks, which leave a rest smaller than BLOCK."""
    if isinstance(count, Affine):
        raise NotGeneralError(f"blocks of {count} terms")
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
        self.straight = False
        """Whether the program has loops written out, whose numbers then come from scalars rather than from memory."""

    @property
    def read_up_to(self) -> int:
        """Inputs and constants of up to this many numbers are read at once, into scalars."""
        return SMALL if self.straight else FROM_MEMORY

    def constant(self, value: np.ndarray, type: Type) -> Array:
        value = np.asarray(value, dtype=type.dtype)
        if value.size <= self.read_up_to:
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
            return self.stored(x).element(indices)
        return x.element(indices)

    def small(self, x: Array) -> Small:
        if isinstance(x, Small):
            return x
        ids = np.empty(x.shape, dtype=np.int64)
        for place in np.ndindex(*x.shape):
            ids[place] = x.element(tuple(self.s.index(i) for i in place))
        return Small(ids, x.type)

    def stored(self, x: Array) -> Stored:
        """In memory; written there now if it is not yet."""
        if isinstance(x, Stored):
            return x
        if isinstance(x, Small):
            return self._store_small(x)
        out = Stored(x.shape, x.type, self.g.buffer(x.type, size_of(x.shape)), self.s)
        self.fill(out.buffer, x.shape, x.element)
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
            from .graph import Store

            for i, value in enumerate(flat.tolist()):
                home.items.append(Store(buffer, self.s.index(i), value))
        return Stored(x.shape, x.type, buffer, self.s)

    def fill(
        self,
        buffer: Buffer,
        shape: Shape,
        element: Callable[[tuple[int, ...]], int],
        offset: int | None = None,
    ):
        """Write element(i, j, ...) at every place of memory."""

        def write(indices):
            place = flat_index(self.s, shape, indices)
            if offset is not None:
                place = self.s.add(place, offset)
            self.g.store(buffer, place, element(indices))

        self.nest(shape, write)

    def nest(self, shape: Shape, body: Callable[[tuple[int, ...]], None]) -> None:
        """Loops over all places of a shape; axes of length one are no loops."""
        self._nest(list(shape), (), body)

    def _nest(self, shape: list, indices: tuple[int, ...], body) -> None:
        if not shape:
            body(indices)
        elif shape[0] == 1:
            self._nest(shape[1:], (*indices, self.s.index(0)), body)
        elif shape[0] > 0:
            self.loop(shape[0], lambda i, _: self._nest(shape[1:], (*indices, i), body) or [])

    def loop(self, trip: Size, body: Callable[[int, list[int]], list[int]], initial: list[int] = []) -> list[int]:  # noqa: B006
        """for i in range(trip): carries = body(i, carries). Returns the carries after it."""
        return self.turns(self.s.index(trip), body, initial)

    def turns(self, trip: int, body: Callable[[int, list[int]], list[int]], initial: list[int]) -> list[int]:
        """As `loop`, for as many turns as a value says, at least one."""
        region = self.g.enter()
        counter = self.g.fresh("counter", INDEX, region)
        inside = [self.g.fresh("carry", self.g.types[v], region) for v in initial]
        after = body(counter, inside)
        self.g.leave()
        loop = Loop(region, counter, trip, list(zip(inside, initial, after, strict=True)))
        self.g.current.items.append(loop)
        loop.results = [self.g.fresh("result", self.g.types[v], self.g.current) for v in initial]
        return loop.results

    def fold(
        self,
        count: Size,
        leaf: Size,
        part: Callable[[int, Any], list[int]],
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
        assert isinstance(leaf, int)
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
        self.g.current.items.append(loop)
        loop.results = [self.g.fresh("result", self.g.types[v], self.g.current) for v in starts]
        return loop.results[1:]


class Memory:
    """Memory that is read and overwritten in the order of the program, for algorithms that work in place."""

    def __init__(self, arrays: Arrays, type: Type, shape: Shape):
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
