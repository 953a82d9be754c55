"""Property tests explore: a fresh seed in every run, which the run prints and which repeats it."""

import os
import re
import shutil
import subprocess
import sys

TEST = """
import os
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st


@pytest.mark.parametrize("part", [0, 1])
@settings(max_examples=20)
@given(number=st.integers(0, 10**9))
def test_numbers(part, number):
    with (Path(os.environ["DRAWN"]) / str(part)).open("a") as file:
        print(number, file=file)
"""


def drawn(tmp_path, repository, name: str, *options: str) -> tuple[str, dict[str, str]]:
    """The seed that a run prints, and what its property tests drew."""
    (tmp_path / "test_it.py").write_text(TEST)
    shutil.copy(repository / "tests/conftest.py", tmp_path)
    (tmp_path / name).mkdir()
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", str(tmp_path / "test_it.py")],
        # Where CI is set, Hypothesis would draw the same numbers in every run.
        env={**os.environ, "DRAWN": str(tmp_path / name), "CI": "true"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    (seed,) = re.findall(r"^property tests: seed (\d+); .*--hypothesis-seed=\1$", result.stdout, re.MULTILINE)
    return seed, {file.name: file.read_text() for file in (tmp_path / name).iterdir()}


def test_every_run_draws_other_examples_and_its_seed_draws_them_again(tmp_path, repository):
    seed, first = drawn(tmp_path, repository, "first", "-n", "2")
    other_seed, other = drawn(tmp_path, repository, "other", "-n", "0")
    again_seed, again = drawn(tmp_path, repository, "again", "-n", "0", f"--hypothesis-seed={seed}")
    assert seed == again_seed != other_seed
    assert first == again != other
    assert first["0"] == first["1"]  # in two workers
