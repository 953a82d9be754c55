"""A clock that tests advance, so that no result depends on how fast the machine is."""

from importlib import import_module
from types import SimpleNamespace

import pytest


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch) -> Clock:
    """The clock of all searches with a time limit."""
    made = Clock()
    for name in ("basin_hopping", "executors", "population"):
        module = import_module(f"hybridsim.identify.{name}")
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=made.monotonic))
    return made
