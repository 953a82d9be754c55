"""Logs as arrays: npz and Parquet. Arrays with several numbers a row become several columns."""

import math
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from ...reading import npz_numbers
from ..folder import DataError
from .cells import date, number
from .extras import needed
from .limits import MOST_BYTES, MOST_COLUMNS, check_columns, check_numbers
from .notes import Notes
from .table import Table, exact

_NAMES = ("joint_names", "names", "name", "joints")


def read_npz(path: Path, notes: Notes, max_bytes: int = MOST_BYTES) -> Table:
    """Arrays with one row a sample; a scalar `dt` [s] stands for the stamps; `joint_names` name the columns of others."""
    try:
        with path.open("rb") as file:
            if file.read(2) == b"PK":
                check_numbers(path, npz_numbers(file, MOST_COLUMNS), max_bytes)
            file.seek(0)
            loaded = np.load(file, allow_pickle=False)
            if not isinstance(loaded, np.lib.npyio.NpzFile):
                raise ValueError("it holds one array without a name")
            arrays = {name: loaded[name] for name in loaded.files}
    except DataError:
        raise
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{path} is not a readable npz file of plain arrays ({error}); write it again") from error
    return from_arrays(path, arrays, notes)


def read_parquet(path: Path, notes: Notes, max_bytes: int = MOST_BYTES) -> Table:
    parquet, arrow = needed("pyarrow.parquet", path), needed("pyarrow", path)
    try:
        # Read through a file of ours: a path may be taken for a folder of parts.
        with path.open("rb") as file:
            opened = parquet.ParquetFile(file)
            _check_parquet(path, opened.metadata, max_bytes)
            texts = [field.name for field in opened.schema_arrow if arrow.types.is_string(field.type)]
            # A text that is repeated takes its place once, as in the file.
            table = parquet.read_table(file, read_dictionary=texts)
    except DataError:
        raise
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{path} is not a readable Parquet file ({error}); write it again") from error
    arrays: dict[str, np.ndarray] = {}
    doubled = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in arrays:
            doubled.append(name)
        kind = column.type
        if arrow.types.is_timestamp(kind):
            column = column.cast(arrow.timestamp("ns")).cast(arrow.int64())
            name = f"{name} [ns]"
        elif arrow.types.is_decimal(kind) or arrow.types.is_boolean(kind):
            column = column.cast(arrow.float64())
        if arrow.types.is_fixed_size_list(kind) or arrow.types.is_list(kind):
            arrays[name] = _lists(path, name, column.to_pylist())
        elif arrow.types.is_dictionary(kind):
            arrays[name] = _repeated_texts(path, column, max_bytes)
        elif column.null_count and not arrow.types.is_string(kind):
            arrays[name] = column.cast(arrow.float64()).to_numpy()
        else:
            arrays[name] = np.asarray(column.to_numpy())
    if doubled:
        raise DataError(f"{path} has several columns called {doubled[0]!r}; rename all but one")
    return from_arrays(path, arrays, notes)


def _check_parquet(path: Path, metadata: Any, max_bytes: int) -> None:
    """What the columns hold, by the table of contents: as many numbers, or texts as long, as it says."""
    check_columns(path, metadata.num_columns)
    numbers = 0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        for k in range(group.num_columns):
            column = group.column(k)
            numbers += max(group.num_rows, column.num_values, column.total_uncompressed_size // 8)
    check_numbers(path, max(numbers, metadata.num_rows), max_bytes)


def _repeated_texts(path: Path, column: Any, max_bytes: int) -> np.ndarray:
    parts = [part.dictionary.to_numpy(zero_copy_only=False) for part in column.chunks]
    longest = max((len(str(text)) for part in parts for text in part), default=0)
    check_numbers(path, len(column) * longest // 8, max_bytes)
    return np.concatenate([part.to_numpy(zero_copy_only=False) for part in column.chunks])


def _lists(path: Path, name: str, rows: list) -> np.ndarray:
    sizes = {len(row) for row in rows if row is not None}
    if len(sizes) != 1:
        raise DataError(f"{path}: the lists of column {name!r} have {sorted(sizes)} numbers; each row needs as many")
    size = sizes.pop()
    return np.array([[np.nan] * size if row is None else row for row in rows], float)


def from_arrays(path: Path, arrays: dict[str, np.ndarray], notes: Notes) -> Table:
    """One table from arrays of equal length; scalars but dt, and names, are no columns."""
    labels = next((arrays[n] for n in _NAMES if n in arrays and arrays[n].dtype.kind == "U"), None)
    tables = {name: array for name, array in arrays.items() if array.ndim >= 1 and array is not labels}
    lengths = {name: len(array) for name, array in tables.items()}
    if not lengths or not max(lengths.values()):
        raise DataError(f"{path} has no rows of data (arrays: {', '.join(arrays) or 'none'}); record it again")
    check_columns(path, sum(math.prod(array.shape[1:]) for array in tables.values()))
    rows = Counter(lengths.values()).most_common(1)[0][0]
    names: list[str] = []
    columns: list[np.ndarray] = []
    text: dict[int, tuple[int, int, str]] = {}
    origin: dict[int, float] = {}
    dates: set[int] = set()
    for name, array in tables.items():
        if len(array) != rows:
            notes.warn(f"array {name!r} has {len(array)} rows where others have {rows}: not used")
            continue
        if array.ndim > 2 or array.dtype.kind not in "fiubUO":
            notes.warn(f"array {name!r} of {array.dtype}, shape {array.shape}, is no column of numbers: not used")
            continue
        parts = array.reshape(rows, -1).T
        for k, part in enumerate(parts):
            label = str(labels[k]) if labels is not None and len(labels) == len(parts) else str(k)
            place = len(names)
            names.append(name if array.ndim == 1 else f"{name}/{label}")
            if part.dtype.kind in "UO":
                part, found, is_date = _texts(part)
                if found:
                    text[place] = found
                if is_date:
                    dates.add(place)
            values, first = exact(np.asarray(part))
            columns.append(values)
            if first:
                origin[place] = first
    if "dt" in arrays and arrays["dt"].ndim == 0:
        names.append("time [s]" if "time" not in names and "t" not in names else "dt")
        columns.append(_steps(path, arrays["dt"]) * np.arange(rows))
    return Table(str(path), names, np.stack(columns, 1), np.arange(rows), notes, {}, text, dates, origin)


def _steps(path: Path, dt: np.ndarray) -> float:
    if dt.dtype.kind not in "fiu" or not 0 < dt < np.inf:
        raise DataError(f"{path}: 'dt' is {dt}; it must be one positive number, the time between samples [s]")
    return float(dt)


def _texts(cells: np.ndarray) -> tuple[np.ndarray, tuple[int, int, str] | None, bool]:
    """Numbers written as text, the first cell that is none, and whether there are dates."""
    values, bad, is_date = np.full(len(cells), np.nan), [], False
    for i, cell in enumerate(cells):
        value = number(str("" if cell is None else cell), False)
        if value is None and (value := date(str(cell))) is not None:
            is_date = True
        if value is None:
            bad.append((i, str(cell)[:40]))
        else:
            values[i] = value
    return values, (len(bad), *bad[0]) if bad else None, is_date
