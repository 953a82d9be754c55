"""A folder that only this user can write to, for files whose content is run as machine code.

The folder is opened once and checked through its descriptor, and its files are opened relative to that. So nobody can
put another folder in its place between the check and the use, whoever may write to the folders above it. Symbolic
links are not followed, and nothing but regular files is read: to open a named pipe would wait for ever.

Windows has neither owners nor modes of this kind, nor folders as descriptors. There paths are used, and the privacy of
the user's profile has to do.
"""

import contextlib
import os
import secrets
import stat
from pathlib import Path

UNFINISHED = ".new-"
"""How the names of files begin that are being written."""

_HAS_DESCRIPTORS = os.open in os.supports_dir_fd
_OPEN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_ANY_USE_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class UntrustedError(Exception):
    """A folder or file that someone else may have written; the text says which, why, and what to do."""


class PrivateFolder:
    """An open folder; close it, or use it in a `with` statement."""

    def __init__(self, path: Path, create: bool = False):
        """Open it, or raise `UntrustedError`, or `OSError` where there is none."""
        self.path = path
        self._descriptor: int | None = None
        if create:
            os.makedirs(path, mode=0o700, exist_ok=True)
        try:
            if _HAS_DESCRIPTORS:
                self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _OPEN)
        except OSError:
            _refuse_link(path)
            raise
        if self._descriptor is None:
            _refuse_link(path)
            return
        try:
            _check(os.fstat(self._descriptor), path, _WRITABLE_BY_OTHERS, "go-w")
        except UntrustedError:
            self.close()
            raise

    def __enter__(self) -> "PrivateFolder":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Release the descriptor."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def read(self, name: str, secret: bool = False) -> bytes:
        """The content of a file; one that is `secret` must not be readable by others either."""
        descriptor = os.open(self._at(name), os.O_RDONLY | _OPEN, dir_fd=self._descriptor)
        try:
            status = os.fstat(descriptor)
            if secret:
                _check(status, self.path / name, _ANY_USE_BY_OTHERS, "go=")
            else:
                _check(status, self.path / name, _WRITABLE_BY_OTHERS, "go-w")
            if not stat.S_ISREG(status.st_mode):
                raise UntrustedError(f"{self.path / name} is not a regular file; delete it")
            return _read_all(descriptor, status.st_size)
        finally:
            os.close(descriptor)

    def write(self, name: str, data: bytes, replace: bool = True) -> None:
        """Write a file whole or not at all; where `replace` is false and there is one already, `FileExistsError`."""
        unfinished = UNFINISHED + secrets.token_hex(8)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN
        here = self._descriptor
        descriptor = os.open(self._at(unfinished), flags, 0o600, dir_fd=here)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                if not replace:  # it cannot be made again, so it must outlive a power failure
                    file.flush()
                    os.fsync(file.fileno())
            if replace:
                os.replace(self._at(unfinished), self._at(name), src_dir_fd=here, dst_dir_fd=here)
            else:
                os.link(self._at(unfinished), self._at(name), src_dir_fd=here, dst_dir_fd=here)
                self.remove(unfinished)
        except BaseException:
            with contextlib.suppress(OSError):
                self.remove(unfinished)
            raise

    def touch(self, name: str) -> None:
        """Note that a file was used now."""
        os.utime(self._at(name), dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        """Delete a file."""
        os.unlink(self._at(name), dir_fd=self._descriptor)

    def files(self) -> list[tuple[str, os.stat_result]]:
        """Names and states of the regular files."""
        found = []
        with os.scandir(self.path if self._descriptor is None else self._descriptor) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):  # another process has removed it
                    if entry.is_file(follow_symlinks=False):
                        found.append((entry.name, entry.stat(follow_symlinks=False)))
        return found

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else os.path.join(self.path, name)


def _refuse_link(path: Path) -> None:
    if os.path.islink(path):
        raise UntrustedError(f"{path} is a symbolic link; delete it")


def _check(status: os.stat_result, path: Path, forbidden: int, remedy: str) -> None:
    """Refuse what belongs to another user, or what the `forbidden` bits of its mode open to others."""
    if not hasattr(os, "geteuid"):
        return
    if status.st_uid != os.geteuid():
        raise UntrustedError(f"{path} belongs to user {status.st_uid}, not to you ({os.geteuid()}); delete it")
    if status.st_mode & forbidden:
        mode = stat.S_IMODE(status.st_mode)
        raise UntrustedError(f"{path} is open to other users (mode {mode:o}); delete it, or chmod {remedy} it")


def _read_all(descriptor: int, size: int) -> bytes:
    content = os.read(descriptor, size + 1)
    if len(content) == size:
        return content
    parts = [content]  # a large file may come in parts
    while part := os.read(descriptor, 2**20):
        parts.append(part)
    return b"".join(parts)
