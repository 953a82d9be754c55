"""Marks: the places of the computation where a network can be put, or a value be read.

Engine code marks a variable by `tau = named("joint.force", tau)`. These marks do nothing: they return the value itself,
so a model without networks traces to the same program as if there were none. `variables.py` says what the names mean.
"""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..spatial import Array, add_at
from .variables import VARIABLES

Named = Callable[[str, Array], Array]
"""value = named(name, value): what a user may put at every mark."""


class Marks:
    """What engine code is given to mark its variables with, for one evaluation of the equations of motion."""

    def __call__(self, name: str, value: Array) -> Array:
        """The value with which the computation goes on: the same object, unless it is changed."""
        return value

    def wants(self, name: str) -> bool:
        """Whether anything asks for this variable. What the step itself does not need is computed only then."""
        return False

    def offer(self, name: str, compute: Callable[[], Array]) -> None:
        """Mark a variable that can be read but not changed, for nothing in the step uses it."""
        if self.wants(name):
            self(name, compute())

    def partly(self, name: str, value: Array, rows: np.ndarray, known: np.ndarray | None = None) -> Array:
        """Mark a variable of which only the given rows act, and only the `known` ones (None: all) can be read by now.

        Other rows are zero where nothing is known of them.
        """
        return self(name, value)

    def complete(self, name: str, rows: np.ndarray, compute: Callable[[], Array]) -> None:
        """Fill in rows of a variable that were not known when it was marked."""

    def again(self) -> "Marks":
        """For a further evaluation within the same step."""
        return self

    def end(self) -> Any:
        """What the next step is to remember."""
        return None


unmarked = Marks()
"""The default."""


class Hooked(Marks):
    """A user's function at all marks of what the step computes anyway."""

    def __init__(self, function: Named):
        self.function = function

    def __call__(self, name: str, value: Array) -> Array:
        return self.function(name, value)


class Recording(Marks):
    """Other marks, whose values are kept."""

    def __init__(self, marks: Marks, names: tuple[str, ...]):
        self.marks, self.names, self.values = marks, names, {}

    def __call__(self, name: str, value: Array) -> Array:
        value = self.marks(name, value)
        if name in self.names:
            self.values[name] = jnp.asarray(value)
        return value

    def wants(self, name: str) -> bool:
        return name in self.names or self.marks.wants(name)

    def offer(self, name: str, compute: Callable[[], Array]) -> None:
        if name not in self.names:
            self.marks.offer(name, compute)
            return
        value = compute()
        self.marks.offer(name, lambda: value)
        self.values[name] = jnp.asarray(value)

    def complete(self, name: str, rows: np.ndarray, compute: Callable[[], Array]) -> None:
        if name in self.values:
            self.values[name] = with_rows(self.values[name], rows, compute())
        self.marks.complete(name, rows, compute)

    def again(self) -> Marks:
        return self.marks.again()

    def end(self) -> Any:
        missing = [name for name in self.names if name not in self.values]
        if missing:
            close = [match for name in missing for match in get_close_matches(name, VARIABLES, 1) if match != name]
            hint = f"did you mean {', '.join(map(repr, close))}? " if close else ""
            raise KeyError(
                f"this step computes no {', '.join(map(repr, missing))} that could be recorded; {hint}"
                "hs.names(model, contact=...) lists all variables"
            )
        return self.marks.end()


def with_rows(x: Array, rows: np.ndarray, values: Array) -> Array:
    """The array with other values at some of its rows."""
    x = jnp.asarray(x)
    others = np.ones((len(x), *[1] * (x.ndim - 1)), dtype=bool)
    others[rows] = False
    return jnp.where(others, x, add_at(len(x), rows, values))


def as_marks(named: Marks | Named) -> Marks:
    return named if isinstance(named, Marks) else Hooked(named)
