"""A log as it stands in its file: named columns of numbers, before anything is known about joints."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from .notes import Notes


@dataclass
class Table:
    """What every reader of a format returns."""

    path: str
    names: list[str]
    data: Float[np.ndarray, "rows columns"]
    """NaN where a cell is empty, missing or not a number."""
    row: Int[np.ndarray, " rows"]
    """Of each row, its place in the file as messages name it: a line of text, else counted from 0."""
    notes: Notes
    units: dict[int, str] = field(default_factory=dict)
    """Of columns, where the file has them apart from the name."""
    text: dict[int, tuple[int, int, str]] = field(default_factory=dict)
    """Of columns with cells that are neither numbers nor words for "missing": how many, row and text of the first."""
    dates: set[int] = field(default_factory=set)
    """Columns whose cells are dates; their numbers are seconds."""
    origin: dict[int, float] = field(default_factory=dict)
    """Of columns of large whole numbers, what was subtracted, so that stamps in nanoseconds stay exact."""
    what: str = "row"
    """What `row` counts."""

    def column(self, name: str) -> int:
        return self.names.index(name)


def exact(values: np.ndarray) -> tuple[np.ndarray, float]:
    """An array as float64, and what had to be subtracted so that no digit is lost (0 for most)."""
    if values.dtype.kind in "iu" and len(values):
        first = values[0].item()
        if max(abs(first), abs(values.max().item()), abs(values.min().item())) >= 2**53:
            wide = values.astype(object) - first if values.dtype == np.uint64 else values - values.dtype.type(first)
            return wide.astype(float), float(first)
    return values.astype(float), 0.0
