"""How commands end: wrong input, a mistake of ours, Ctrl-C, a full disk, a pipe that nobody reads; and warnings."""

import errno
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import hybridsim.commands.info
from hybridsim import DataWarning
from hybridsim.cli import main
from hybridsim.commands.files import write_text


@pytest.fixture
def failing(monkeypatch):
    """`hybridsim info x` ends with this error."""

    def fail_with(problem: BaseException) -> int:
        def read_model(*_):
            raise problem

        monkeypatch.setattr(hybridsim.commands.info, "read_model", read_model)
        return main(["info", "x"])

    return fail_with


@pytest.mark.parametrize(
    ("problem", "code", "said"),
    [
        (ValueError("the number is\n  7; give 8"), 2, "hybridsim: the number is 7; give 8\n"),
        (FloatingPointError("it diverged"), 2, "hybridsim: it diverged\n"),
        (OSError(errno.ENOSPC, "No space left on device", "a.csv"), 2, "hybridsim: a.csv: No space left on device\n"),
        (OSError(errno.ENOSPC, "No space left"), 2, "hybridsim: cannot read or write: No space left\n"),
        (MemoryError(), 2, "hybridsim: there is not enough memory for this\n"),
        (KeyboardInterrupt(), 130, "hybridsim: interrupted\n"),
    ],
)
def test_each_kind_of_error_has_a_code_and_one_sentence(problem, code, said, failing, capsys):
    assert failing(problem) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == said


def test_a_mistake_of_ours_asks_to_be_reported(failing, capsys, monkeypatch):
    assert failing(TypeError("no such thing")) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "TypeError: no such thing" in said
    assert "please report it" in said
    assert "HYBRIDSIM_DEBUG=1" in said
    monkeypatch.setenv("HYBRIDSIM_DEBUG", "1")
    assert failing(TypeError("no such thing")) == 1
    assert "Traceback" in capsys.readouterr().err


def test_equal_warnings_are_said_once(monkeypatch, capsys, arm_file):
    read_model = hybridsim.commands.info.read_model

    def warn_and_read(*arguments):
        for text in ("torn", "torn", "worn\nout"):
            warnings.warn(text, DataWarning, stacklevel=2)
        return read_model(*arguments)

    monkeypatch.setattr(hybridsim.commands.info, "read_model", warn_and_read)
    assert main(["info", str(arm_file)]) == 0
    assert capsys.readouterr().err == "hybridsim: warning: torn\nhybridsim: warning: worn out\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("arguments", [["info"], ["info", "--json"], ["--help"]])
def test_a_pipe_that_nobody_reads_is_quiet(arguments, arm_file, monkeypatch, capsys):
    reading, writing = os.pipe()
    os.close(reading)
    monkeypatch.setattr(sys, "stdout", os.fdopen(writing, "w"))
    assert main([*arguments[:1], str(arm_file), *arguments[1:]] if "info" in arguments else arguments) == 141
    assert capsys.readouterr().err == ""
    sys.stdout.close()  # what is left in its buffer makes no noise either


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_pipe_that_nobody_reads_ends_the_process_quietly(arm_file):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "hybridsim", "info", str(arm_file)]
    run = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (run.returncode, run.stderr) == (141, "")


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="/dev/full is of Linux")
def test_a_full_disk_is_one_sentence(arm_file, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", FULL.open("w"))
    assert main(["info", str(arm_file)]) == 2
    assert capsys.readouterr().err == "hybridsim: cannot read or write: No space left on device\n"
    sys.stdout.close()
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_text(FULL, "text")


def test_a_good_file_survives_a_disk_that_fills_up(tmp_path, monkeypatch):
    path = tmp_path / "good.csv"
    path.write_text("good")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_text(path, "something longer")
    assert caught.value.filename == str(path)
    assert path.read_text() == "good"
    assert [inside.name for inside in tmp_path.iterdir()] == ["good.csv"]


def test_writing_makes_folders_and_replaces_files_behind_links(tmp_path):
    path, link = tmp_path / "new" / "a.txt", tmp_path / "link"
    link.symlink_to(path)
    write_text(path, "one")
    write_text(link, "two")
    assert path.read_text() == "two"
    assert link.is_symlink()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write_text(tmp_path, "three")
