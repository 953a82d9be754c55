"""`hybridsim bench`: times that agree with each other."""

import json

import pytest

from hybridsim.cli import main
from hybridsim.view import bench

BALL = "<mujoco><worldbody><body><joint/><geom size='.1' pos='0 0 1'/></body></worldbody></mujoco>"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(bench, "ROUNDS", 3)
    monkeypatch.setattr(bench, "ROUND_SECONDS", 0.002)


@pytest.mark.slow
def test_speeds_beside_mujoco(tmp_path, capsys, monkeypatch):
    file = tmp_path / "ball.xml"
    file.write_text(BALL)
    monkeypatch.setenv("HYBRIDSIM_CACHE", str(tmp_path / "cache"))
    assert main(["bench", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert 0 < found["step_seconds"] < found["gradient_seconds"] < found["compile_gradient_seconds"]
    assert found["times_mujoco"] == pytest.approx(found["mujoco_step_seconds"] / found["step_seconds"], rel=0.5)
    assert found["contact"] is False
    # It compiles anew whatever is on disk, and puts nothing there.
    assert not (tmp_path / "cache").exists()


def test_speeds_for_people(capsys):
    speeds = {"steps": 100, "dt": 1e-3, "contact": True, "compile_seconds": 0.5, "compile_gradient_seconds": 1.5}
    speeds |= {"step_seconds": 2e-6, "gradient_seconds": 8e-6, "mujoco_step_seconds": 1e-5, "times_mujoco": 5.0}
    bench.show_speeds(speeds | {"mujoco_problem": None}, "a [b]")
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    assert ["step", "2", "us", "500,000", "0.50", "s"] in rows
    assert ["step", "of", "MuJoCo", "10", "us", "100,000"] in rows
    assert "5 times as fast as MuJoCo's step, one thread; with contact" in printed
    assert "a [b]" in printed
    absent = {"mujoco_step_seconds": None, "times_mujoco": None, "mujoco_problem": "mesh not found"}
    bench.show_speeds(speeds | absent, "robot")
    printed = capsys.readouterr().out
    assert "MuJoCo: mesh not found;" in printed
    assert "step of MuJoCo" not in printed
