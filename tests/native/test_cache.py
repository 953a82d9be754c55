"""Compiled code on disk: found by the next process, never wrong, never in the way."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hybridsim import native
from hybridsim.native import cache
from hybridsim.native.fingerprint import UnknownPartError, fingerprint
from hybridsim.native.private_folder import PrivateFolder

PROGRAM = """
import sys, jax, numpy as np
jax.config.update("jax_enable_x64", True)
import hybridsim.native.build as build
from hybridsim import native

lowered = []
original = build.lower
build.lower = lambda closed: lowered.append(1) or original(closed)
f = native.jit(lambda x: x.sum() + 1)
x = np.ones(3)
result = float(f(x)), float(jax.jit(f)(x)), float(native.batch(f)(x[None])[0])
(entry,) = f._known.values()
print("from disk" if entry.run.kernel.compiled.from_disk else "compiled", f"lowered {len(lowered)}", *result)
"""


def run_program(folder) -> str:
    environment = {**os.environ, "HYBRIDSIM_CACHE": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_next_process_compiles_and_lowers_nothing(tmp_path):
    assert run_program(tmp_path) == "compiled lowered 2 4.0 4.0 4.0"
    assert run_program(tmp_path) == "from disk lowered 0 4.0 4.0 4.0"


DAMAGES = {
    "torn": lambda content: content[:-7],
    "empty": lambda content: b"",
    "changed": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "of another version": lambda content: b"hybridsim cache 1\n" + content[18:],
    "shorter than its head": lambda content: content[:30],
    "noise": lambda content: bytes(range(256)) * 3,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_as_good_as_none(damage):
    x = np.arange(3.0)
    assert native.jit(lambda x: x.sum())(x) == 3.0
    files = list(cache.cache_folder().iterdir())
    assert len(files) == 2
    for file in files:
        file.write_bytes(DAMAGES[damage](file.read_bytes()))
    assert not kernel_of(lambda x: x.sum(), x).compiled.from_disk
    assert kernel_of(lambda x: x.sum(), x).compiled.from_disk


def kernel_of(f, *args):
    return native.jit(f).lower(*args).kernel


def test_code_under_another_name_is_not_taken():
    cache.write("a" * 64, b"code")
    folder = cache.cache_folder()
    os.rename(folder / ("a" * 64), folder / ("b" * 64))
    assert cache.read("b" * 64) is None


def test_object_code_that_was_removed_is_made_again():
    x = np.arange(3.0)
    kernel_of(lambda x: x * 2, x)
    note, code = sorted(cache.cache_folder().iterdir(), key=lambda file: file.stat().st_size)
    code.unlink()
    assert not kernel_of(lambda x: x * 2, x).compiled.from_disk
    note.unlink()
    assert kernel_of(lambda x: x * 2, x).compiled.from_disk


def unwritable(tmp_path) -> Path:
    folder = tmp_path / "unwritable"
    folder.mkdir(mode=0o500)
    return folder


def a_file(tmp_path) -> Path:
    (tmp_path / "file").write_text("")
    return tmp_path / "file"


def below_a_file(tmp_path) -> Path:
    return a_file(tmp_path) / "below"


@pytest.mark.parametrize("make", [unwritable, a_file, below_a_file])
def test_a_folder_that_cannot_be_used_is_no_error(make, tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRIDSIM_CACHE", str(make(tmp_path)))
    assert native.jit(lambda x: x + 1)(np.ones(())) == 2.0


def test_no_home_folder_is_no_error(monkeypatch):
    monkeypatch.delenv("HYBRIDSIM_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert native.jit(lambda x: x + 1)(np.ones(())) == 2.0


@pytest.mark.parametrize("fails", ["fdopen", "replace"])
def test_a_full_disk_is_no_error_and_leaves_nothing_behind(fails, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    cache.write("b" * 64, b"code")
    with monkeypatch.context() as failing:
        failing.setattr(cache.os, fails, full)
        cache.write("c" * 64, b"code")
    assert cache.read("c" * 64) is None
    assert [file.name for file in cache.cache_folder().iterdir()] == ["b" * 64]


def test_a_folder_that_vanishes_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRIDSIM_CACHE", str(tmp_path / "folder"))
    cache.write("d" * 64, b"code")
    shutil.rmtree(tmp_path / "folder")
    assert cache.read("d" * 64) is None
    cache.write("d" * 64, b"code")
    assert cache.read("d" * 64) == b"code"


WRITER = """
import sys
from hybridsim.native import cache
data = sys.argv[1].encode() * 50_000
for _ in range(150):
    cache.write("e" * 64, data)
    found = cache.read("e" * 64)
    assert found is not None and len(found) == 50_000 and len(set(found)) == 1, "torn"
