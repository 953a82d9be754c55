"""Where the numbers of one path lie in a model or its apparatus, what they may be, and how they are changed."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..spatial import Array
from .apparatus import Setup
from .changes import THEMSELVES, Change, Turn

XYZ = (".x", ".y", ".z")


@dataclass(frozen=True)
class Place:
    """Where numbers of one entity lie."""

    path: str
    owner: str
    """"model", "model.links", "apparatus", ..."""
    field: str
    """The name of the array; of one in a tuple with its place, such as "points.3"."""
    index: tuple[int, ...]
    """Places in the flattened array."""
    unit: str
    kind: Literal["any", "not negative", "positive"] = "any"
    """What it may be. The natural scale of what has to be positive is its logarithm."""
    labels: tuple[str, ...] = ("",)
    """Of several numbers, such as ".x", ".y", ".z"."""
    change: Change = THEMSELVES
    """How the path's own numbers become those of `index`."""
    lower: float = -np.inf
    upper: float = np.inf
    """Bounds that physics sets, such as 0 and 1 of a restitution; `kind` sets a lower one too."""

    @property
    def size(self) -> int:
        """How many numbers it has of its own."""
        return self.change.size(len(self.index))

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which its own numbers make sense."""
        return self.lower if self.kind == "any" else max(self.lower, 0.0), self.upper

    def leaf(self, setup: Setup) -> Array:
        """The array in which they lie."""
        found: Any = setup
        for name in self._way:
            found = found[int(name)] if name.isdigit() else getattr(found, name)
        return found

    def with_leaf(self, setup: Setup, array: Array) -> Setup:
        """The setup with another array in its place."""
        return _with(setup, self._way, array)

    @property
    def _way(self) -> list[str]:
        return [*self.owner.split("."), *self.field.split(".")]

    def numbers(self, setup: Setup) -> np.ndarray:
        """What lies at `index`."""
        return np.asarray(self.leaf(setup), dtype=float).ravel()[list(self.index)]

    def value(self, setup: Setup) -> np.ndarray:
        """Its own numbers."""
        return self.change.start(self.numbers(setup))

    def parts(self) -> list["Place"]:
        """Single numbers of several, such as "link/x/com.z"."""
        if len(self.labels) == 1:
            return []
        parts = [self.change.part(k, self.index) for k in range(len(self.labels))]
        return [
            replace(self, path=self.path + label, change=change, index=index, labels=("",))
            for label, (change, index) in zip(self.labels, parts, strict=True)
        ]

    def freedoms(self) -> list[tuple]:
        """What no other path may change at the same time: numbers of an array, or axes about which something turns."""
        if isinstance(self.change, Turn):
            return [(self.owner, self.field, self.index, axis) for axis in self.change.axes]
        return [(self.owner, self.field, i) for i in self.index]


def _with(owner: Any, way: list[str], array: Array) -> Any:
    first, *rest = way
    if first.isdigit():
        i = int(first)
        return (*owner[:i], _with(owner[i], rest, array) if rest else array, *owner[i + 1 :])
    return replace(owner, **{first: _with(getattr(owner, first), rest, array) if rest else array})


def row(i: int, width: int) -> tuple[int, ...]:
    """Places of a row of a table."""
    return tuple(range(width * i, width * (i + 1)))
