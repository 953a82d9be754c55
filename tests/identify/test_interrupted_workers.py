"""Processes end with the program that started them: when Ctrl-C goes to all of them, and when it is killed.

Run as a program, this file is that program: `python test_interrupted_workers.py FOLDER`.
"""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from hybridsim.identify.executors import processes, run_all

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="asks Linux which processes there are")


def never_ends(folder: Path, task: int) -> None:
    (folder / f"{os.getpid()}").touch()
    time.sleep(600)


def runs(process: Path) -> bool:
    try:
        return Path("/proc", process.name, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_their_program(number, tmp_path):
    program = subprocess.Popen(
        [sys.executable, __file__, str(tmp_path)], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while len(workers := list(tmp_path.iterdir())) < 2:
        assert program.poll() is None
        time.sleep(0.01)
    if number == signal.SIGINT:
        os.killpg(program.pid, number)  # as a terminal does
    else:
        program.kill()
    _, said = program.communicate(timeout=30)
    assert program.returncode == (130 if number == signal.SIGINT else -number)
    assert "Traceback" not in said
    end = time.monotonic() + 5
    while any(map(runs, workers)):
        assert time.monotonic() < end, "a worker goes on without its program"
        time.sleep(0.01)


@pytest.mark.slow
def test_ctrl_c_while_processes_start_is_quiet(tmp_path):
    """Before they have imported anything that would tell them to leave it to the program."""
    for delay in (0.05, 0.1, 0.2, 0.4):
        started = tmp_path / f"started {delay}"
        command = [sys.executable, __file__, str(tmp_path), str(started)]
        program = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        while not started.exists():
            time.sleep(0.005)
        time.sleep(delay)
        os.killpg(program.pid, signal.SIGINT)
        _, said = program.communicate(timeout=30)
        assert (program.returncode, "Traceback" in said) == (130, False), said


if __name__ == "__main__":
    try:
        with processes(2) as pool:
            if len(sys.argv) > 2:
                Path(sys.argv[2]).touch()
            run_all(pool, partial(never_ends, Path(sys.argv[1])), range(2))
    except KeyboardInterrupt:
        sys.exit(130)
