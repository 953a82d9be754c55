"""Where the members are: a folder, or one file, a zip that is read without extracting it.

Members of the file are stored as they are, not compressed, so that none is larger than the file. Every size has a limit.
"""

import sys
import zipfile
from pathlib import Path

from ...reading import check_zip
from .errors import HybridFileError, briefly, damaged

STRUCTURE, NUMBERS = "model.json", "numbers.safetensors"
ROBOTS = ("robot.urdf", "robot.xml")
"""A copy of the robot's own file, for people."""
LARGEST = {STRUCTURE: 64 * 2**20, NUMBERS: 2**30} | dict.fromkeys(ROBOTS, 64 * 2**20)
"""[bytes]"""
MOST_ENTRIES = 100
"""Of the zip: more than the members above, so that a message can name those that do not belong."""


def read_members(path: Path) -> dict[str, bytes]:
    """Structure and numbers."""
    if path.is_dir():
        return {name: _read_file(path / name) for name in (STRUCTURE, NUMBERS)}
    if not path.exists():
        raise damaged("there is no such file or folder", f"check the path (the current folder is {Path.cwd()})")
    if not path.is_file():
        raise damaged("it is a pipe or a device, not a file", "copy its content into a file")
    return _read_zip(path)


def check_sizes(members: dict[str, bytes]) -> None:
    """That what is written can be read."""
    for name, content in members.items():
        if len(content) > LARGEST[name]:
            raise damaged(f"{name} would have {len(content)} bytes", f"at most {LARGEST[name]} are allowed")


def _read_file(path: Path) -> bytes:
    if not path.is_file():
        raise damaged(f"the folder has no {path.name}", "give a folder that hs.save_hybrid wrote")
    _check_size(path.name, path.stat().st_size)
    try:
        return path.read_bytes()
    except OSError as error:
        raise damaged(f"{path.name} cannot be read ({error.strerror})", "make it readable") from None


def _read_zip(path: Path) -> dict[str, bytes]:
    if not zipfile.is_zipfile(path):
        raise damaged("it is not a hybrid model, which is a zip, or its end is missing")
    try:
        with path.open("rb") as file:
            _check_entries(check_zip(file, sys.maxsize, MOST_ENTRIES), path.stat().st_size)
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in (STRUCTURE, NUMBERS)}
    except HybridFileError:
        raise
    except Exception as problem:  # zipfile meets damage with errors of many kinds
        raise damaged(f"the zip cannot be read ({briefly(problem)})") from None


def _check_entries(entries: list[zipfile.ZipInfo], whole: int) -> None:
    names = [entry.filename for entry in entries]
    for name in names:
        if name not in LARGEST:
            raise damaged(f"the zip has {name!r} in it, which is no part of a model", "remove it from the zip")
    for name in (STRUCTURE, NUMBERS):
        if names.count(name) != 1:
            raise damaged(f"the zip has {names.count(name)} times {name}, not once")
    for entry in entries:
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise damaged(f"{entry.filename} is compressed", "store it as it is (zip -0)")
        if entry.file_size > whole:
            raise damaged(f"{entry.filename} is said to be larger than the file that holds it")
        _check_size(entry.filename, entry.file_size)


def _check_size(name: str, size: int) -> None:
    if size > LARGEST[name]:
        raise damaged(f"{name} has {size} bytes, and at most {LARGEST[name]} are read")
