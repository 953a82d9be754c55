"""A log of a robot becomes a `Trajectory`: columns, units, stamps, angles and damaged cells are dealt with here."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from ...model import Model
from ...reading import amount, check_file
from ..folder import DataError
from .assemble import assemble
from .channels import poses
from .clock import clock
from .columns import Given, match
from .euler_angles import with_quaternions
from .limits import MOST_BYTES
from .notes import Notes
from .pose_order import with_order
from .read_arrays import read_npz, read_parquet
from .read_csv import read_csv
from .read_mcap import read_mcap
from .table import Table
from .trajectory import Trajectory

_TEXT = (".csv", ".txt", ".tsv", ".dat", ".log", ".asc")


def read_log(
    path: str | Path,
    model: Model,
    columns: Given | None = None,
    units: Mapping[str, str] | None = None,
    *,
    values: Mapping[str, str | Sequence[str]] | None = None,
    dt: float | None = None,
    rows: slice | None = None,
    header: Sequence[str] | None = None,
    topic: str | None = None,
    controls: Literal["command", "force"] | None = None,
    unwrap: bool | float = True,
    spikes: Literal["mask", "keep"] = "mask",
    max_gap: float | None = None,
    max_bytes: int = MOST_BYTES,
) -> Trajectory:
    """Read a CSV (or other text table), npz, Parquet or MCAP file of joint motion.

    The columns of joints and actuators are guessed from their names; print the result's `columns`. `columns` says them:
    {"elbow.position": "enc2", "elbow.force": 0.0, "wrist.velocity": None} for a column, a constant, not measured.
    `units` likewise, for all of a quantity or for one channel: {"time": "ms", "position": "deg", "elbow.velocity": "rpm"};
    otherwise a unit in the column's name ("q1 [deg]", "time_ms") counts, otherwise SI. `values` names columns to keep as
    other measured variables, unconverted: {"link.pose": ["x", "y", ...]}.

    `dt` [s] replaces the stamps by equal steps; `rows` reads a part; `header` names the columns of a file without
    names; `topic` chooses among joint states of an MCAP file; `controls` says whether controls are commands or joint
    forces where a log has both; `unwrap` may be False or the range [rad] into which angles were wrapped; `spikes`
    "keep" leaves single wild samples in; a hole is longer than `max_gap` [s] (default five usual steps). Files that are
    larger than `max_bytes`, or whose numbers need more than that once they are unpacked, are refused: they would fill the
    memory.

    What is repaired is in the result's `notes` and in one `DataWarning`; what cannot be is a `DataError`.
    """
    path = Path(path)
    notes = Notes()
    table = _cut(open_table(path, notes, header, topic, max_bytes), rows)
    names = _unique(table)
    if poses(model):
        names = with_quaternions(table, names, (units or {}).get("position"))
    given = dict(columns or {})
    kept = {name: (cols,) if isinstance(cols, str) else tuple(cols) for name, cols in (values or {}).items()}
    time, order, time_column = clock(table, names, given, dict(units or {}), dt)
    free = [n for n in names if n not in time_column and n not in {c for cols in kept.values() for c in cols}]
    own = {k: v for k, v in given.items() if k != "time"}

    def read(rotation: dict[str, str], notes: Notes) -> Trajectory:
        chosen = match(str(path), free, model, own, notes, rotation)
        return assemble(
            replace(table, notes=notes), names, model, chosen, dict(units or {}), given, kept, time, order, time_column,
            controls, unwrap, spikes == "mask", max_gap,
        )  # fmt: skip

    trajectory = read(with_order(model, free, own, read, notes), notes)
    notes.emit(str(path))
    return trajectory


def open_table(path: Path, notes: Notes, header=None, topic=None, max_bytes: int = MOST_BYTES) -> Table:
    """A file as it is, before anything is chosen or repaired."""
    if not path.exists():
        raise DataError(f"there is no file {path}; give the path of a log")
    # A device has no size; how much is read of a regular file is for the user to say.
    size = check_file(path, sys.maxsize, DataError)
    if size == 0:
        raise DataError(f"{path} is empty: it has 0 bytes; record it again or give another file")
    if size > max_bytes:
        raise DataError(
            f"{path} has {amount(size)}, more than max_bytes ({amount(max_bytes)}); cut it into runs, or raise max_bytes if "
            "the memory has room for twice its size"
        )
    kind = path.suffix.lower()
    if header is not None and kind not in _TEXT:
        raise DataError(f"{path}: header= is for text tables; a {kind} file names its columns itself")
    if kind in _TEXT:
        return read_csv(path, notes, header, max_bytes)
    if kind == ".npz":
        return read_npz(path, notes, max_bytes)
    if kind in (".parquet", ".pq"):
        return read_parquet(path, notes, max_bytes)
    if kind == ".mcap":
        return read_mcap(path, notes, topic, max_bytes)
    raise DataError(
        f"{path}: files that end in {kind or 'nothing'!r} are not known; known are {', '.join(_TEXT)}, .npz, .parquet, .mcap"
    )


def _cut(table: Table, rows: slice | None) -> Table:
    if rows is not None:
        table.data, table.row = table.data[rows], table.row[rows]
    if len(table.data) < 2:
        raise DataError(f"{table.path} has {len(table.data)} usable rows of data; motion needs 2 or more")
    return table


def _unique(table: Table) -> list[str]:
    """Names of columns; of two with one name and the same numbers the second is dropped, else they are numbered."""
    names = list(table.names)
    for k, name in enumerate(names):
        if name and name in names[:k]:
            first = names.index(name)
            if np.array_equal(table.data[:, first], table.data[:, k], equal_nan=True):
                table.notes.warn(f"column {name!r} is there twice with the same numbers: one was left out")
                names[k] = ""
            else:
                raise DataError(
                    f"{table.path} has two columns called {name!r} with different numbers (columns {first + 1} and {k + 1}); "
                    "rename one in the file, or name all columns with header=[...] (and remove the header)"
                )
    return names
