"""The unit of one column, and its numbers in SI."""

import numpy as np

from ..folder import DataError
from .channels import Channel
from .table import Table
from .units import ACCEPTS, Unit, split_unit, unit


def unit_of(table: Table, column: int, channel: Channel, units: dict[str, str]) -> Unit | None:
    """As the user says, for the channel or its quantity, else as the file says, else None: taken as SI."""
    name = table.names[column]
    where = f"{table.path}, column {name!r} ({channel.key})"
    written = table.units.get(column) or split_unit(name)[1]
    given = units.get(channel.key) or units.get(channel.quantity)
    if channel.motion == "other" and channel.quantity == "position":
        return None  # a quaternion has no unit
    if not (text := given or written):
        return None
    found = unit(text, where)
    if given and written and unit(written, where) != found:
        table.notes.warn(f"{channel.key}: units= says {found.name}, column {name!r} says {written}; units= counts")
    fits = ACCEPTS.get((channel.quantity, channel.motion))
    # A unit given for a quantity may be meant for the joints that turn only, or slide only.
    if given and fits and found.dimension not in fits and channel.key not in units:
        return unit(written, where) if written else None
    if fits and found.dimension not in fits:
        raise DataError(
            f"{where}: a {channel.quantity} of this joint cannot be in {found.name}; give units={{{channel.key!r}: ...}}"
        )
    return found


def converted(values: np.ndarray, good: np.ndarray, unit: Unit | None) -> np.ndarray:
    """In SI, 0 where there is no number."""
    return np.where(good, values, 0.0) * (unit.factor if unit else 1.0)
