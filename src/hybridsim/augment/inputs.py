"""What a network may look at: named variables now or earlier, of its own entity or of others, and given numbers.

A plain string names a variable: `"joint.velocity"` is that of the entity the network acts on, `"joint.velocity[elbow]"`
that of one chosen by name, `"joint.velocity[*]"` those of all, one after another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Input:
    """A variable, as a network sees it."""

    name: str
    entities: str | None = None
    """Patterns of names, separated by commas; None for the entity on which the network acts."""
    delays: tuple[int, ...] = (0,)
    """How many steps ago; 0 is now."""
    cyclic: bool = False
    """Whether the network sees sine and cosine instead of the value itself."""

    def __str__(self) -> str:
        text = self.name if self.entities is None else f"{self.name}[{self.entities}]"
        if self.delays != (0,):
            count, every = len(self.delays), self.delays[0]
            text = f"previous({text})" if self.delays == (1,) else f"history({text}, {count}, every={every})"
        return f"cyclic({text})" if self.cyclic else text


@dataclass(frozen=True)
class Constant:
    """Numbers that stay as they are given, such as a load or a temperature: one for all entities, or by name."""

    name: str
    values: tuple[tuple[str, tuple[float, ...]], ...]
    """Patterns of entities and their numbers."""

    def __str__(self) -> str:
        return f"constant({self.name})"


InputLike = str | Input | Constant
Numbers = float | Sequence[float] | np.ndarray


def as_input(given: InputLike) -> Input | Constant:
    """The record of a string such as "joint.velocity[elbow]"."""
    if isinstance(given, Input | Constant):
        return given
    if not isinstance(given, str):
        raise TypeError(f"an input is a name such as 'joint.velocity', hs.history(...) and so on, not {given!r}")
    name, bracket, entities = given.partition("[")
    if bracket and not entities.endswith("]"):
        raise ValueError(f"input {given!r} opens a bracket that it does not close; write {given}]")
    return Input(name.strip(), entities[:-1].strip() if bracket else None)


def previous(name: str | Input) -> Input:
    """The value one step ago: also of what comes later in the step. Before the first step see `history`."""
    return history(name, 1)


def history(name: str | Input, count: int, every: int = 1) -> Input:
    """The values `every`, 2 `every`, ..., `count` `every` steps ago, without the present one.

    Before the first step a variable has been what it is in it; one that comes later in the step was zero.
    """
    if not all(isinstance(x, int | np.integer) and x >= 1 for x in (count, every)):
        raise ValueError(f"history({name!s}, {count}, every={every}): both numbers must be 1 or more, and whole")
    variable = _variable(name)
    if variable.delays != (0,):
        raise ValueError(
            f"the past of {variable} is not known; say how far back by one hs.history({variable.name!r}, ...)"
        )
    return replace(variable, delays=tuple(every * (i + 1) for i in range(count)))


def cyclic(name: str | Input) -> Input:
    """Sine and cosine of an angle, so that a full turn changes nothing."""
    return replace(_variable(name), cyclic=True)


def constant(name: str, value: Numbers | Mapping[str, Numbers]) -> Constant:
    """Given numbers as an input: `constant("load", 2.5)`, or by entity `constant("gear", {"hip*": 9, "knee*": 6})`."""
    given = value if isinstance(value, Mapping) else {"*": value}
    numbers = tuple((pattern, tuple(map(float, np.ravel(v)))) for pattern, v in given.items())
    if not all(v and np.all(np.isfinite(v)) for _, v in numbers):
        raise ValueError(f"constant({name!r}): {given!r} must be one or more finite numbers")
    if len({len(v) for _, v in numbers}) != 1:
        raise ValueError(f"constant({name!r}): every entity needs equally many numbers, but {given!r} has not")
    return Constant(name, numbers)


def _variable(name: str | Input) -> Input:
    given = as_input(name)
    if isinstance(given, Constant):
        raise TypeError(f"{given} has no past and no turn")
    return given
