"""Ctrl-C and SIGTERM, sent to a real `hybridsim fit` at many moments of its run: it ends soon, with the exit code that shells
expect and one sentence, and the run can be resumed to the same result."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="asks Linux which signals a process handles"
)
SOON, AT_ONCE = 2.0, 0.2
"""Seconds until the process has to be gone, after the first Ctrl-C and after the second."""
QUICK = (0.0, 0.15, 0.35, 0.55, 0.75, 0.9)
EVERY = tuple(k / 31 for k in range(30))
"""When the signal is sent, as parts of the processor time of an undisturbed run: a busy machine does not change it much."""


@dataclass(frozen=True)
class Run:
    """An undisturbed run of the demonstration, after which all that is compiled is in the cache."""

    command: list[str]
    seconds: float
    """Of processor time."""
    summary: dict


@pytest.fixture(scope="module")
def run(tmp_path_factory, repository) -> Run:
    folder = tmp_path_factory.mktemp("undisturbed")
    assets = repository / "src/hybridsim/assets"
    command = [sys.executable, "-m", "hybridsim", "fit", str(assets / "two_link_arm.urdf")]
    command += sorted(map(str, (assets / "demo").glob("run*.csv")))
    subprocess.run([*command, "--out", str(folder / "cold")], check=True, capture_output=True)
    before = os.times()
    subprocess.run([*command, "--out", str(folder / "warm")], check=True, capture_output=True)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return Run(command, seconds, summary(folder / "warm"))


@dataclass(frozen=True)
class Ended:
    code: int
    seconds: float
    """From the (last) signal to the end of the process."""
    said: str


def started(command: list[str], **options) -> subprocess.Popen:
    """The process, once it handles SIGTERM, which Python by itself does not."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, text=True, **pipes | options)
    while process.poll() is None and not handles_sigterm(process.pid):
        time.sleep(0.001)
    return process


def handles_sigterm(process: int) -> bool:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    caught = next(line for line in lines if line.startswith("SigCgt:")).split()[1]
    return bool(int(caught, 16) & 1 << signal.SIGTERM - 1)


def processor_time(process: int) -> float:
    """Seconds that it has used, all threads together."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(run: Run, folder: Path, part: float, *signals: signal.Signals) -> Ended:
    """Start it, and send these signals, 0.05 s apart, when it has done so much. If it was quicker than that, do it again."""
    process = started([*run.command, "--out", str(folder)])
    while process.poll() is None and processor_time(process.pid) < part * run.seconds:
        time.sleep(0.002)
    if process.poll() is not None:
        _, said = process.communicate()
        assert process.returncode == 0, said
        shutil.rmtree(folder)
        return interrupted(run, folder, 0.9 * part, *signals)
    sent = time.monotonic()
    for k, number in enumerate(signals):
        time.sleep(0.05 if k else 0.0)
        sent = time.monotonic()
        process.send_signal(number)
    _, said = process.communicate(timeout=60)
    return Ended(process.returncode, time.monotonic() - sent, said)


def summary(folder: Path) -> dict:
    """What a run found, without times."""
    found = json.loads((folder / "summary.json").read_text())
    return {name: value for name, value in found.items() if name != "seconds"}


def assert_says_one_sentence(said: str, word: str = "interrupted") -> None:
    assert said.splitlines()[-1].startswith(f"hybridsim: {word}")
    assert said.count(f"hybridsim: {word}") == 1
    assert "Traceback" not in said
    assert "Exception ignored" not in said


def assert_goes_on(run: Run, folder: Path) -> None:
    """To the result of the undisturbed run, bit for bit."""
    again = ["--resume"] if folder.is_dir() and any(folder.iterdir()) else []
    ended = subprocess.run([*run.command, "--out", str(folder), *again], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert summary(folder) == run.summary
    assert (folder / "report.html").is_file()
    assert not [path for path in folder.rglob(".*") if path.is_file()], "drafts are left behind"


@pytest.mark.parametrize("part", QUICK)
def test_ctrl_c_ends_a_fit_within_two_seconds(part, run, tmp_path):
    ended = interrupted(run, tmp_path / "run", part, signal.SIGINT)
    assert ended.code == 130
    assert_says_one_sentence(ended.said)
    assert ended.seconds < SOON
    if part == QUICK[-2]:
        assert_goes_on(run, tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize("part", EVERY)
def test_after_ctrl_c_at_any_time_the_run_can_be_resumed(part, run, tmp_path):
    ended = interrupted(run, tmp_path / "run", part, signal.SIGINT)
    sys.stdout.write(
        f"Ctrl-C after {part * run.seconds:.2f} s of work: exit code {ended.code} in {ended.seconds:.2f} s\n"
    )
    assert ended.code == 130
    assert_says_one_sentence(ended.said)
    assert ended.seconds < SOON
    assert_goes_on(run, tmp_path / "run")


@pytest.mark.parametrize("part", [0.45, *(pytest.param(k / 10, marks=pytest.mark.slow) for k in range(10))])
def test_a_second_ctrl_c_ends_it_at_once(part, run, tmp_path):
    ended = interrupted(run, tmp_path / "run", part, signal.SIGINT, signal.SIGINT)
    assert ended.code == 130
    assert_says_one_sentence(ended.said)
    assert ended.seconds < AT_ONCE


@pytest.mark.parametrize("part", [0.5, *(pytest.param(k / 5, marks=pytest.mark.slow) for k in range(5))])
def test_sigterm_ends_it_like_ctrl_c(part, run, tmp_path):
    ended = interrupted(run, tmp_path / "run", part, signal.SIGTERM)
    assert ended.code == 143
    assert_says_one_sentence(ended.said, "terminated")
    assert ended.seconds < SOON


def test_a_signal_that_is_ignored_stays_ignored(run, tmp_path):
    """As after nohup, or in the background of a script."""
    command = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *run.command, "--out", str(tmp_path / "run")]
    process = started(command)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert_says_one_sentence(said, "terminated")


def test_a_reader_that_does_not_read_does_not_prevent_the_end(run, tmp_path):
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writing, bytes(1024))
    os.set_blocking(writing, True)
    process = started([*run.command, "--out", str(tmp_path / "run")], stdout=writing, stderr=writing)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert time.monotonic() - sent < SOON
    os.close(reading)
    os.close(writing)
