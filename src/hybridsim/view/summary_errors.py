"""Errors in the summary of a run, by unit, and how people see these units."""

from math import degrees
from typing import Any

Record = dict[str, Any]
"""What JSON holds."""


def units_in(record: Record) -> tuple[str, ...]:
    """The units of a run's errors, "rad" and "m"."""
    return tuple(record.get("units") or [record.get("unit", "rad")])


def errors_in(stage: Record, unit: str) -> Record:
    """What a stage's errors are in a unit. Summaries of one unit have them beside the stage's name, too."""
    return stage.get("errors", {}).get(unit, {} if "errors" in stage else stage)


def shown_unit(unit: str) -> tuple[float, str]:
    """How errors are shown to people: a factor and degrees, or millimetres."""
    return (degrees(1), "deg") if unit == "rad" else (1e3, "mm")
