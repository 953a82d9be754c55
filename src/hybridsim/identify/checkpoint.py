"""Checkpoints: what a long run needs to continue, safe against a process that dies and against damaged files.

A checkpoint is written whole or not at all, carries a checksum, and leaves the one before it as NAME.previous. A damaged one
is named in a warning and renamed, never deleted, and the one before it serves instead. Searches are deterministic, so from
any checkpoint, and from none, they arrive at the same result.
"""

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from .atomic_write import write_bytes


class _DamagedError(Exception):
    """What is wrong with a file."""


def write_checkpoint(path: Path, content: Mapping[str, Any], continued: bool = True) -> None:
    """Write arrays (NAME.npz) or what JSON can hold (NAME.json).

    Args:
        path: The file.
        content: What `read_checkpoint` is to return.
        continued: Whether the file that is there belongs to the same run. If not, it is not kept as the one before.
    """
    before = _before(path)
    if before.is_dir():
        set_aside(before)
    if continued and path.is_file():
        os.replace(path, before)
    elif not continued:
        before.unlink(missing_ok=True)
    write_bytes(path, _signed(_FORMATS[path.suffix], content))


def read_checkpoint(path: Path) -> dict[str, Any] | None:
    """What was written last, or, where that is damaged, before; None where there is neither."""
    complaints, content = [], None
    for file in (path, _before(path)):
        try:
            content = _read(file)
        except _DamagedError as problem:
            complaints.append(f"{file} is damaged ({problem}) and was renamed to {set_aside(file).name}")
        if content is not None:
            break
    if complaints:
        then = "starts from its beginning" if content is None else "continues from the checkpoint before"
        warnings.warn(f"{', and '.join(complaints)}; this part of the work {then}", UserWarning, stacklevel=3)
    return content


def set_aside(path: Path) -> Path:
    """Rename a file or folder that cannot be used: its content may still be worth something to its owner."""
    number = 1
    while os.path.lexists(place := path.with_name(f"{path.name}.damaged-{number}")):
        number += 1
    return path.rename(place)


def _before(path: Path) -> Path:
    return path.with_name(f"{path.stem}.previous{path.suffix}")


def _read(file: Path) -> dict[str, Any] | None:
    if not os.path.lexists(file):
        return None
    if not file.is_file():
        raise _DamagedError("it is no file")
    try:
        data = file.read_bytes()
    except OSError as problem:
        raise _DamagedError(problem.strerror) from problem
    form = _FORMATS[file.suffix]
    if not data:
        raise _DamagedError("it is empty")
    if data[form.place] != _checksum(form, data):
        raise _DamagedError("its checksum is wrong")
    return form.decode(data)


def _signed(form: "_Format", content: Mapping[str, Any]) -> bytes:
    data = bytearray(form.encode(content))
    data[form.place] = _checksum(form, data)
    return bytes(data)


def _checksum(form: "_Format", data: bytes | bytearray) -> bytes:
    """Of everything but the checksum itself."""
    rest = bytearray(data)
    rest[form.place] = _ZEROS
    return hashlib.sha256(rest).hexdigest().encode()


@dataclass(frozen=True)
class _Format:
    encode: Callable[[Mapping[str, Any]], bytes]
    """With zeros in the place of the checksum."""
    decode: Callable[[bytes], dict[str, Any]]
    place: slice


_ZEROS = b"0" * 64
_HEAD, _MIDDLE, _TAIL = b'{"checksum": "', b'", "content": ', b"}"


def _to_json(content: Mapping[str, Any]) -> bytes:
    return _HEAD + _ZEROS + _MIDDLE + json.dumps(content).encode() + _TAIL


def _to_npz(content: Mapping[str, Any]) -> bytes:
    """The checksum is the comment of the archive, before which its length stands in two bytes."""
    buffer = BytesIO()
    np.savez(buffer, allow_pickle=False, **content)
    return buffer.getvalue()[:-2] + len(_ZEROS).to_bytes(2, "little") + _ZEROS


def _from_npz(data: bytes) -> dict[str, Any]:
    with np.load(BytesIO(data), allow_pickle=False) as file:
        return dict(file)


_FORMATS = {
    ".json": _Format(_to_json, lambda data: json.loads(data)["content"], slice(len(_HEAD), len(_HEAD) + len(_ZEROS))),
    ".npz": _Format(_to_npz, _from_npz, slice(-len(_ZEROS), None)),
}
