"""A program as a graph of scalars: hash-consed, constants folded, every value placed in the outermost loop it can be.

A value is a number (its place in parallel lists). Values are pure, so two values with the same operation and
arguments are one value, and a value that does not depend on a loop's counter belongs outside that loop.
Whatever is not pure (storing, looping, branching) is an item of a region, in order.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .lengths.affine import Size
from .types import Type

COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor", "eq", "ne", "max", "min"})


LATENCY = {"add": 4, "sub": 4, "mul": 4, "fma": 4, "div": 13, "sqrt": 18, "load": 5, "lt": 3, "le": 3, "eq": 3}
"""Cycles until a result is there, roughly, on today's processors; one for all others."""


class Region:
    """A straight sequence of values and items: the function's body, a loop's body, or a branch."""

    def __init__(self, parent: "Region | None", pinned: bool):
        self.parent = parent
        self.depth = 0 if parent is None else parent.depth + 1
        self.items: list = []
        self.table: dict = {}
        # Values made inside a branch stay there: outside they would be computed whether or not it is taken.
        self.pin: Region | None = self if pinned else (parent.pin if parent else None)


@dataclass(eq=False)
class Buffer:
    """Memory for an array that is written once, by the items of the region that it belongs to, before it is read."""

    index: int
    type: Type
    size: Size
    region: Region
    kind: str
    """input, output, workspace, constant, or alias"""
    data: np.ndarray | None = None
    alias_of: "Buffer | None" = None
    """The memory that this is another name of: the same places, at another time."""
    reusable: bool = False
    """Whether an array that nothing needs any more may be overwritten here by the one that is made of it."""


def root(buffer: Buffer) -> Buffer:
    """The memory behind a buffer that is another name of it."""
    while buffer.alias_of is not None:
        buffer = buffer.alias_of
    return buffer


@dataclass(eq=False)
class Store:
    buffer: Buffer
    place: int
    value: int


@dataclass(eq=False)
class Loop:
    """carries: (value inside, initial value, next value) each; there are `trip` turns (a value), at least one, or `test`
    says whether to go on."""

    body: Region
    counter: int | None
    trip: int | None
    carries: list[tuple[int, int, int]] = field(default_factory=list)
    test_region: Region | None = None
    test: int | None = None
    results: list[int] = field(default_factory=list)
    """Values, in the region of the loop, that hold the carries after it."""


@dataclass(eq=False)
class Branch:
    selector: int
    regions: list[Region]
    outputs: list[list[int]]
    results: list[int]


