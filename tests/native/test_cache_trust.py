"""Machine code is taken from disk only if this user put it there."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hybridsim import native
from hybridsim.native import cache, private_folder
from hybridsim.native import compile as compiling

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")

KEY = "a" * 64
CODE = b"code"


@pytest.fixture(autouse=True)
def new_process(monkeypatch):
    """What a process remembers is forgotten."""
    monkeypatch.setattr(cache, "_warned", set())
    cache._secret_in.cache_clear()
    yield
    cache._secret_in.cache_clear()


@pytest.fixture
def folder() -> Path:
    """The cache, with one file in it."""
    cache.write(KEY, CODE)
    assert cache.read(KEY) == CODE
    folder = cache.cache_folder()
    assert folder is not None
    return folder


def secret_file() -> Path:
    return cache._own_folder() / cache.SECRET


def assert_refused(*words: str) -> None:
    """Nothing is read, with one warning, and computing goes on."""
    cache._secret_in.cache_clear()
    with pytest.warns(UserWarning, match="compiled code is not kept on disk") as caught:
        assert cache.read(KEY) is None
    (warning,) = caught
    for word in words:
        assert word in str(warning.message)
    # From here on another warning would be an error.
    assert cache.read(KEY) is None
    assert native.jit(lambda x: x + 1)(np.ones(())) == 2.0


def test_files_are_private(folder):
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / KEY).stat().st_mode) == 0o600
    assert stat.S_IMODE(secret_file().stat().st_mode) == 0o600
    assert secret_file().parent != folder


def test_the_secret_is_kept_from_process_to_process(folder):
    secret = secret_file().read_bytes()
    assert len(secret) == 32
    program = "import sys; from hybridsim.native import cache; print(cache.read(sys.argv[1]))"
    found = subprocess.run([sys.executable, "-c", program, KEY], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(CODE)
    assert secret_file().read_bytes() == secret


def test_code_without_the_secret_is_not_taken(folder):
    """What an attacker can make: a right checksum, with a secret of his own."""
    secret_file().unlink()
    cache._secret_in.cache_clear()
    assert cache.read(KEY) is None
    cache.write(KEY, CODE)
    assert cache.read(KEY) == CODE


def test_a_folder_that_brings_its_own_secret_is_not_believed(folder, monkeypatch, tmp_path):
    (folder / cache.SECRET).write_bytes(secret_file().read_bytes())
    (folder / cache.SECRET).chmod(0o600)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "somebody else"))
    cache._secret_in.cache_clear()
    assert cache.read(KEY) is None


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_can_write_is_not_used(mode, folder):
    folder.chmod(mode)
    before = set(folder.iterdir())
    assert_refused(str(folder), f"mode {mode:o}")
    assert set(folder.iterdir()) == before


def test_a_file_that_others_can_write_is_not_read(folder):
    (folder / KEY).chmod(0o666)
    assert_refused(str(folder / KEY), "mode 666")


def test_another_users_folder_is_not_used(folder, monkeypatch):
    me = os.geteuid()
    monkeypatch.setattr(private_folder.os, "geteuid", lambda: me + 1)
    monkeypatch.setattr(cache, "cache_folder", lambda: folder)
    assert_refused(f"belongs to user {me}, not to you ({me + 1})")


needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")


@needs_root
@pytest.mark.parametrize("which", ["folder", "file", "secret"])
def test_what_another_user_owns_is_not_used(which, folder):
    path = {"folder": folder, "file": folder / KEY, "secret": secret_file()}[which]
    os.chown(path, 12345, -1)
    assert_refused(str(path), "belongs to user 12345")


def test_a_link_in_place_of_the_folder_is_not_followed(folder, tmp_path):
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert_refused(str(folder), "symbolic link")


def test_a_link_above_the_folder_is_followed(folder, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(folder.parent)
    monkeypatch.setenv("HYBRIDSIM_CACHE", str(tmp_path / "link"))
    assert cache.read(KEY) == CODE


def a_pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


def a_folder(path: Path) -> None:
    path.mkdir(mode=0o700)


@pytest.mark.parametrize("make", [a_pipe, a_folder])
def test_only_regular_files_are_read(make: Callable[[Path], None], folder):
    """A pipe that nobody writes to would be waited for for ever."""
    (folder / KEY).unlink()
    make(folder / KEY)
    assert_refused(str(folder / KEY), "not a regular file")


def test_links_to_files_are_not_followed(folder):
    (folder / KEY).rename(folder.parent / "target")
    (folder / KEY).symlink_to(folder.parent / "target")
    assert cache.read(KEY) is None
    cache.write(KEY, CODE)
    assert cache.read(KEY) == CODE
    assert not (folder / KEY).is_symlink()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o622])
def test_a_secret_that_others_know_is_none(mode, folder):
    secret_file().chmod(mode)
    assert_refused(str(secret_file()), f"mode {mode:o}")


@pytest.mark.parametrize("content", [b"", bytes(31), bytes(33)])
def test_a_secret_of_another_length_is_none(content, folder):
    secret_file().write_bytes(content)
    assert_refused(str(secret_file()), f"has {len(content)} bytes instead of 32")


@pytest.mark.parametrize("make", [a_pipe, a_folder])
def test_a_secret_is_a_regular_file(make, folder):
    secret_file().unlink()
    make(secret_file())
    assert_refused(str(secret_file()), "not a regular file")


def test_a_link_to_a_secret_is_not_followed(folder):
    secret_file().rename(secret_file().parent / "target")
    secret_file().symlink_to("target")
    assert_refused("no secret to check it with", "XDG_CACHE_HOME")


def test_where_no_secret_can_be_kept_the_named_folder_is_not_used(folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert_refused("no secret to check it with", "XDG_CACHE_HOME")


def test_a_cache_that_does_not_exist_is_not_made_without_a_secret(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert_refused("no secret to check it with")
    assert not any(tmp_path.rglob(KEY))


def test_without_owners_and_descriptors_it_works_by_paths(monkeypatch):
    """As on Windows."""
    monkeypatch.delattr(os, "geteuid")
    monkeypatch.setattr(private_folder, "_HAS_DESCRIPTORS", False)
    cache.write(KEY, CODE)
    assert cache.read(KEY) == CODE
    folder = cache.cache_folder()
    assert folder is not None
    assert [file.name for file in folder.iterdir()] == [KEY]
    with private_folder.PrivateFolder(folder) as opened:
        cache.clean(opened, 0)
    assert cache.read(KEY) is None
    a_folder(folder / KEY)
    assert_refused("not a regular file")


def test_a_tilde_is_the_users_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HYBRIDSIM_CACHE", "~/compiled")
    folder = cache.cache_folder()
    assert folder is not None
    assert folder.parent == tmp_path / "compiled"


def test_a_relative_name_of_the_users_cache_is_ignored(monkeypatch):
    """As the XDG specification says; a project's folder must not bring the secret."""
    monkeypatch.delenv("HYBRIDSIM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", ".cache")
    monkeypatch.setattr(Path, "home", lambda: Path("/home/somebody"))
    assert cache.cache_folder() == Path("/home/somebody/.cache/hybridsim/native")


def test_object_code_without_the_function_is_compiled_anew(folder):
    """Never called at address 0."""
    text = "define void @first() {\n  ret void\n}"
    compiling.compile_text(text, "first")
    key = compiling.object_key(text, 2)
    assert compiling.load(key, "first") is not None
    assert compiling.load(key, "second") is None
