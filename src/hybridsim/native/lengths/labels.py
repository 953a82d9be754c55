"""Which axes of a program's arrays depend on the length of a loop, and how.

A label says that the size of an axis is an `Affine` of lengths. Labels spread from the loops along the equations: what is
added has the same axes, what is joined to a row has one more. A label may be wrong, because an axis may have this size by
chance: it is only a way to write the size that the axis has here. So a wrong one never gives a wrong program; it means that
the program of another length is written differently, and is compiled anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import lcm
from typing import Any, NamedTuple

from jax.extend import core as jcore

from ...any_length import ANY_LENGTH
from ..rules.calls import CALLED
from .affine import Affine, Count, Integer, Size

LONG = 32
"""Turns from which on a loop outside of others is taken for one whose length may change."""
SMALLEST = 2
"""Axes of one number are broadcast, and empty ones left out, so no label is smaller."""


class Axis(NamedTuple):
    """An axis of a variable of a jaxpr, where this is used."""

    places: Places
    variable: Any
    number: int


def jaxprs_of(eqn: Any) -> list[tuple[str, Any]]:
    """The jaxprs of an equation that the compiler writes out, and the parameters they are found in."""
    name, p = eqn.primitive.name, eqn.params
    if name == "cond":
        return [("branches", branch) for branch in p["branches"]]
    names = {"scan": ("jaxpr",), "while": ("cond_jaxpr", "body_jaxpr")}.get(
        name, (CALLED[name],) if name in CALLED else ()
    )
    return [(parameter, p[parameter]) for parameter in names]


def is_marked(eqn: Any) -> bool:
    """Whether an equation was traced in the scope of `any_length`."""
    return ANY_LENGTH in str(eqn.source_info.name_stack)


class Places:
    """A jaxpr where it is used: of the same jaxpr, two calls may have different labels."""

    def __init__(self, jaxpr: jcore.Jaxpr, above: tuple[Places, int] | None = None):
        """`above`: the jaxpr in which it is used, and the number of the equation that does."""
        self.jaxpr, self.above = jaxpr, above
        self.sizes: dict[Any, list[Affine | None]] = {}
        self.turns: dict[int, Affine] = {}
        """Of loops, by the number of their equation: how many turns they take."""
        self.literals: dict[tuple[int, int], Count] = {}
        """Of equations and their operands: numbers that depend on lengths."""
        self.inner: dict[tuple[int, int], Places] = {}
        """Jaxprs of equations, by the number of the equation and theirs."""

    @cached_property
    def touching(self) -> dict[Any, list[int]]:
        """Of each variable, the equations that make or read it."""
        found: dict[Any, list[int]] = {}
        for k, eqn in enumerate(self.jaxpr.eqns):
            for v in (*eqn.invars, *eqn.outvars):
                if not isinstance(v, jcore.Literal):
                    found.setdefault(v, []).append(k)
        return found

    @cached_property
    def edge(self) -> set:
        """Inputs and outputs."""
        variables = (*self.jaxpr.invars, *self.jaxpr.outvars)
        return {v for v in variables if not isinstance(v, jcore.Literal)}

    def within(self, k: int, number: int, jaxpr: Any) -> Places:
        """The jaxpr of an equation; `jaxpr` may be closed."""
        if (k, number) not in self.inner:
            self.inner[k, number] = Places(getattr(jaxpr, "jaxpr", jaxpr), (self, k))
        return self.inner[k, number]

    def called(self) -> Iterator[Places]:
        """This and the jaxprs that it calls, outside of loops and branches."""
        yield self
        for k, eqn in enumerate(self.jaxpr.eqns):
            if eqn.primitive.name in CALLED:
                for number, (_, inner) in enumerate(jaxprs_of(eqn)):
                    yield from self.within(k, number, inner).called()

    @property
    def is_labelled(self) -> bool:
        """Whether anything in it depends on a length."""
        own = self.sizes or self.turns or self.literals
        return bool(own) or any(inner.is_labelled for inner in self.inner.values())

    def label(self, v: Any, d: Integer) -> Affine | None:
        return None if isinstance(v, jcore.Literal) or v not in self.sizes else self.sizes[v][d]

    def size(self, v: Any, d: Integer) -> Size:
        """The label, or the size that the axis has here."""
        label = self.label(v, d)
        return v.aval.shape[d] if label is None else label


class Labels:
    """Spreads labels over a jaxpr and the jaxprs in it."""

    def __init__(self, jaxpr: jcore.Jaxpr):
        self.root = Places(jaxpr)
        self.lengths: list[int] = []
        """Their values."""
        self.factors: dict[int, int] = {}
        """By which multiples lengths should rather be counted, because some axis is a fraction of one."""
        self._sure, self._guessed = _Queue(), _Queue()

    def add_length(self, turns: Integer, factor: int) -> Affine:
        """A new length, of which the turns of a loop are a multiple."""
        self.lengths.append(int(turns) // factor)
        return Affine.of(len(self.lengths) - 1, factor)

    def label_loop(self, places: Places, k: int, label: Affine) -> None:
        if k not in places.turns and label.at(self.lengths) == places.jaxpr.eqns[k].params["length"]:
            places.turns[k] = label
            self._wake(places, k)

    def set(self, axis: Axis, label: Size | None) -> None:
        """Label an axis, unless it has a label or another size."""
        places, v, d = axis
        if isinstance(v, jcore.Literal) or not isinstance(label, Affine) or places.label(v, d) is not None:
            return
        size = v.aval.shape[d]
        if size < SMALLEST or label.at(self.lengths) != size:
            return
        places.sizes.setdefault(v, [None] * len(v.aval.shape))[d] = label
        for k in places.touching.get(v, ()):
            self._wake(places, k)
        if places.above is not None and v in places.edge:
            self._wake(*places.above)

    def same(self, axes: Sequence[Axis]) -> None:
        """These axes have one size."""
        label = next((x for axis in axes if (x := axis.places.label(axis.variable, axis.number)) is not None), None)
        if label is not None:
            for axis in axes:
                self.set(axis, label)

    def divide(self, label: Size, divisor: Integer) -> Size | None:
        """The label divided by a number. Where that is no whole number of lengths, remember by what these should be counted."""
        if not isinstance(label, Affine):
            return None
        for k, factor in label.factors:
            if factor % divisor:
                self.factors[k] = lcm(self.factors.get(k, 1), int(divisor))
                return None
        return label // int(divisor)

    def spread(self) -> None:
        """Until nothing more can be said. What is a guess comes after all that is sure."""
        from .relations import GUESSES, relate

        while self._sure or self._guessed:
            if self._sure:
                relate(Link(self, *self._sure.pop()))
            else:
                link = Link(self, *self._guessed.pop())
                if (guess := GUESSES.get(link.eqn.primitive.name)) is not None:
                    guess(link)

    def _wake(self, places: Places, k: int) -> None:
        self._sure.push(places, k)
        self._guessed.push(places, k)


class Link:
    """An equation, which relates the axes of its operands and results."""

    def __init__(self, labels: Labels, places: Places, k: int):
        self.labels, self.places, self.k = labels, places, k
        self.eqn: Any = places.jaxpr.eqns[k]

    def axis(self, v: Any, d: Integer) -> Axis:
        return Axis(self.places, v, int(d))

    def label(self, v: Any, d: Integer) -> Affine | None:
        return self.places.label(v, int(d))

    def set(self, v: Any, d: Integer, label: Size | None) -> None:
        self.labels.set(self.axis(v, d), label)

    def same(self, *axes: tuple[Any, Integer]) -> None:
        """These axes of variables have one size."""
        self.labels.same([self.axis(*axis) for axis in axes])

    def same_if_equal(self, *axes: tuple[Any, Integer]) -> None:
        """These axes have one size if they have it here: others are broadcast, or whole where some are parts."""
        if len({v.aval.shape[d] for v, d in axes}) == 1:
            self.same(*axes)

    def passed(self, inner: Places, pairs: Sequence[tuple[Any, Any]], rows: bool = False) -> None:
        """Variables here that are variables of an inner jaxpr; or whose `rows` are."""
        for outside, inside in pairs:
            for d in range(len(inside.aval.shape)):
                self.labels.same([self.axis(outside, d + rows), Axis(inner, inside, d)])


class _Queue:
    """Equations to look at, each once."""

    def __init__(self) -> None:
        self._queue: deque = deque()
        self._waiting: set = set()

    def __bool__(self) -> bool:
        return bool(self._queue)

    def push(self, places: Places, k: int) -> None:
        if (places, k) not in self._waiting:
            self._waiting.add((places, k))
            self._queue.append((places, k))

    def pop(self) -> tuple[Places, int]:
        found = self._queue.popleft()
        self._waiting.discard(found)
        return found
