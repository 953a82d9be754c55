"""What was compiled, kept in files for the next process.

The folder is the one that HYBRIDSIM_CACHE names, or `hybridsim/native` in the user's cache folder. It may be
deleted at any time. A file is named by a hash of all that its content depends on, is written whole or not at all,
and carries a checksum; so several processes may use the folder at once, and a torn or changed file is as good as
none. Where the folder cannot be written, nothing is kept, and nothing else is different. When it has grown beyond
`LIMIT`, the files that were not used for the longest time are removed.
"""

import contextlib
import hashlib
import os
import tempfile
import time
from pathlib import Path

LIMIT = 512 * 2**20
"""Bytes."""

_MAGIC = b"hybridsim cache 2\n"
_UNFINISHED = ".new-"


def cache_folder() -> Path:
    """HYBRIDSIM_CACHE, or the user's cache folder."""
    given = os.environ.get("HYBRIDSIM_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else base / "hybridsim" / "native"


def key_of(*parts: str) -> str:
    """A name for what depends on these parts and nothing else."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def read(key: str) -> bytes | None:
    """What was written under this key, or None where there is nothing or it is damaged."""
    try:
        path = cache_folder() / key
        content = path.read_bytes()
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        return None
    head = _head(key, data := content[len(_MAGIC) + 32 :])
    if not content.startswith(head):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # it was used now
    return data


def write(key: str, data: bytes) -> None:
    """Keep it, if possible. In a temporary file first, so that another process never sees a part."""
    with contextlib.suppress(OSError, RuntimeError):
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, path = tempfile.mkstemp(dir=folder, prefix=_UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_head(key, data) + data)
            os.replace(path, folder / key)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise
        clean(folder, LIMIT)


def _head(key: str, data: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(key.encode() + data).digest()


def clean(folder: Path, limit: int) -> None:
    """Remove what was not used for the longest time until half of the limit is free; and what was never finished."""
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat()
                files.append((status.st_mtime, status.st_size, entry.path))
    day_ago = time.time() - 86400
    for used, _, path in files:
        if used < day_ago and os.path.basename(path).startswith(_UNFINISHED):
            with contextlib.suppress(OSError):
                os.unlink(path)
    total = sum(size for _, size, _ in files)
    if total <= limit:
        return
    for _, size, path in sorted(files):
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
        if total <= limit // 2:
            return
