"""Cells of text: numbers, words for "missing", dates, and what is none of these."""

import csv
import math
import re
from datetime import UTC, datetime

MISSING = frozenset(("", "nan", "na", "n/a", "#n/a", "null", "none", "nil", "-", "--", "?", "missing", "<na>", "-nan"))
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_ENDLESS = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")


def number(cell: str, comma: bool) -> float | None:
    """The number in a cell, NaN for a word that means "missing", None for anything else.

    Stricter than `float`, to which 1_000 and digits of other scripts are numbers. With `comma`, it is the decimal sign,
    and a point is not: "1.234" may mean a thousand there.
    """
    cell = cell.strip().strip("'\"").strip()
    if comma and "." not in cell:
        cell = cell.replace(",", ".", 1)
    elif comma:
        return None
    if NUMBER.fullmatch(cell):
        return float(cell)
    if cell.lower() in MISSING:
        return math.nan
    return float(cell) if _ENDLESS.fullmatch(cell) else None


def date(cell: str) -> float | None:
    """Seconds since 1970 of a date and time as ISO 8601 writes them (no zone: UTC), or None."""
    cell = cell.strip().strip('"')
    if not _DATE.fullmatch(cell):
        return None
    try:
        moment = datetime.fromisoformat(cell.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def split_line(line: str, separator: str) -> list[str]:
    """The cells of one line; " " stands for any run of blanks. A line on its own: an unclosed quote harms no other."""
    if separator == " ":
        return line.split()
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), [])
    except csv.Error:
        return []


def guess_separator(lines: list[str]) -> tuple[str, int]:
    """The separator that gives most lines the same number of cells, and that number (1: none was found)."""
    best, chosen = (0.0, 0), (",", 1)
    for separator in (",", ";", "\t", "|", " "):
        counts = [len(split_line(line, separator)) for line in lines]
        common = max(set(counts), key=lambda n: (counts.count(n), n), default=1)
        share = counts.count(common) / max(len(counts), 1)
        if common > 1 and (share, common * (separator != " ")) > best:
            best, chosen = (share, common * (separator != " ")), (separator, common)
    return chosen


def guess_comma(lines: list[str], separator: str) -> bool:
    """Whether the decimal sign is a comma: some cells are numbers with one, and none with a point."""
    if separator == ",":
        return False
    cells = [cell.strip() for line in lines for cell in split_line(line, separator)]
    with_comma = [cell for cell in cells if "," in cell and NUMBER.fullmatch(cell.replace(",", ".", 1))]
    with_point = [cell for cell in cells if "." in cell and NUMBER.fullmatch(cell)]
    return len(with_comma) > len(with_point)
