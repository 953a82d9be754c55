"""Options and numbers that cannot be used are refused with their name, the value found and what to give instead."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.core import Tracer


@dataclass(frozen=True)
class Range:
    """Finite numbers of which a condition holds."""

    words: str
    holds: Callable[[np.ndarray], np.ndarray]

    def check(self, what: str, value: Any, error: type[ValueError] = ValueError) -> None:
        """One number or an array. What JAX traces has no value yet and passes, so a fit may try any number."""
        if any(isinstance(x, Tracer) for x in jax.tree.leaves(value)):
            return
        try:
            numbers = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            numbers = np.array(np.nan)
        if not np.all(np.isfinite(numbers) & self.holds(numbers)):
            raise error(f"{what} is {_shown(value)}; it must be {self.words}")


POSITIVE = Range("a finite number, positive", lambda x: x > 0)
NOT_NEGATIVE = Range("a finite number, not negative", lambda x: x >= 0)
AT_LEAST_ONE = Range("a finite number, at least 1", lambda x: x >= 1)
FRACTION = Range("a number from 0 to 1", lambda x: (x >= 0) & (x <= 1))


def check_choice(what: str, value: Any, choices: Sequence[str]) -> None:
    """The value is one of these words."""
    if value not in choices:
        raise ValueError(f"{what} is {value!r}; it must be {' or '.join(map(repr, choices))}")


def check_kind(what: str, value: Any, kind: type, examples: str) -> None:
    """The value is an object of this kind, not its name nor its class."""
    if not isinstance(value, kind):
        raise TypeError(f"{what} is {_shown(value)}; give {examples}")


def _shown(value: Any) -> str:
    return f"{value}" if isinstance(value, (np.generic, np.ndarray, jax.Array)) else f"{value!r}"