"""


def test_processes_that_write_at_once_never_see_a_part():
    """Nor do they disagree about the secret, which none of them finds."""
    command = [sys.executable, "-c", WRITER]
    processes = [subprocess.Popen([*command, letter], stderr=subprocess.PIPE, text=True) for letter in "abcd"]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert [file.name for file in cache.cache_folder().iterdir()] == ["e" * 64]


def make_files(folder: Path, files: dict[str, tuple[float, int]]) -> None:
    """Files of these ages [s] and sizes."""
    now = time.time()
    for name, (age, size) in files.items():
        (folder / name).write_bytes(bytes(size))
        os.utime(folder / name, (now - age, now - age))


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_was_not_used_for_long_is_removed(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o700)
    code = {letter * 64: (age, 100) for age, letter in enumerate("abcd")}
    make_files(folder, {**code, ".new-old": (2 * 86400, 0), ".new-recent": (60, 0)})
    with PrivateFolder(folder) as opened:
        cache.clean(opened, 400)
        assert names_in(folder) == {*code, ".new-recent"}
        cache.clean(opened, 300)
    assert names_in(folder) == {"a" * 64, ".new-recent"}


def test_files_of_the_user_are_neither_counted_nor_removed(tmp_path, monkeypatch):
    """In the folder that the user names, and in the cache's own too."""
    monkeypatch.setenv("HYBRIDSIM_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "LIMIT", 100_000)
    cache.write("a" * 64, b"code")
    own = {"thesis.txt": (1e6, 10), "video.mp4": (1e6, 200_000), "B" * 64: (1e6, 10), "b" * 63: (1e6, 10)}
    own["c" * 64 + ".bak"] = (1e6, 10)
    for folder in (tmp_path, cache.cache_folder()):
        make_files(folder, own)
    (cache.cache_folder() / ("d" * 64)).mkdir()
    (cache.cache_folder() / ("e" * 64)).symlink_to(tmp_path / "thesis.txt")
    assert native.jit(lambda x: x + 1)(np.ones(())) == 2.0
    assert names_in(tmp_path) >= {*own}
    assert names_in(cache.cache_folder()) >= {*own, "a" * 64, "d" * 64, "e" * 64}


@pytest.mark.parametrize("word", ["off", "OFF", "0", "none", "no", "False"])
def test_the_cache_can_be_turned_off(word, tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRIDSIM_CACHE", word)
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert not kernel_of(lambda x: x + 1, np.ones(())).compiled.from_disk
    assert names_in(tmp_path) == set()


def test_reading_is_use():
    cache.write("f" * 64, b"code")
    file = cache.cache_folder() / ("f" * 64)
    os.utime(file, (0, 0))
    cache.read("f" * 64)
    assert file.stat().st_mtime > 1e9


def print_of(f, *args) -> str:
    return fingerprint(jax.make_jaxpr(f)(*args))


def looping(factor, length):
    return lambda x: jax.lax.scan(lambda c, _: (c * factor, c.sum()), x, None, length=length)


X = np.arange(3.0)


def test_equal_programs_have_equal_fingerprints():
    for make in (
        lambda: looping(2.0, 3),
        lambda: lambda x: jax.nn.relu(x) @ np.eye(3),
        lambda: jax.grad(jax.nn.logsumexp),
    ):
        assert print_of(make(), X) == print_of(make(), X)


DIFFERENT = {
    "literals": (lambda x: x * 2.0, lambda x: x * 3.0),
    "signs of zero": (lambda x: x / 0.0, lambda x: x / -0.0),
    "constants": (lambda x: x * np.arange(3.0), lambda x: x * np.array([0.0, 1.0, 2.5])),
    "shapes of constants": (lambda x: x + np.zeros((1, 3)), lambda x: x + np.zeros((3, 1))),
    "bodies of loops": (looping(2.0, 3), looping(2.5, 3)),
    "lengths of loops": (looping(2.0, 3), looping(2.0, 4)),
    "primitives": (jnp.sin, jnp.cos),
    "order of arguments": (lambda x: x - 2 * x, lambda x: 2 * x - x),
    "order of results": (lambda x: (x + 1, x + 2), lambda x: (x + 2, x + 1)),
    "parameters": (lambda x: jnp.cumsum(x), lambda x: jax.lax.cumsum(x, reverse=True)),
    "indices": (lambda x: x[0], lambda x: x[1]),
    "types": (lambda x: x.astype(jnp.int32), lambda x: x.astype(jnp.int64)),
    "branches": (
        lambda x: jax.lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
        lambda x: jax.lax.cond(x[0] > 0, jnp.cos, jnp.sin, x),
    ),
    "native functions within": (native.jit(lambda x: x + 1), native.jit(lambda x: x + 2)),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_programs_have_different_fingerprints(name):
    f, g = DIFFERENT[name]
    assert print_of(f, X) != print_of(g, X)


def test_types_of_arguments_are_part_of_the_fingerprint():
    assert print_of(lambda x: x, X) != print_of(lambda x: x, X.astype(np.float32))
    assert print_of(lambda x: x, X) != print_of(lambda x: x, X[None])


def test_what_cannot_be_compared_is_compiled_without_a_fingerprint():
    def f(x):
        jax.debug.callback(print, x)
        return x

    with pytest.raises(UnknownPartError):
        print_of(f, X)
