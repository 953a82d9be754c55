"""The programs in examples/ run and reach what they promise."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hybridsim.data import PUBLISHED_CUBE, CubeToss

ROOT = Path(__file__).resolve().parents[2]
NEED_DATA = {"cube_tosses.py"}
EXAMPLES = [
    pytest.param(path, marks=pytest.mark.real_data if path.name in NEED_DATA else (), id=path.name)
    for path in sorted((ROOT / "examples").glob("*.py"))
]


def main_of(name: str):
    return runpy.run_path(str(ROOT / "examples" / name))["main"]


def test_identify_arm_finds_the_parameters():
    true, found = main_of("identify_arm.py")()
    np.testing.assert_allclose(found, true, rtol=0.02)


@pytest.mark.slow
def test_throw_improves():
    before, after = main_of("throw.py")(iterations=20)
    assert after > before + 2.0


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.usefixtures("real_data")
def test_cube_tosses_are_foretold(capsys):
    """By MuJoCo as its own numbers say, by ours at least as well, and springs better after the fit than before."""
    rows = {row.name: row for row in main_of("cube_tosses.py")(count=60)}
    assert "60 tosses" in capsys.readouterr().out
    position = {name: np.median(row.position) for name, row in rows.items()}
    assert position["a cube that never moves"] > 200
    assert 20 < position["MuJoCo, pyramidal cone"] < 35
    assert 8 < position["MuJoCo, elliptic cone"] < 16
    assert 7 < np.median(rows["MuJoCo, elliptic cone"].rotation) < 13
    assert position["HybridSim, impulses"] < 13
    assert position["HybridSim, impulses, fitted"] < 13
    assert position["HybridSim, springs, fitted"] < 0.8 * position["HybridSim, springs"]


def test_cube_tosses_without_data_say_what_to_do(monkeypatch):
    monkeypatch.delenv("HYBRIDSIM_DATA", raising=False)
    with pytest.raises(SystemExit, match="HYBRIDSIM_DATA"):
        main_of("cube_tosses.py")()


def test_cube_tosses_errors_of_a_known_difference():
    example = runpy.run_path(str(ROOT / "examples" / "cube_tosses.py"))
    time, still = np.arange(5.0), np.zeros((5, 3))
    toss = CubeToss("made", time, still, np.tile([1.0, 0, 0, 0], (5, 1)), still, still)
    angle = np.deg2rad(30.0)
    turned = np.tile([-np.cos(angle / 2), 0, -np.sin(angle / 2), 0], (5, 1))  # -q is the same orientation as q
    moved = np.tile([0.0, 0.3 * PUBLISHED_CUBE.edge, 0.4 * PUBLISHED_CUBE.edge], (5, 1))
    np.testing.assert_allclose(example["errors"]((moved, turned), toss), (50.0, 30.0), rtol=1e-9)
    fitted, held_out = example["split"]([toss] * 449)
    assert (len(fitted), len(held_out)) == (50, 399)


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_example_runs_as_a_program(example, tmp_path, request):
    if example.name in NEED_DATA:
        request.getfixturevalue("real_data")  # skips where there is none
    run = subprocess.run([sys.executable, "-W", "error", str(example)], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout
