"""Compiled code on disk, so that a program that was compiled once is only loaded by the next process.

What lies here is run as it is. So it is read only from files and folders that nobody else can write (`PrivateFolder`),
and only with a checksum that is keyed by a secret of this user's. The secret lies in the user's own cache folder,
wherever HYBRIDSIM_CACHE points: a folder that came with somebody's project cannot bring its own.

A file is named by a hash of all that its content depends on and is written whole or not at all; so several processes
may use the folder at once, and a torn or changed file counts as none. Where the folder cannot be written, nothing is
kept, and nothing else is different. Above `LIMIT` the files that were not used for the longest time are removed, of
those that were made here; other files are neither counted nor touched.
"""

import contextlib
import functools
import hashlib
import hmac
import os
import re
import secrets
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from .private_folder import UNFINISHED, PrivateFolder, UntrustedError

LIMIT = 512 * 2**20
"""Bytes."""

SECRET = "secret"
"""The file that keys the checksums, in the user's own cache folder."""

OFF = ("off", "none", "no", "false", "0")
"""Values of HYBRIDSIM_CACHE, in capitals or not, with which nothing is kept."""

_MAGIC = b"hybridsim cache 3\n"
_CHECKSUM_SIZE = 32
_HEAD_SIZE = len(_MAGIC) + _CHECKSUM_SIZE
_OURS = re.compile(r"[0-9a-f]{64}")

_warned: set[str | None] = set()
"""Values of HYBRIDSIM_CACHE for which the user has been told that nothing is kept."""


def cache_folder() -> Path | None:
    """The folder of compiled code: a subfolder of HYBRIDSIM_CACHE, or in the user's cache folder; None if turned off.

    Several users may name the same folder, so each has an own subfolder.
    """
    given = os.environ.get("HYBRIDSIM_CACHE", "").strip()
    if not given:
        return _own_folder()
    if given.lower() in OFF:
        return None
    return Path(
        os.path.expanduser(given), f"hybridsim-native-{os.geteuid()}" if hasattr(os, "geteuid") else "hybridsim-native"
    )


def _own_folder() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named if os.path.isabs(named) else Path.home() / ".cache", "hybridsim", "native")


def key_of(*parts: str) -> str:
    """A name for what depends on these parts and nothing else."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def read(key: str) -> bytes | None:
    """What was written under this key, or None where there is nothing that can be trusted."""
    with _without_cache_on_failure():
        if (path := cache_folder()) is None:
            return None
        secret = _secret()
        with PrivateFolder(path) as folder:
            content = folder.read(key)
            head, data = content[:_HEAD_SIZE], content[_HEAD_SIZE:]
            if not hmac.compare_digest(head, _head(secret, key, data)):
                return None
            with contextlib.suppress(OSError):
                folder.touch(key)
            return data
    return None


def write(key: str, data: bytes) -> None:
    """Keep it, if possible."""
    with _without_cache_on_failure():
        if (path := cache_folder()) is None:
            return
        with PrivateFolder(path, create=True) as folder:
            folder.write(key, _head(_secret(), key, data) + data)
            clean(folder, LIMIT)


def clean(folder: PrivateFolder, limit: int) -> None:
    """Remove what was not used for the longest time until half of the limit is free; and what was never finished."""
    files = folder.files()
    day_ago = time.time() - 86400
    unwanted = [name for name, status in files if name.startswith(UNFINISHED) and status.st_mtime < day_ago]
    code = sorted((status.st_mtime, status.st_size, name) for name, status in files if _OURS.fullmatch(name))
    total = sum(size for _, size, _ in code)
    if total > limit:
        for _, size, name in code:
            unwanted.append(name)
            total -= size
            if total <= limit // 2:
                break
    for name in unwanted:
        with contextlib.suppress(OSError):
            folder.remove(name)


@contextlib.contextmanager
def _without_cache_on_failure() -> Iterator[None]:
    """A cache that cannot be used is no error; for one that others may have written there is one warning."""
    try:
        yield
    except UntrustedError as error:
        if (given := os.environ.get("HYBRIDSIM_CACHE")) not in _warned:
            _warned.add(given)
            warnings.warn(f"compiled code is not kept on disk: {error}, or set HYBRIDSIM_CACHE=off", stacklevel=4)
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        pass


def _head(secret: bytes, key: str, data: bytes) -> bytes:
    """What stands before the data in a file."""
    return _MAGIC + hmac.digest(secret, key.encode() + data, "sha256")


def _secret() -> bytes:
    try:
        return _secret_in(_own_folder())
    except (OSError, RuntimeError) as error:
        if not os.environ.get("HYBRIDSIM_CACHE", "").strip():
            raise
        # Here a cache was asked for, so the user should know why there is none.
        raise UntrustedError(
            f"no secret to check it with can be kept in your own cache folder ({error}); "
            "set XDG_CACHE_HOME to a folder that you can write"
        ) from error


@functools.cache
def _secret_in(path: Path) -> bytes:
    """The key of the checksums, made on first use. Of several processes that make one, all use the first."""
    with PrivateFolder(path, create=True) as folder:
        with contextlib.suppress(FileNotFoundError):
            return _read_secret(folder)
        with contextlib.suppress(FileExistsError):
            folder.write(SECRET, secrets.token_bytes(_CHECKSUM_SIZE), replace=False)
        return _read_secret(folder)


def _read_secret(folder: PrivateFolder) -> bytes:
    content = folder.read(SECRET, secret=True)
    if len(content) != _CHECKSUM_SIZE:
        path = folder.path / SECRET
        raise UntrustedError(f"{path} has {len(content)} bytes instead of {_CHECKSUM_SIZE}; delete it")
    return content
