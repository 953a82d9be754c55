"""Compiled code touches no memory but its own, whatever indices it is given."""

import os
import signal
import subprocess
import sys

import pytest


def in_guarded_memory(*arguments: str) -> subprocess.CompletedProcess:
    """`native.guarded` in a process of its own, which may be ended by what it does."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "JAX_ENABLE_X64": "1"}
    command = [sys.executable, "-m", "native.guarded", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("how", ["overrun", "overread"])
def test_the_guard_works(how):
    result = in_guarded_memory(how)
    assert "nothing happened" not in result.stdout
    assert result.returncode in (-signal.SIGSEGV, -signal.SIGBUS), result.stderr


@pytest.mark.parametrize(
    ("count", "largest"), [(25, 6), pytest.param(400, 10, marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_random_programs_stay_within_their_memory(pytestconfig, count, largest):
    result = in_guarded_memory(str(pytestconfig.option.hypothesis_seed), str(count), str(largest))
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    assert result.stdout.endswith("programs\n")
