"""Samples that cannot be: infinite, markers for "no value", and single spikes. They are masked, and said."""

import numpy as np
from jaxtyping import Bool, Float

from .notes import Notes, listed
from .table import Table

_MARKERS = (999, 9999, 99999, 999999, 32767, 32768, 65535, 2147483647, 2147483648, 1e10, 1e20, 1e30, 1e38)
_SPIKE_FLOOR = {"position": 0.01, "velocity": 0.5}
"""A spike is at least this far from its neighbours [rad or m, and per second]."""
_MOST = 0.05
"""Share of samples beyond which spikes are no accident and are kept."""


def present(table: Table, rows: np.ndarray, column: int, key: str, notes: Notes) -> Bool[np.ndarray, " n"]:
    """Where a column has a usable number, as the file gives it."""
    x, name = table.data[rows, column], table.names[column]
    missing = np.isnan(x)
    endless = np.isinf(x) | (np.abs(np.nan_to_num(x)) > 1e100)
    marked = np.zeros(len(x), bool)
    good = ~missing & ~endless
    for marker in _MARKERS:
        hits = good & (np.abs(x) == marker)
        rest = np.abs(x[good & ~hits])
        if hits.any() and len(rest) and marker > 10 * rest.max():
            marked |= hits
    for found, what in ((missing, "no number"), (endless, "infinite"), (marked, "a marker for no value")):
        if found.any():
            places = listed(table.row[rows[found]], 3)
            example = "" if what == "no number" else f", such as {x[found][0]:g}"
            text = table.text.get(column)
            example = f", such as {text[2]!r}" if what == "no number" and text else example
            notes.warn(
                f"{key} (column {name!r}): {found.sum()} cells are {what}{example} ({table.what} {places}): masked"
            )
    return good & ~marked


def spikes(
    x: Float[np.ndarray, " n"], good: Bool[np.ndarray, " n"], quantity: str, period: float | None
) -> Bool[np.ndarray, " n"]:
    """Single samples far from both neighbours, which agree. Angles are compared around the circle of `period`.

    A joint cannot go and come back within one step; a step that stays is not a spike.
    """
    found = np.zeros(len(x), bool)
    index = np.flatnonzero(good)
    if quantity not in _SPIKE_FLOOR or len(index) < 8:
        return found

    def turn(d):
        return d - period * np.round(d / period) if period else d

    before, after = turn(np.diff(x[index]))[:-1], -turn(np.diff(x[index]))[1:]
    away, across = np.minimum(np.abs(before), np.abs(after)), np.abs(before - after)
    usual = np.median(np.abs(before + after)) / 2
    high = np.quantile(np.abs(before + after), 0.9) / 2
    limit = max(_SPIKE_FLOOR[quantity], 30 * usual, 8 * high)
    hits = (away > limit) & (across < 0.2 * away) & (before * after > 0)
    if hits.mean() <= _MOST:
        found[index[1:-1][hits]] = True
    return found
