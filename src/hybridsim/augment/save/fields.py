"""Values of a JSON document, asked for by kind: what is not as it must be is an error that names its place.

Without this, a wrong type in a file would show up deep in the engine, or not at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import HybridFileError, damaged

T = TypeVar("T")


@dataclass(frozen=True)
class Field:
    """One value, and where it is: "joints[3].parent"."""

    place: str
    value: Any

    def wrong(self, what: str) -> HybridFileError:
        return damaged(f"model.json: {self.place} {what}")

    def record(self, *keys: str) -> dict[str, "Field"]:
        """An object with exactly these keys."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"is {self._shown()}, not an object")
        for key in keys:
            if key not in self.value:
                raise self.wrong(f"has no {key!r}")
        for key in self.value:
            if key not in keys:
                raise self.wrong(f"has {key!r}, which means nothing here")
        return {key: Field(f"{self.place}.{key}" if self.place else key, self.value[key]) for key in keys}

    def items(self) -> list["Field"]:
        if not isinstance(self.value, list):
            raise self.wrong(f"is {self._shown()}, not a list")
        return [Field(f"{self.place}[{i}]", value) for i, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong(f"is {self._shown()}, not a text")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong(f"is {self._shown()}, not true or false")
        return self.value

    def integer(self, low: int, below: int) -> int:
        """From `low` to less than `below`."""
        if type(self.value) is not int or not low <= self.value < below:
            raise self.wrong(f"is {self._shown()}, not a whole number from {low} to {below - 1}")
        return self.value

    def number(self) -> float:
        if type(self.value) not in (int, float):
            raise self.wrong(f"is {self._shown()}, not a number")
        return float(self.value)

    def chosen(self, known: Mapping[str, T], what: str) -> T:
        """What a name stands for, among those that are known."""
        name = self.text()
        if name not in known:
            raise self.wrong(f"is {self._shown()}, but there is no such {what}")
        return known[name]

    def names(self) -> tuple[str, ...]:
        """A list of texts, all different."""
        found = tuple(item.text() for item in self.items())
        if len(set(found)) < len(found):
            raise self.wrong("has a name twice")
        return found

    def _shown(self) -> str:
        text = repr(self.value)
        return text if len(text) <= 60 else f"{text[:60]}..."
