"""Which freedoms an impulse between two bodies moves: those between the bodies and the roots of their trees."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import equinox as eqx
import numpy as np

from ..model import Topology
from ..spatial import Array, row
from .layout import layout

FULL = 0.6
"""Paths that hold at least this part of all freedoms are written out over all of them: then places are constants."""
FEW = 8
"""As they are where a forest has no more freedoms than this."""


class Path(eqx.Module):
    """The freedoms of one path, from the leaves to the roots, and which of the two bodies each of them moves.

    Short paths are filled up with freedoms that move neither.
    """

    dofs: Any
    """Places of the path among the coordinates that the rows of `Root.path_rows` have; NumPy's where all paths share them."""
    on_a: Array
    on_b: Array | None
    """None where no path has a second body."""


@dataclass(frozen=True, eq=False)
class Paths:
    """One path for each of many rows; equal ones are kept once."""

    dofs: np.ndarray
    """(paths, length)"""
    on_a: np.ndarray
    on_b: np.ndarray | None
    which: np.ndarray
    """Of each row, its path."""
    touched: np.ndarray
    """[i, j]: whether some path has the freedoms i and j."""

    @property
    def length(self) -> int:
        return self.dofs.shape[1]

    def of(self, place) -> Path:
        """The path of a row."""
        same = bool(np.all(self.dofs == self.dofs[:1]))
        if len(self.dofs) == 1:
            return Path(self.dofs[0], self.on_a[0], None if self.on_b is None else self.on_b[0])
        path = row(self.which, place)
        dofs = self.dofs[0] if same else row(self.dofs, path)
        return Path(dofs, row(self.on_a, path), None if self.on_b is None else row(self.on_b, path))


@lru_cache(maxsize=64)
def paths(topology: Topology, ends: tuple[tuple[int, int], ...]) -> Paths:
    """Of rows that act at two freedoms, the last ones of their bodies; -1 for the world, or for no second one."""
    above = np.tril(layout(topology).supports.T)
    count = len(above)
    # A table without rows has one path all the same, so that loops over none of it can be traced.
    kinds = {end: k for k, end in enumerate(dict.fromkeys(ends or ((-1, -1),)))}
    nothing = np.zeros(count, dtype=bool)
    on_a, on_b = (np.array([above[end[side]] if end[side] >= 0 else nothing for end in kinds]) for side in (0, 1))
    both = on_a | on_b
    length = int(both.sum(axis=1).max(initial=1))
    if topology.has_mimics:
        return _coupled(topology, on_a, on_b, np.array([kinds[end] for end in ends], dtype=np.int32))
    if count <= FEW or length >= FULL * count:
        dofs = np.tile(np.arange(count)[::-1], (len(kinds), 1))
    else:
        dofs = np.array([np.pad(np.flatnonzero(b)[::-1], (0, length - int(b.sum()))) for b in both])
    listed = np.arange(dofs.shape[1])[None] < (both.sum(axis=1)[:, None] if dofs.shape[1] < count else count)

    def masks(on: np.ndarray) -> np.ndarray:
        return (np.take_along_axis(on, dofs, axis=1) & listed).astype(float)

    touched = both.T.astype(int) @ both.astype(int) > 0
    return Paths(
        dofs.astype(np.int32),
        masks(on_a),
        masks(on_b) if np.any(on_b) else None,
        np.array([kinds[end] for end in ends], dtype=np.int32),
        touched,
    )


def _coupled(topology: Topology, on_a: np.ndarray, on_b: np.ndarray, which: np.ndarray) -> Paths:
    """Where joints are coupled, a row may move all of the model's coordinates; the masks are those of all joints."""
    own = len(topology.own_v)
    dofs = np.tile(np.arange(own, dtype=np.int32), (len(on_a), 1))
    masks = [on.astype(float) for on in (on_a, on_b)]
    everything = np.ones((own, own), dtype=bool)
    return Paths(dofs, masks[0], masks[1] if np.any(on_b) else None, which, everything)
