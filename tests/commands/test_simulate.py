"""`hybridsim simulate`: the motion is that of `hs.rollout`, can be read back, and is compared with a log."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import hybridsim as hs
import hybridsim.identify
from hybridsim.cli import main
from hybridsim.commands.logs import read_log_for
from hybridsim.identify.apparatus import perfect

from .summaries import summary_of

PENDULUM = """<mujoco><option timestep=".01"/><worldbody><body>
<joint name="hinge" axis="0 1 0" damping=".1"/><geom type="sphere" size=".1" pos="0 0 -1" contype="0"/></body></worldbody>
<actuator><motor name="motor" joint="hinge" gear="20"/></actuator></mujoco>"""


@pytest.fixture
def pendulum(tmp_path):
    path = tmp_path / "pendulum.xml"
    path.write_text(PENDULUM)
    return path


def simulated(*arguments, capsys) -> dict:
    assert main(["simulate", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_pendulum_from_rest_swings_as_it_should(pendulum, tmp_path, capsys):
    """Small swings of a ball on a rod: cos(w t) with w^2 = g l m / (m l^2 + I), damped by half of d / (m l^2 + I)."""
    model = hs.load(pendulum)
    mass, inertia = float(model.links.mass[0]), float(model.links.mass[0]) * (1 + 0.4 * 0.1**2)
    rate, fading = np.sqrt(9.81 * mass / inertia), 0.05 / inertia
    out = tmp_path / "motion.csv"
    record = simulated(pendulum, "--q", "-0.01", "--seconds", "1", "--dt", "0.005", "--out", out, capsys=capsys)
    assert (record["seconds"], record["steps"], record["out"]) == (1.0, 200, str(out))
    (hinge,) = record["positions"]
    assert hinge["name"] == "hinge.position"
    assert hinge["start"] == hinge["lowest"] == -0.01
    damped = np.sqrt(rate**2 - fading**2)
    expected = -0.01 * np.exp(-fading) * (np.cos(damped) + fading / damped * np.sin(damped))
    assert hinge["end"] == pytest.approx(expected, abs=2e-6)
    log = hs.read_log(out, model)
    assert len(log) == 201
    assert log.q[-1, 0] == pytest.approx(hinge["end"], rel=1e-9)


def test_along_its_own_motion_the_error_is_zero_and_the_controls_are_kept(pendulum, tmp_path, capsys):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    time = 0.01 * np.arange(51)
    table = np.column_stack([time, np.sin(time), np.cos(time), 3 * np.cos(5 * time)])
    header = "time,hinge.position,hinge.velocity,motor.command"
    np.savetxt(first, table, "%.15g", ",", header=header, comments="")
    (far,) = simulated(pendulum, "--log", first, "--out", second, capsys=capsys)["positions"]
    assert far["error_largest"] > 0.1
    assert second.read_text().splitlines()[0] == header
    (near,) = simulated(pendulum, "--log", second, capsys=capsys)["positions"]
    assert near["error_rms"] <= near["error_largest"] < 1e-9
    assert near["end"] == pytest.approx(far["end"], rel=1e-9)
    assert main(["simulate", str(pendulum), "--log", str(second)]) == 0
    printed = capsys.readouterr().out
    assert "0.5 s in 50 steps of 0.01 s" in printed
    assert "error, rms" in printed


def test_the_model_of_a_run_gets_controls_as_the_run_found_them(pendulum, tmp_path, monkeypatch):
    model, run, file = hs.load(pendulum), tmp_path / "run", tmp_path / "log.csv"
    (run / "fits" / "explained").mkdir(parents=True)
    (run / "summary.json").write_text(json.dumps(summary_of(best="explained")))
    (run / "fit.toml").write_text(
        '[model]\nfile = "x"\n[logs]\ntraining = ["y"]\ncolumns = { "hinge.position" = "a", "motor.command" = "u" }\n'
        '[fit]\nfree = ["link/*/mass"]'
    )
    time = 0.01 * np.arange(50)
    np.savetxt(file, np.column_stack([time, np.sin(9 * time), time]), delimiter=",", header="time,a,u", comments="")
    found = replace(perfect(model, 1), delay=np.array(0.02), control_gain=np.array([2.0]), control_bias=np.array([0.5]))
    monkeypatch.setattr(hybridsim.identify, "load_fit", lambda folder: SimpleNamespace(apparatus=found))
    log = read_log_for(run, model, file)
    assert not log.controls_mask[1, 0]
    np.testing.assert_allclose(log.controls[5:, 0], 2 * (time[5:] - 0.02) + 0.5, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--q", "1", "2"], "--q has 2 numbers, but the model has 1: hinge.position"),
        (["--q", "nan"], "must be finite"),
        (["--q", "1", "--log", "a.csv"], "give one of them"),
        (["--seconds", "-1"], "both must be positive"),
        (["--dt", "1e-9"], "2000000000 steps"),
        (["--log", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_wrong_input_is_one_sentence(arguments, said, pendulum, capsys):
    assert main(["simulate", str(pendulum), *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert said in captured.err
