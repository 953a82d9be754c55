"""Logs as text: comma, semicolon, tab or blanks between cells, decimal point or comma, comments, a line of units.

Read line by line into doubles, so that memory is that of the numbers. A line with too few or too many cells, or with a
cell that was a number once, is left out whole: its cells may have moved, and each would be wrong in silence.
"""

import sys
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..folder import DataError
from .cells import date, guess_comma, guess_separator, number, split_line
from .limits import LONGEST_LINE, MOST_BYTES, MOST_COLUMNS, check_columns, check_numbers
from .notes import Notes, listed
from .table import Table
from .units import find_unit

_COMMENT = ("#", "%", "//")
_SAMPLE = 200
"""Lines from which the form of the file is guessed."""
_SAMPLE_LENGTH = 4 * LONGEST_LINE
_SURE = 1.5
"""How many times too long a table must look from its first lines, which may be shorter than the others."""
_BAD = 0.2
"""Share of unusable rows beyond which the file is refused."""


def read_csv(path: Path, notes: Notes, header: Sequence[str] | None = None, max_bytes: int = MOST_BYTES) -> Table:
    encoding = _encoding(path, notes)
    lines = _sample(path, encoding)
    content = [line for _, line in lines if not line.startswith(_COMMENT)]
    if not content:
        raise DataError(f"{path} is empty: it has no line with data; record it again or give another file")
    separator, count = guess_separator(content)
    if count < 2:
        raise DataError(
            f"{path}: no separator (comma, semicolon, tab, |, blank) splits its lines alike; the first is "
            f"{content[0][:60]!r}; give a table with a header and one row a sample"
        )
    check_columns(path, count)
    _check_length(path, lines, count, max_bytes)
    names, first = _header(path, lines, separator, count, header, notes)
    table = _rows(path, encoding, separator, guess_comma(content, separator), names, first, notes, max_bytes)
    if not len(table.data):
        raise DataError(f"{path} has a header ({listed(names)}) but no rows of data; record it again")
    return table


