"""Reading the files of datasets: runs by their names, tables of numbers, and what is wrong with a damaged file."""

import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np
from jaxtyping import Float

from .folder import VARIABLE, DataError, data_folder

_T = TypeVar("_T")
_LONGEST_STEP_BACK = 0.1
"""Samples that were stored this much out of order are sorted; more is taken for damage [s]."""


def dataset_path(dataset: str, given: str | Path | None, inside: str = "") -> Path:
    """The folder or file that was given, or else of the dataset in the folder of HYBRIDSIM_DATA; it is there."""
    path = Path(given) if given is not None else data_folder(dataset) / inside
    if not path.exists():
        raise DataError(
            f"there is no {path}; give the place of the measurements, or set {VARIABLE} to the folder that holds "
            f"{dataset}/{inside}"
        )
    return path


def found_runs(place: Path, runs: Iterable[tuple[str, _T]], form: str) -> dict[str, _T]:
    """Runs by their names; `form` says what a run looks like."""
    found = dict(runs)
    if not found:
        raise DataError(f"{place} has no runs, which are {form}; fetch the dataset again")
    return found


def known_run(place: Path, runs: Mapping[str, _T], name: str) -> _T:
    """The run of this name."""
    if name not in runs:
        raise DataError(f"{place} has no run {name!r}; it has {', '.join(map(repr, runs))}")
    return runs[name]


def whole_lines(path: Path) -> list[str]:
    """The lines of a text file, each of which ends as it must."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not a readable text file ({error}); fetch it again") from error
    if not text.endswith("\n"):
        raise DataError(f"{path} is cut short: its last line has no end; fetch it again")
    return text.splitlines()


def csv_numbers(path: Path, lines: list[str], columns: int, first: int = 1) -> Float[np.ndarray, "rows columns"]:
    """Rows of numbers between commas; `first` is the line number of the first."""
    if len(lines) < 2:
        raise DataError(f"{path} has {len(lines)} rows of numbers; a run has at least two: fetch it again")
    for number, line in enumerate(lines, first):
        if line.count(",") != columns - 1:
            raise DataError(
                f"{path}, line {number} has {line.count(',') + 1} columns; it must have {columns} numbers between commas"
            )
    try:
        table = np.loadtxt(lines, delimiter=",", comments=None, ndmin=2)
    except ValueError as error:
        raise DataError(f"{path} has something that is not a number ({error}); fetch it again") from error
    return finite(str(path), table, "line", first)


def finite(where: str, table: Float[np.ndarray, "rows ..."], row: str = "row", first: int = 0) -> np.ndarray:
    """The table, all of whose numbers are finite."""
    bad = np.flatnonzero(~np.isfinite(table).reshape(len(table), -1).all(axis=1))
    if len(bad):
        raise DataError(
            f"{where}, {row} {bad[0] + first} has a number that is not finite; cut the run there or leave it out"
        )
    return table


def npz_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an npz file by their names."""
    try:
        # NumPy leaves a damaged file that it was given by name open.
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if not isinstance(loaded, np.lib.npyio.NpzFile):
                raise ValueError("it holds one array without a name")
            return dict(loaded)
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{path} is not a readable npz file ({error}); fetch it again") from error


def in_order(where: str, table: Float[np.ndarray, "rows columns"]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rows sorted by their first column, a time [s], without those that repeat one; and what was repaired, in words."""
    steps = np.diff(table[:, 0])
    if len(steps) and steps.min() < -_LONGEST_STEP_BACK:
        raise DataError(
            f"{where}, row {np.argmin(steps) + 1}: time goes back by {-steps.min():.3g} s; the file joins several "
            "recordings or is damaged: cut it there or fetch it again"
        )
    table = table[np.argsort(table[:, 0], kind="stable")]
    new = np.concatenate([[True], np.diff(table[:, 0]) > 0])
    repairs = []
    if (steps < 0).any():
        repairs.append(f"{where}: time went back {np.sum(steps < 0)} times; sorted")
    if not new.all():
        repairs.append(f"{where}: {np.sum(~new)} samples repeated a time; dropped")
    return table[new], tuple(repairs)
