"""Arrays of many rows: computed in loops over the rows, several arrays in one loop, and kept column by column.

A loop over rows stays open while what follows does the same to every row: all of that goes into it, as numbers. Only
what something else reads, in another order or later, is written to memory: a column, one number of every row, at a time.
So numbers that are the same in all rows, zeros above all, stay known, and what nothing reads is never written.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .graph import Buffer, Loop, Region, Store, is_within
from .types import INDEX, Type

if TYPE_CHECKING:
    from .arrays import Arrays, Stored

MANY = 16
"""Arrays with as many numbers along an axis are computed in loops."""
WIDE = 64
"""Rows of more numbers than this are computed in loops themselves."""


def is_long(shape: tuple[int, ...]) -> bool:
    return any(n >= MANY for n in shape)


def has_rows(shape: tuple[int, ...]) -> bool:
    """Whether an array of this shape is computed row by row, each row number by number."""
    return len(shape) > 0 and shape[0] > 1 and _is_narrow(shape[1:])


def _is_narrow(shape: tuple[int, ...]) -> bool:
    return not is_long(shape) and int(np.prod(shape, dtype=np.int64)) <= WIDE


def narrow_axes(shape: tuple[int, ...]) -> int:
    """How many of the last axes are written out where all numbers of an array are computed."""
    axes = 0
    while axes < len(shape) and _is_narrow(shape[len(shape) - axes - 1 :]):
        axes += 1
    return axes


@dataclass(eq=False)
class RowLoop(Loop):
    """A loop over rows, or over groups of as many rows each."""

    index: int = -1
    """The row, or the group, in which it is."""
    reverse: bool | None = None
    """From the last row to the first; None while both will do."""
    columns: dict[tuple[int, ...], Buffer] = field(default_factory=dict)
    """Memory of what has been read from outside, by the values of a group."""


@dataclass(eq=False)
class Rows:
    """What a loop over rows computes in each turn: values inside the loop, from outside memory."""

    shape: tuple[int, ...]
    type: Type
    loop: RowLoop
    ids: np.ndarray
    """The values of a turn: of each row of a group, of each number of a row."""
    lead: int
    """How many of the first axes count rows: one, or groups and the rows of a group."""
    arrays: "Arrays"
    in_order: list["Stored"] = field(default_factory=list)
    """The same as one array in memory, where that has been needed."""

    @property
    def aligned(self) -> bool:
        """Whether a turn of the loop computes what is at one place along the first axis."""
        return self.shape[0] == self.loop.trip

    def reshaped(self, shape: tuple[int, ...]) -> "Rows | None":
        """The same with other axes that count rows, if that is all that a shape changes."""
        rest = self.shape[self.lead :]
        lead = len(shape) - len(rest)
        if lead < 1 or shape[lead:] != rest:
            return None
        return Rows(shape, self.type, self.loop, self.ids, lead, self.arrays)

    def element(self, indices: tuple[int, ...]) -> int:
        constants, (lead, rest) = self.arrays.g.constants, (indices[: self.lead], indices[self.lead :])
        if not all(i in constants for i in rest):
            return self.arrays.stored(self).element(indices)
        values = self.ids[(slice(None), *(int(constants[i]) for i in rest))]
        if self.aligned and lead[0] == self.loop.index:
            within = tuple(int(constants[i]) for i in lead[1:])
            return int(values.reshape(self.shape[1 : self.lead])[within])
        return self._outside(lead, tuple(values.tolist()))

    def _outside(self, lead: tuple[int, ...], values: tuple[int, ...]) -> int:
        """One number of some row, when the loop is over."""
        from .arrays import flat_index

        g, s = self.arrays.g, self.arrays.s
        g.place(self.loop)
        if len(set(values)) == 1 and not is_within(g.regions[values[0]], self.loop.body):
            return values[0]
        column = self.loop.columns.get(values)
        if column is None:
            home = self.loop.body.parent
            column = g.buffer(self.type, len(values) * (self.loop.trip or 0), region=home)
            self.loop.columns[values] = column
            with g.inside(self.loop.body):
                for k, value in enumerate(values):
                    place = s.add(s.mul(self.loop.index, s.index(len(values))), s.index(k))
                    self.loop.body.items.append(Store(column, place, value))
        return g.load(column, flat_index(s, self.shape[: self.lead], lead))


@dataclass(eq=False)
class Columns:
    """Rows in memory: each column is memory of its own, or one value for all rows."""

    shape: tuple[int, ...]
    type: Type
    columns: np.ndarray
    """Of each number of a row, a buffer or a value."""
    arrays: "Arrays"
    in_order: list["Stored"] = field(default_factory=list)

    def element(self, indices: tuple[int, ...]) -> int:
        constants, (row, *rest) = self.arrays.g.constants, indices
        if not all(i in constants for i in rest):
            return self.arrays.stored(self).element(indices)
        column = self.columns[tuple(int(constants[i]) for i in rest)]
        return self.arrays.g.load(column, row) if isinstance(column, Buffer) else column


class RowLoops:
    """The loops over rows that are open, and arrays that they compute."""

    def __init__(self, arrays: "Arrays"):
        self.arrays, self.g, self.s = arrays, arrays.g, arrays.s

    def loop(self, turns: int, reverse: bool | None = None) -> RowLoop:
        """The open loop of so many turns, here and in this direction; a new one if there is none."""
        for loop in self.g.current.open:
            if isinstance(loop, RowLoop) and loop.trip == turns:
                if reverse is None or loop.reverse in (None, reverse):
                    break
                self.g.place(loop)
        else:
            body = Region(self.g.current, pinned=False)
            counter = self.g.fresh("counter", INDEX, body)
            index = self.g.fresh("add", INDEX, body, listed=True)
            loop = RowLoop(body, counter, turns, index=index)
            self.g.args[index] = (counter, self.s.index(0))
            self.g.current.open.append(loop)
        if reverse and not loop.reverse:
            self.g.ops[loop.index], self.g.args[loop.index] = "sub", (self.s.index(turns - 1), loop.counter)
        if reverse is not None:
            loop.reverse = reverse
        return loop
