"""Files that are written whole or not at all: a full disk never leaves half a file in place of a good one."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes."""
    _write(path, lambda file: file.write(data))


def as_json(value: Any) -> str:
    """Readable JSON. It knows no infinity: what is not finite is null."""
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
    """Write arrays as npz."""
    _write(path, lambda file: np.savez(file, allow_pickle=False, **arrays))


def _write(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write a draft beside the file first, which then takes its place."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(draft, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as problem:
        # Name the file that was asked for: Python names the draft, or nothing where a disk fills up while it is written.
        raise type(problem)(problem.errno, problem.strerror, str(path)) from problem
    finally:
        draft.unlink(missing_ok=True)
