"""The programs in examples/ run and reach what they promise."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def main_of(name: str):
    return runpy.run_path(str(ROOT / "examples" / name))["main"]


def test_identify_arm_finds_the_parameters():
    true, found = main_of("identify_arm.py")()
    np.testing.assert_allclose(found, true, rtol=0.02)


def test_throw_improves():
    before, after = main_of("throw.py")(iterations=20)
    assert after > before + 2.0


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example_runs_as_a_program(example, tmp_path):
    run = subprocess.run([sys.executable, "-W", "error", str(example)], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout
