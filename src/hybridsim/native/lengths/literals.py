"""Numbers in a program's text that depend on the length of a loop: the last index of an array, the count of a mean.

Only numbers at places where a count or an index is likely are compared with the sizes of long axes. As with labels, one
that is taken for such a number by mistake is written correctly all the same.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from jax.extend import core as jcore

from ..rules.calls import CALLED
from ..rules.elementwise import ELEMENTWISE
from .affine import Affine, Count, Integer, NotGeneralError, Size
from .labels import Labels, Places

_COMPARED = frozenset(("add", "sub", "min", "max", "lt", "le", "gt", "ge", "eq", "ne", "rem", "clamp", "select_n"))
"""What indices along an axis may be combined with the axis' size by."""
_PASSING = {*ELEMENTWISE, "reduce_sum", "broadcast_in_dim", "reshape", "squeeze"}
"""What may be between a sum and the number that it is divided by."""


def mark_literals(labels: Labels) -> None:
    """Find the numbers that depend on lengths."""
    for places in _all(labels.root):
        marks = _Marks(places, labels.lengths)
        marks.along_axes()
        marks.indices()
        marks.means()


def _all(places: Places) -> Iterator[Places]:
    yield places
    for inner in list(places.inner.values()):
        if inner.is_labelled:
            yield from _all(inner)


