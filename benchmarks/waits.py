"""How long a user waits for the command line: from the start of the process to its end."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tables import Target, at_most, table

QUICK = 0.3
"""Longest acceptable time of an import, of help and of an answer to wrong input [s]."""
COMMANDS = {
    "import hybridsim": (["-c", "import hybridsim"], 0),
    "import jax": (["-c", "import jax"], 0),
    "hybridsim --help": (["-m", "hybridsim", "--help"], 0),
    "hybridsim fit --help": (["-m", "hybridsim", "fit", "--help"], 0),
    "hybridsim --version": (["-m", "hybridsim", "--version"], 0),
    "hybridsim completion bash": (["-m", "hybridsim", "completion", "bash"], 0),
    "hybridsim simulat": (["-m", "hybridsim", "simulat"], 2),
}
"""Arguments of Python, and the exit code."""
RIVALS = ("import jax",)


@dataclass(frozen=True)
class Process:
    """Medians over several processes [s]."""

    wall: float
    processor: float


def run(repeats: int) -> dict[str, Process]:
    """The short commands in turn, so that a busy machine slows all of them down; then the demo's fit, cold and warm."""
    found: dict[str, list[Process]] = {name: [] for name in COMMANDS}
    for _ in range(repeats + 1):  # the first reads files from the disk
        for name, (arguments, code) in COMMANDS.items():
            found[name].append(_process(arguments, code))
    fits = _fits(max(2, repeats // 2))
    shorts = {name: _middle(processes[1:]) for name, processes in found.items()}
    return shorts | {
        "hybridsim fit of the demo, nothing compiled yet": fits[0],
        "hybridsim fit of the demo, again": _middle(fits[1:]),
    }


def section(waits: dict[str, Process]) -> list[str]:
    rows = [[f"`{name}`", f"{p.wall:.2f}", f"{p.processor:.2f}"] for name, p in waits.items()]
    return ["## Waiting for the command line", table(["whole process [s]", "wall", "processor"], rows)]


def targets(waits: dict[str, Process]) -> list[Target]:
    return [at_most(f"`{name}`", waits[name].processor, QUICK) for name in COMMANDS if name not in RIVALS]


def _fits(repeats: int) -> list[Process]:
    """The first with an empty folder of compiled code."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"HYBRIDSIM_CACHE": str(Path(folder) / "cache")}
        make = "from pathlib import Path; from hybridsim.commands.demo import copy_demo; copy_demo(Path('.'))"
        _process(["-c", make], 0, folder)
        names = sorted(str(path.relative_to(folder)) for path in Path(folder, "logs").glob("run*.csv"))
        _process(["-m", "hybridsim", "init", "two_link_arm.urdf", *names], 0, folder, {"HYBRIDSIM_CACHE": folder})
        fit = ["-m", "hybridsim", "fit", "fit.toml", "--force"]
        return [_process(fit, 0, folder, environment) for _ in range(1 + repeats)]


def _process(arguments: list[str], code: int, folder: str = ".", environment: dict[str, str] | None = None) -> Process:
    before, begin = _processor_time(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=os.environ | (environment or {}), capture_output=True, text=True
    )
    wall = time.perf_counter() - begin
    if done.returncode != code:
        raise RuntimeError(f"{' '.join(arguments)} ended with code {done.returncode}: {done.stderr}")
    return Process(wall, _processor_time() - before)


def _processor_time() -> float:
    """Of all processes that were started here and have ended [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _middle(processes: list[Process]) -> Process:
    return Process(median(p.wall for p in processes), median(p.processor for p in processes))
