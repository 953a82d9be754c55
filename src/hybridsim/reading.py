"""Files from strangers are opened only if they are regular files and not too large.

A device never ends, a pipe waits for a writer, and a zip of some megabytes may hold gigabytes. Each reader has its own
limits; the checks are here.
"""

import json
import math
import os
import stat
import sys
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

MOST_ARRAYS = 10_000
"""Of an npz file that HybridSim itself wrote: a few for every run."""
LARGEST_DIRECTORY = 16 * 2**20
"""Of the table of contents of a zip [bytes]: `zipfile` makes an object of every entry, some ten times as large."""


def check_file(path: Path, largest: int, error: type[ValueError] = ValueError) -> int:
    """The size of a regular file of at most `largest` bytes. A file that is not there is an OSError, as of `open`."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise error(f"{path}: it cannot be read, as it is {_kind(found.st_mode)} and not a file; give a file")
    if found.st_size > largest:
        raise error(f"{path} has {amount(found.st_size)}; at most {amount(largest)} are read, so give a smaller file")
    return found.st_size


def check_zip(file: IO[bytes], largest: int, most: int) -> list[zipfile.ZipInfo]:
    """The entries of a zip, if they are at most so many and hold at most `largest` bytes unpacked, else a ValueError.

    What an entry says of its size can be trusted: `zipfile` never unpacks more than that.
    """
    # What `zipfile` itself looks for first. The directory has to be refused before it is read.
    end = zipfile._EndRecData(file)  # pyright: ignore[reportAttributeAccessIssue]
    if end is not None and end[5] > LARGEST_DIRECTORY:
        raise ValueError(f"the zip has a table of contents of {amount(end[5])}, at most {amount(LARGEST_DIRECTORY)}")
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
    if len(entries) > most:
        raise ValueError(f"the zip has {len(entries)} entries, at most {most}")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > largest:
        raise ValueError(f"the zip has {amount(unpacked)} when unpacked, at most {amount(largest)}")
    return entries


def npz_numbers(file: IO[bytes], most: int) -> int:
    """How many numbers an npz file announces; a ValueError where it announces more than it holds.

    NumPy takes memory for all that a header says before it reads the first number. Wide items, such as texts, count as
    several numbers of 8 bytes.
    """
    entries = check_zip(file, sys.maxsize, most)
    numbers = 0
    with zipfile.ZipFile(file) as archive:
        for entry in entries:
            with archive.open(entry) as member:
                version = np.lib.format.read_magic(member)
                header = (
                    np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                )
                shape, _, kind = header(member)
            count = math.prod(shape)
            if count * kind.itemsize > entry.file_size:
                raise ValueError(f"{entry.filename} has {entry.file_size} bytes, but should hold {count} numbers")
            numbers += count * max(1, kind.itemsize // 8)
    return numbers


def read_npz(path: Path, largest: int) -> dict[str, np.ndarray]:
    """All arrays of an npz file that needs at most `largest` bytes; never pickles."""
    check_file(path, largest)
    with path.open("rb") as file:
        if (needed := 8 * npz_numbers(file, MOST_ARRAYS)) > largest:
            raise ValueError(f"{path} needs {amount(needed)} in memory, and at most {amount(largest)} are read")
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)


def read_json(path: Path, largest: int) -> Any:
    """The value in a JSON file of at most `largest` bytes; whatever is wrong with it is a ValueError."""
    check_file(path, largest)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("it has lists or objects inside each other without end") from None


def amount(size: int) -> str:
    """A number of bytes for people: "4.29 GB"."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if size >= 10**power:
            return f"{size / 10**power:.3g} {unit}"
    return f"{size} bytes"


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a pipe" if stat.S_ISFIFO(mode) else "a device" if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) else "a socket"