def _encoding(path: Path, notes: Notes) -> str:
    with path.open("rb") as file:
        start = file.read(4096)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    control = sum(byte < 9 or 13 < byte < 32 for byte in start)
    if control > max(8, len(start) // 50) or start[:2] in (b"PK", b"\x1f\x8b") or start[:4] == b"PAR1":
        raise DataError(f"{path} is not text (it begins with {start[:4]!r}); unpack it, or name it by its format")
    try:
        start[: start.rfind(b"\n") + 1 or None].decode("utf-8-sig")
    except UnicodeDecodeError:
        notes.say("it is not UTF-8: read as Windows-1252")
        return "latin-1"
    return "utf-8-sig"


def _lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Number, from 1, and text of every line that is not blank."""
    with path.open(encoding=encoding, errors="replace") as file:
        for i, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), ""), 1):
            if len(line) == LONGEST_LINE:
                raise DataError(
                    f"{path}, row {i} has {LONGEST_LINE} characters or more, which no table of {MOST_COLUMNS} columns needs; "
                    "give a text table with one row a sample"
                )
            if line := line.strip("\r\n ") if "\t" in line else line.strip():
                yield i, line


def _sample(path: Path, encoding: str) -> list[tuple[int, str]]:
    """Lines from the start of the file, with their numbers."""
    found, length = [], 0
    for i, line in _lines(path, encoding):
        check_columns(path, 1 + max(line.count(separator) for separator in ",;\t|"))
        found.append((i, line))
        length += len(line)
        if len(found) == _SAMPLE or length > _SAMPLE_LENGTH:
            break
    return found


def _check_length(path: Path, lines: list[tuple[int, str]], columns: int, max_bytes: int) -> None:
    """A file whose first lines show that all of it is far too much is refused at once, not after a minute."""
    usual = sum(len(line) + 1 for _, line in lines) / len(lines)
    estimate = int(path.stat().st_size / usual) * columns
    if estimate > _SURE * max_bytes / 8:
        check_numbers(path, estimate, max_bytes)


def _header(path, lines, separator, count, given, notes) -> tuple[list[str], int]:
    """Names of the columns, and the number of the first line after them."""
    comment, skipped = None, []
    for i, line in lines:
        comments = line.startswith(_COMMENT)
        text = line.lstrip("#%/ ") if comments else line
        cells = [cell.strip().strip('"') for cell in split_line(text, separator)]
        if comments:
            comment = cells if len(cells) == count and not _numeric(cells) else comment
            continue
        if len(cells) != count:
            skipped.append(i)
            continue
        has_header = not _numeric(cells)
        names = list(given) if given is not None else cells if has_header else comment
        if names is None:
            raise DataError(
                f"{path}, row {i}: the first row with {count} cells has numbers ({listed(cells, 3)}), so there is no "
                f'header; name the columns: header=["time", ...] with {count} names'
            )
        if len(names) != count:
            raise DataError(f"{path}: header= has {len(names)} names, but its rows have {count} cells; name each one")
        if skipped:
            notes.warn(f"skipped {len(skipped)} lines before the header (row {listed(skipped)})")
        while names and not names[-1]:
            names = names[:-1]
        return names, i + 1 if has_header else i
    raise DataError(f"{path}: no line among the first {_SAMPLE} has {count} cells and names; give header=[...]")


def _numeric(cells: list[str]) -> bool:
    """Whether any cell is a number: then the line is data, however damaged."""
    return any(cell and (value := number(cell, "," in cell)) is not None and value == value for cell in cells)


def _rows(path, encoding, separator, comma, names, first, notes, max_bytes) -> Table:
    width, flat, row = len(names), array("d"), array("q")
    wrong, text = _Wrong(), defaultdict(_Words)
    units: dict[int, str] = {}
    dates: set[int] = set()
    repeated, last = 0, 0
    for i, line in _lines(path, encoding):
        last = i
        if i < first or line.startswith(_COMMENT):
            continue
        cells = split_line(line, separator)
        if len(cells) == width + 1 and not cells[-1].strip():
            cells = cells[:-1]
        if len(cells) != width:
            wrong.add(i, f"{len(cells)} cells instead of {width}")
            continue
        try:
            if comma or "_" in line or not line.isascii():
                raise ValueError
            values = list(map(float, cells))
        except ValueError:
            if not row and not units and not _numeric(cells) and any(find_unit(c) for c in cells):
                units = {k: cell.strip() for k, cell in enumerate(cells) if cell.strip()}
                continue
            if [cell.strip().strip('"') for cell in cells] == names:
                repeated += 1
                continue
            values = []
            for k, cell in enumerate(cells):
                value = number(cell, comma)
                if value is None and (value := date(cell)) is not None:
                    dates.add(k)
                if value is None:
                    text[k].add(i, cell.strip()[:40])
                values.append(np.nan if value is None else value)
        flat.extend(values)
        row.append(i)
        if 8 * len(flat) > max_bytes:
            check_numbers(path, len(flat), max_bytes)
    if repeated:
        notes.warn(f"the header is repeated {repeated} times inside: those lines were left out")
    data, rows = np.frombuffer(flat, float).reshape(-1, width), np.array(row, dtype=int)
    keep = _moved(names, text, rows, wrong)
    if len(rows) and not _finished(path) and rows[-1] == last and encoding != "utf-16":
        keep[-1] = False
        notes.say(f"the last line (row {last}) has no line end, its number may be cut short: left out")
    _report(path, wrong, len(rows) + wrong.count, notes)
    counted = {k: (found.count, *found.first) for k, found in text.items()}
    data, rows = (data, rows) if keep.all() else (data[keep], rows[keep])
    return Table(str(path), names, data, rows, notes, units, counted, dates)


class _Wrong:
    """Lines that are left out: how many, and the first."""

    def __init__(self) -> None:
        self.count, self.first = 0, (sys.maxsize, "")

    def add(self, row: int, why: str) -> None:
        self.count += 1
        self.first = min(self.first, (row, why))


class _Words:
    """Cells of a column that are no numbers: how many, the first, and the rows of those that may be damaged numbers."""

    def __init__(self) -> None:
        self.count, self.first = 0, (0, "")
        self.broken, self.first_broken = array("q"), ""

    def add(self, row: int, cell: str) -> None:
        if not self.count:
            self.first = row, cell
        self.count += 1
        if any(c.isdigit() for c in cell) or not cell.isprintable():
            self.first_broken = self.first_broken or cell
            self.broken.append(row)


def _moved(names, text, rows, wrong) -> np.ndarray:
    """Rows to keep: without those where a cell with digits is no number in a column that else has numbers."""
    keep = np.ones(len(rows), bool)
    for k, found in text.items():
        if found.count > max(3, 0.1 * len(rows)):
            continue  # a column of text
        for i in found.broken:
            if keep[place := np.searchsorted(rows, i)]:
                # Only the first is shown, so its cell alone was kept.
                wrong.add(i, f"{found.first_broken!r} in column {names[k]!r} is no number")
                keep[place] = False
    return keep


def _finished(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) in b"\r\n"


def _report(path: Path, wrong: _Wrong, total: int, notes: Notes) -> None:
    if not wrong.count:
        return
    i, why = wrong.first
    if wrong.count > max(2, _BAD * total):
        raise DataError(
            f"{path}, row {i}: {why}; {wrong.count} of {total} rows are like this; repair the file (a decimal comma "
            "between commas? an unquoted separator in a cell?)"
        )
    notes.warn(f"left out {wrong.count} broken rows (row {i}: {why})")
