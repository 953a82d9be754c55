"""Files that are written whole or not at all: a full disk never leaves half a file in place of a good one."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np


def write_text(path: Path, text: str) -> None:
    """As UTF-8."""
    _write(path, lambda file: file.write(text.encode()))


def as_json(value: Any) -> str:
    """Readable. JSON knows no infinity: what is not finite is null."""
    return json.dumps(_finite(value), indent=1)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value


def write_arrays(path: Path, arrays: dict[str, Any]) -> None:
    """As npz."""
    _write(path, lambda file: np.savez(file, allow_pickle=False, **arrays))


def _write(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Into another file beside it first, which then takes its place."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(unfinished, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except OSError as problem:
        # A full disk is noticed while writing, when Python no longer knows the file's name.
        raise type(problem)(problem.errno, problem.strerror, problem.filename or str(path)) from problem
    finally:
        unfinished.unlink(missing_ok=True)
