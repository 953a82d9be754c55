"""Time stamps: to seconds from the first, in order, each once."""

import bisect

import numpy as np

from ..folder import DataError
from .notes import Notes, listed
from .table import Table
from .units import UNITS, Unit

_FEW = 0.05
"""Share of rows that may have a wrong stamp; beyond, the file is refused."""
_NEAR = 5
"""Rows by which a row may have been delayed to be put back in its place rather than left out."""
_LONELY = 100.0
"""A row or two this many steps away from all others have a wrong stamp."""


def guess_time_unit(table: Table, column: int, values: np.ndarray) -> Unit:
    """Of stamps whose name does not say: by their size where they count from 1970, else seconds if that can be."""
    if column in table.dates:
        return UNITS["s"]
    finite = values[np.isfinite(values)] + table.origin.get(column, 0.0)
    middle = float(np.median(finite)) if len(finite) else 0.0
    for name, low, high in (("s", 5e8, 5e9), ("ms", 5e11, 5e12), ("us", 5e14, 5e15), ("ns", 5e17, 5e18)):
        if low < middle < high:
            return UNITS[name]
    steps = np.diff(finite)
    step = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
    if step and not 2e-6 <= step <= 0.3:
        raise DataError(
            f"{table.path}, column {table.names[column]!r}: steps of {step:g} would be too long or too short in seconds; "
            "say the unit: units={'time': 'ms'} (or s, us, ns); of a counter of samples, give dt= instead"
        )
    return UNITS["s"]


def order(table: Table, time: np.ndarray, notes: Notes) -> np.ndarray:
    """Rows to keep, in the order of time. `time` is in seconds, one a row."""
    keep = np.flatnonzero(np.isfinite(time))
    if lost := len(time) - len(keep):
        first = table.row[np.flatnonzero(~np.isfinite(time))[0]]
        _refuse(table, lost, len(time), f"no stamp at {table.what} {first}")
        notes.warn(f"left out {lost} rows without a stamp ({table.what} {first})")
    keep = _ascending(table, time, keep, notes)
    keep = _once(table, time, keep, notes)
    return _together(table, time, keep, notes)


def _ascending(table: Table, time: np.ndarray, keep: np.ndarray, notes: Notes) -> np.ndarray:
    t = time[keep]
    back = np.flatnonzero(np.diff(t) < 0)
    if not len(back):
        return keep
    good = _longest_rise(t)
    wrong = np.setdiff1d(np.arange(len(t)), good)
    i = back[0]
    where = f"time goes back from {t[i]:.6g} s to {t[i + 1]:.6g} s at {table.what} {table.row[keep[i + 1]]}"
    if len(wrong) > max(2, _FEW * len(t)):
        raise DataError(
            f"{table.path}: {where}, and {len(wrong)} rows are out of order: several runs in one file, or the clock was "
            f"set; read each run apart, such as rows=slice(0, {i + 1}), or give dt= to ignore the stamps"
        )
    # A row that came late belongs into a hole nearby; any other stamp is wrong.
    place = np.searchsorted(t[good], t[wrong])
    near = np.abs(place - np.searchsorted(good, wrong)) <= _NEAR
    steps = np.diff(t[good], prepend=-np.inf, append=np.inf)
    late = wrong[near & (steps[place] > 1.5 * np.median(np.diff(t[good])))]
    lost = np.setdiff1d(wrong, late)
    if len(late):
        notes.warn(f"{where}: {len(late)} rows that came late were put in order")
    if len(lost):
        rows = listed(table.row[keep[lost]])
        notes.warn(f"{where}: left out {len(lost)} rows with a wrong stamp ({table.what} {rows})")
    kept = np.sort(np.concatenate([good, late]))
    return keep[kept[np.argsort(t[kept], kind="stable")]]


def _longest_rise(t: np.ndarray) -> np.ndarray:
    """Indices of the longest part of t that does not fall (patience sorting)."""
    tails: list[float] = []
    ends: list[int] = []
    before = np.full(len(t), -1)
    for i, value in enumerate(t.tolist()):
        k = bisect.bisect_right(tails, value)
        before[i] = ends[k - 1] if k else -1
        if k == len(tails):
            tails.append(value)
            ends.append(i)
        else:
            tails[k], ends[k] = value, i
    chain, i = [], ends[-1]
    while i >= 0:
        chain.append(i)
        i = before[i]
    return np.array(chain[::-1])


def _once(table: Table, time: np.ndarray, keep: np.ndarray, notes: Notes) -> np.ndarray:
    """The first row of each stamp."""
    t = time[keep]
    again = np.flatnonzero(np.diff(t) <= 0) + 1
    if not len(again):
        return keep
    same = (
        (table.data[keep[again]] == table.data[keep[again - 1]])
        | (np.isnan(table.data[keep[again]]) & np.isnan(table.data[keep[again - 1]]))
    ).all(1)
    i = again[0]
    where = f"time {t[i]:.6g} s at {table.what} {table.row[keep[i]]}"
    if (~same).sum() > 0.2 * len(t):
        raise DataError(
            f"{table.path}: {len(again)} of {len(t)} stamps are those of the row before ({where}) with other values: the "
            "clock is too coarse; give dt= if samples were taken in equal steps"
        )
    if same.any():
        notes.warn(f"left out {same.sum()} rows that are there twice ({where})")
    if (~same).any():
        rows = listed(table.row[keep[again[~same]]])
        notes.warn(
            f"left out {(~same).sum()} rows with the stamp of the row before but other values ({table.what} {rows})"
        )
    return np.delete(keep, again)


def _together(table: Table, time: np.ndarray, keep: np.ndarray, notes: Notes) -> np.ndarray:
    """Without one or two rows at either end that lie far away in time: their stamp is wrong."""
    t = time[keep]
    if len(t) < 8:
        return keep
    far = np.flatnonzero(np.diff(t) > _LONELY * np.median(np.diff(t)))
    head = far[far < 2].max(initial=-1) + 1
    tail = far[far >= len(t) - 3].min(initial=len(t) - 1) + 1
    if head or tail < len(t):
        lost = np.concatenate([keep[:head], keep[tail:]])
        notes.warn(
            f"left out {len(lost)} rows far away in time from all others ({table.what} {listed(table.row[lost])})"
        )
    return keep[head:tail]


def _refuse(table: Table, lost: int, total: int, why: str) -> None:
    if lost > max(2, 0.2 * total):
        raise DataError(f"{table.path}: {why}; {lost} of {total} rows are like this; repair the file or give dt=")