class Graph:
    def __init__(self) -> None:
        self.ops: list[str] = []
        self.args: list[tuple] = []
        self.types: list[Type] = []
        self.regions: list[Region] = []
        self.arrival: list[int] = []
        """When a value is known, in cycles since its region was entered, if nothing else had to be done."""
        self.constants: dict[int, np.generic] = {}
        self.top = Region(None, pinned=False)
        self.current: Region = self.top
        self.buffers: list[Buffer] = []
        self.lengths: Buffer | None = None
        """The input with the lengths on which sizes depend."""
        self._constant_ids: dict = {}
        self._known_numbers: dict = {}

    def copy(self) -> "Graph":
        """A copy of all values, in the same regions."""
        other = Graph()
        other.ops, other.args, other.types = list(self.ops), list(self.args), list(self.types)
        other.regions, other.arrival, other.constants = list(self.regions), list(self.arrival), dict(self.constants)
        other.top = other.current = self.top
        other.buffers, other._constant_ids = list(self.buffers), dict(self._constant_ids)
        other.lengths = self.lengths
        return other

    # Making values

    def constant(self, value, type: Type) -> int:
        if isinstance(value, np.ndarray):
            value = value[()]
        # Zeros have signs, which comparing does not see; and what is not a number equals nothing.
        found = self._known_numbers.get((type.name, value)) if value else None
        if found is not None:
            return found
        scalar = type.dtype.type(value)
        key = (type.name, scalar.tobytes())
        found = self._constant_ids.get(key)
        if found is None:
            found = self._new("const", (), type, self.top, listed=False)
            self.constants[found] = scalar
            self._constant_ids[key] = found
        if value:
            self._known_numbers[type.name, value] = found
        return found

    def is_constant(self, value: int) -> bool:
        return value in self.constants

    def value(self, op: str, args: tuple[int, ...], type: Type, extra: tuple = ()) -> int:
        """The value of a pure operation; `extra` are static parameters and buffers."""
        if op in COMMUTATIVE and args[0] > args[1]:
            args = (args[1], args[0])
        regions = self.regions
        home = self.top
        for a in args:
            if regions[a].depth > home.depth:
                home = regions[a]
        for e in extra:
            if isinstance(e, Buffer) and e.region.depth > home.depth:
                home = e.region
        key = (op, args, type.name, *(e.index if isinstance(e, Buffer) else e for e in extra))
        found = home.table.get(key)
        if found is not None:
            return found
        pin = self.current.pin
        if pin is not None and pin.depth > home.depth:
            region = pin
            while region is not home:
                found = region.table.get(key)
                if found is not None:
                    return found
                region = region.parent
            home = pin
        new = self._new(op, args + extra if extra else args, type, home)
        home.table[key] = new
        return new

    def remembered(self, key: tuple) -> Any:
        """What `remember` was told under this key here or in a region around."""
        region = self.current.pin or self.top
        while region is not None:
            if (found := region.table.get(key)) is not None:
                return found
            region = region.parent
        return None

    def remember(self, key: tuple, made: Any) -> None:
        """What was made in a branch is known there and in branches inside it; all else is known everywhere."""
        (self.current.pin or self.top).table[key] = made

    def fresh(self, op: str, type: Type, region: Region, listed: bool = False) -> int:
        """A value that equals no other: a loop's counter or carry, a branch's result."""
        return self._new(op, (), type, region, listed)

    def _new(self, op: str, args: tuple, type: Type, region: Region, listed: bool = True) -> int:
        new = len(self.ops)
        args = tuple(int(a) if isinstance(a, np.integer) else a for a in args)
        self.ops.append(op)
        self.args.append(args)
        self.types.append(type)
        self.regions.append(region)
        arrival = 0
        for a in args:
            if isinstance(a, int) and self.regions[a] is region and self.arrival[a] > arrival:
                arrival = self.arrival[a]
        self.arrival.append(arrival + LATENCY.get(op, 1) if args else 0)
        if listed:
            region.items.append(new)
        return new

    # Memory

    def buffer(
        self, type: Type, size: Size, kind: str = "workspace", data: np.ndarray | None = None, region=None
    ) -> Buffer:
        buffer = Buffer(len(self.buffers), type, size, region or self.current, kind, data)
        self.buffers.append(buffer)
        return buffer

    def reusable_buffer(self, type: Type, size: Size) -> Buffer:
        """Memory of one array alone, which later versions of it may overwrite."""
        buffer = self.buffer(type, size)
        buffer.reusable = True
        return buffer

    def alias(self, buffer: Buffer, region: Region) -> Buffer:
        """Memory whose contents change, as it is in `region`."""
        other = self.buffer(buffer.type, buffer.size, "alias", region=region)
        other.alias_of = buffer
        return other

    def load(self, buffer: Buffer, place: int) -> int:
        if buffer.kind == "constant" and self.is_constant(place):
            return self.constant(buffer.data[int(self.constants[place])], buffer.type)
        return self.value("load", (place,), buffer.type, (buffer,))

    def read_now(self, buffer: Buffer, place: int) -> int:
        """What is in memory at this moment, for memory that is still being written."""
        return self._new("load", (place, buffer), buffer.type, self.current)

    def store(self, buffer: Buffer, place: int, value: int) -> None:
        self.current.items.append(Store(buffer, place, value))

    # Regions

    def enter(self, pinned: bool = False) -> Region:
        self.current = Region(self.current, pinned)
        return self.current

    def leave(self) -> None:
        assert self.current.parent is not None
        self.current = self.current.parent
