"""Files from strangers are opened only if they are regular files and not too large.

A device never ends, a pipe waits for a writer, and a zip of some megabytes may hold gigabytes. Each reader has its own
limits; the checks are here.
"""

import os
import stat
import zipfile
from pathlib import Path
from typing import IO

LARGEST_DIRECTORY = 16 * 2**20
"""Of the table of contents of a zip [bytes]: `zipfile` makes an object of every entry, some ten times as large."""


def check_file(path: Path, largest: int, error: type[ValueError] = ValueError) -> int:
    """The size of a regular file of at most `largest` bytes. A file that is not there is an OSError, as of `open`."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise error(f"{path} is {_kind(found.st_mode)}, not a file; give a file, or copy its content into one")
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
