"""Which column is time, in which unit, and which rows have a stamp that can be trusted."""

import numpy as np

from ..folder import DataError
from .notes import listed
from .stamps import guess_time_unit, order
from .table import Table
from .units import split_unit, unit
from .words import is_time, stamp_part


def clock(
    table: Table, names: list[str], given: dict, units: dict[str, str], dt: float | None
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Time of each row [s], the rows to keep in the order of time, and the columns that held it."""
    found = _columns(table, names, given, dt)
    if dt is not None:
        if not 0 < dt < np.inf:
            raise DataError(f"{table.path}: dt is {dt}; it must be the positive time between rows [s]")
        lost = np.flatnonzero(np.diff(table.row) != 1) if table.what == "row" else []
        # Rows that were left out still took their time.
        if len(lost):
            table.notes.say(f"time is dt times the row number: {len(lost)} holes where rows were left out")
        return dt * (table.row - table.row[0]).astype(float), np.arange(len(table.data)), found
    if len(found) == 2:
        seconds, part = (table.data[:, names.index(name)] for name in found)
        time = (seconds - seconds[np.isfinite(seconds)][0]) + 1e-9 * part
    else:
        time = _seconds(table, names.index(found[0]), units.get("time"))
    rows = order(table, time, table.notes)
    if len(rows) < 2:
        raise DataError(
            f"{table.path}: {len(rows)} rows have a usable stamp in column {found[0]!r}; motion needs 2 or more"
        )
    _report_steps(table, time[rows], rows)
    return time - time[rows[0]], rows, found


def _columns(table: Table, names: list[str], given: dict, dt: float | None) -> tuple[str, ...]:
    if (name := given.get("time")) is not None:
        if name not in names:
            raise DataError(f"{table.path} has no column {name!r} (for time); its columns are: {listed(names, 40)}")
        return (name,)
    parts = {part: name for name in names if (part := stamp_part(name))}
    if len(parts) == 2:
        return (parts["sec"], parts["nsec"])
    found = [name for name in names if name and is_time(name)]
    if len(found) > 1 and dt is None:
        raise DataError(
            f"{table.path}: time may be any of the columns {', '.join(map(repr, found))}; "
            f"say which: columns={{'time': {found[0]!r}}}"
        )
    if not found and dt is None:
        raise DataError(
            f"{table.path}: no column was recognised as time; its columns are: {listed(names, 40)}. Say which it is: "
            f"columns={{'time': {names[0]!r}}}, or give the time between rows: dt=0.001"
        )
    return tuple(found)


def _seconds(table: Table, column: int, given: str | None) -> np.ndarray:
    values, name = table.data[:, column], table.names[column]
    written = table.units.get(column) or split_unit(name)[1]
    if column in table.dates:
        chosen = guess_time_unit(table, column, values)
    elif text := given or written:
        chosen = unit(text, f"{table.path}, column {name!r}")
    else:
        chosen = guess_time_unit(table, column, values)
    if chosen.dimension != "time":
        raise DataError(
            f"{table.path}, column {name!r}: time cannot be in {chosen.name}; give units={{'time': 's'}} or so"
        )
    finite = values[np.isfinite(values)]
    if not len(finite):
        text = table.text.get(column)
        raise DataError(
            f"{table.path}, column {name!r} has no numbers{f', but {text[2]!r}' if text else ''}; give another time or dt="
        )
    # Stamps since 1970 lose their last digits as seconds: count from one of them, not the first, which may be wrong.
    middle = np.sort(finite)[len(finite) // 2]
    return (values - (middle if abs(middle * chosen.factor) > 1e6 else 0.0)) * chosen.factor


def _report_steps(table: Table, time: np.ndarray, rows: np.ndarray) -> None:
    steps = np.diff(time)
    usual = np.median(steps)
    if (jitter := np.quantile(np.abs(steps - usual), 0.9) / usual) > 0.05:
        table.notes.say(f"time stamps jitter by {100 * jitter:.3g} % of the step ({1e3 * usual:.4g} ms)")
    if len(holes := np.flatnonzero(steps > 5 * usual)):
        i = holes[0]
        table.notes.warn(
            f"{len(holes)} holes in time, the first of {steps[i]:.4g} s after {table.what} {table.row[rows[i]]}; "
            "windows never cross them"
        )