class _Marks:
    """Marks literals of one jaxpr."""

    def __init__(self, places: Places, lengths: list[int]):
        self.places, self.lengths = places, lengths
        self.eqns: list[Any] = list(places.jaxpr.eqns)

    def _mark(self, places: Places, k: int, i: int, sizes: Iterable[Size]) -> None:
        """Where operand i of equation k is one of these sizes, or the inverse of one, write it so."""
        v: Any = places.jaxpr.eqns[k].invars[i]
        if not isinstance(v, jcore.Literal) or np.shape(v.val) or (k, i) in places.literals:
            return
        value = np.asarray(v.val)
        for size in sizes:
            if isinstance(size, Affine):
                n = size.at(self.lengths)
                if n > 1 and value == n:
                    places.literals[k, i] = Count(size)
                elif n > 1 and value.dtype.kind == "f" and value == np.asarray(1.0 / n, value.dtype):
                    places.literals[k, i] = Count(size, inverse=True)

    def _labels(self, v: Any) -> list[Affine]:
        """Of all axes of a variable."""
        found = () if isinstance(v, jcore.Literal) else self.places.sizes.get(v, ())
        return [label for label in found if label is not None]

    def along_axes(self) -> None:
        """What indices are compared with, and times are divided by."""
        for k, eqn in enumerate(self.eqns):
            name = eqn.primitive.name
            sizes = {label for v in (*eqn.invars, *eqn.outvars) for label in self._labels(v)}
            if sizes and (name == "div" or name in _COMPARED):
                for i, v in enumerate(eqn.invars):
                    if (name == "div" and i == 1) or (name != "div" and np.dtype(v.aval.dtype).kind in "iu"):
                        self._mark(self.places, k, i, (x for size in sizes for x in (size, size - 1)))

    def indices(self) -> None:
        """What the places are computed from at which long axes are read and written."""
        for k, eqn in enumerate(self.eqns):
            name, x = eqn.primitive.name, eqn.invars[0] if eqn.invars else None
            if name in ("dynamic_slice", "dynamic_update_slice"):
                first = 1 if name == "dynamic_slice" else 2
                window = eqn.params["slice_sizes"] if first == 1 else eqn.invars[1].aval.shape
                for d, width in enumerate(window):
                    if (size := self.places.label(x, d)) is not None:
                        self._computed_from(self.places, k, first + d, (size, size - 1, size - width))
            elif name == "gather" or name.startswith("scatter"):
                sizes = {y for size in self._labels(x) for y in (size, size - 1)}
                if sizes:
                    self._computed_from(self.places, k, 1, tuple(sizes))

    def _computed_from(self, places: Places, k: int, i: int, sizes: tuple) -> None:
        """Mark operand i of equation k and the numbers it is computed from."""
        waiting, seen = [(places, k, i)], set()
        while waiting:
            places, k, i = waiting.pop()
            v = places.jaxpr.eqns[k].invars[i]
            if isinstance(v, jcore.Literal):
                self._mark(places, k, i, sizes)
            else:
                waiting += self._sources(places, v, seen)

    def _sources(self, places: Places, v: Any, seen: set) -> list[tuple[Places, int, int]]:
        """Operands of the equation that makes a variable of integers or truth values."""
        if (places, v) in seen or np.dtype(v.aval.dtype).kind not in "iub":
            return []
        seen.add((places, v))
        k = next((k for k in places.touching.get(v, ()) if v in places.jaxpr.eqns[k].outvars), None)
        if k is None:  # an input: look where this jaxpr is called
            at = places.jaxpr.invars.index(v) if v in places.jaxpr.invars else None
            if (
                at is None
                or places.above is None
                or places.above[0].jaxpr.eqns[places.above[1]].primitive.name not in CALLED
            ):
                return []
            return [(*places.above, at)]
        eqn = places.jaxpr.eqns[k]
        if eqn.primitive.name in CALLED:
            inner = places.within(k, 0, eqn.params[CALLED[eqn.primitive.name]])
            out = inner.jaxpr.outvars[eqn.outvars.index(v)]
            return [] if isinstance(out, jcore.Literal) else self._sources(inner, out, seen)
        if eqn.primitive.name in ("scan", "while", "cond"):
            return []
        return [(places, k, i) for i in range(len(eqn.invars))]

    def means(self) -> None:
        """What sums over long axes are divided by, also on the way back from there in a derivative."""
        sums = self._sums()
        spread = self._spread(sums)
        for k, eqn in enumerate(self.eqns):
            name = eqn.primitive.name
            if name in ("div", "mul", "sub"):
                variables = [v for v in eqn.invars if not isinstance(v, jcore.Literal)]
                sizes = spread.get(eqn.outvars[0], set()).union(*(sums.get(v, ()) for v in variables))
                for i, v in enumerate(eqn.invars):
                    if (name, i) == ("div", 0):
                        continue
                    if name != "mul" or (isinstance(v, jcore.Literal) and np.max(np.abs(v.val), initial=0) < 1):
                        self._mark(self.places, k, i, (x for size in sizes for x in (size, size - 1)))

    def _sums(self) -> dict[Any, set[Affine]]:
        """Of each short array, the sizes of the sums over long axes that it was computed from."""
        found: dict[Any, set[Affine]] = {}
        for eqn in self.eqns:
            if eqn.primitive.name in _PASSING:
                sizes = (
                    self._product(eqn.invars[0], eqn.params["axes"]) if eqn.primitive.name == "reduce_sum" else set()
                )
                sizes = sizes.union(*(found.get(v, ()) for v in eqn.invars if not isinstance(v, jcore.Literal)))
                found |= {v: sizes for v in eqn.outvars if sizes}
        return found

    def _spread(self, sums: dict[Any, set[Affine]]) -> dict[Any, set[Affine]]:
        """Of each short array, over how many numbers it is spread later, and the sizes of the sums that are divided by it."""
        found: dict[Any, set[Affine]] = {}

        def add(v: Any, sizes: set[Affine]) -> None:
            if sizes and not isinstance(v, jcore.Literal):
                found[v] = found.get(v, set()) | sizes

        for eqn in reversed(self.eqns):
            name = eqn.primitive.name
            if name not in _PASSING:
                continue
            sizes = set().union(*(found.get(v, ()) for v in eqn.outvars))
            if name == "broadcast_in_dim":
                kept, rank = eqn.params["broadcast_dimensions"], len(eqn.outvars[0].aval.shape)
                sizes |= self._product(eqn.outvars[0], [d for d in range(rank) if d not in kept])
            for v in eqn.invars:
                add(v, sizes)
            if name == "div" and not isinstance(eqn.invars[0], jcore.Literal):
                add(eqn.invars[1], sums.get(eqn.invars[0], set()))
        return found

    def _product(self, v: Any, axes: Iterable[Integer]) -> set[Affine]:
        """How many numbers lie along these axes, if that depends on a length."""
        size: Size = 1
        try:
            for d in axes:
                size = size * self.places.size(v, d)
        except NotGeneralError:
            return set()
        return {size} if isinstance(size, Affine) else set()
