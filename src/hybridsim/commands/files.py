"""Writing: whole or not at all, so that a full disk never leaves half a file in place of a good one."""

import sys
from pathlib import Path
from typing import Any


def write_text(path: Path, text: str) -> None:
    """Into a temporary file beside it first, which then takes its place; folders above it are made."""
    path = path.resolve()
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    if path.exists() and not path.is_file():
        # A device or a pipe, such as /dev/stdout.
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as problem:
            raise type(problem)(problem.errno, problem.strerror, str(path)) from problem
    else:
        from ..identify.atomic_write import write_text as write_whole

        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)


def refuse_to_overwrite(path: Path, force: bool) -> None:
    """Before any work is done."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file by --out")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already; give --force to replace it, or another name by --out")


def print_json(record: dict[str, Any]) -> None:
    """On stdout."""
    from ..identify.atomic_write import as_json

    sys.stdout.write(as_json(record) + "\n")
