"""Run the property tests with one fresh seed after the other until the time is up: python tests/fuzz.py MINUTES.

Most of the time goes to random programs of the native compiler, against XLA and in guarded memory. What fails is
printed with the command that repeats it, its full output is kept in out/fuzz, and Hypothesis remembers the example in
.hypothesis, so that plain pytest fails with it too until it is mended.
"""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "out" / "fuzz"

JOBS = {
    "programs against XLA": ["tests/native/test_random_programs.py", "-m", "hypothesis and slow"],
    "programs in guarded memory": ["tests/native/test_memory.py", "-m", "slow"],
    "all other property tests": ["tests", "-m", "hypothesis and not slow", "--ignore=tests/native"],
}
"""Arguments of pytest. Each job takes minutes; so a short run gets no further than the first."""

PATIENCE = 60.0
"""Seconds for a job to end after it was asked to."""


def run(job: str, seed: int, seconds: float, counter: Path) -> int | None:
    """Exit code of a job, or None if the time was up before it ended."""
    log = LOGS / f"{seed} {job}.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command(job, seed),
            cwd=ROOT,
            env={**os.environ, "HYBRIDSIM_FUZZ_COUNT": str(counter)},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that it can be interrupted with all that it has started
        )
        try:
            code = process.wait(max(seconds, 0.0))
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as why:
            end(process)
            if isinstance(why, KeyboardInterrupt):
                raise
            code = None
    if not code:
        log.unlink()
    return code


def end(process: subprocess.Popen) -> None:
    """Interrupt a job, and kill it if it does not listen."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def command(job: str, seed: int) -> list[str]:
    return [sys.executable, "-m", "pytest", "-n", "0", "-x", f"--hypothesis-seed={seed}", *JOBS[job]]


def repeat(job: str, seed: int) -> str:
    """The command for a shell."""
    return " ".join(f'"{part}"' if " " in part else part for part in command(job, seed))


def main(minutes: float) -> int:
    deadline = time.monotonic() + 60 * minutes
    LOGS.mkdir(parents=True, exist_ok=True)
    seeds, failures = [], []
    with tempfile.TemporaryDirectory() as folder:
        counter = Path(folder) / "count"
        counter.touch()
        try:
            while time.monotonic() < deadline:
                seeds.append(secrets.randbelow(2**32))
                for job in JOBS:
                    before = counter.stat().st_size
                    code = run(job, seeds[-1], deadline - time.monotonic(), counter)
                    how = "out of time" if code is None else "FAILED" if code else "passed"
                    programs = counter.stat().st_size - before
                    say(f"seed {seeds[-1]}: {job}: {how}" + (f", {programs} programs" if programs else ""))
                    if code:
                        failures.append(repeat(job, seeds[-1]))
                        say(f"  repeat with: {failures[-1]}\n  output in {LOGS}")
                    if time.monotonic() >= deadline:
                        break
        except KeyboardInterrupt:
            say("stopped")
        total = counter.stat().st_size
    say(f"{total} random programs with {len(seeds)} seeds ({', '.join(map(str, seeds))}), {len(failures)} failures")
    for line in failures:
        say(f"  {line}")
    return 1 if failures else 0


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
