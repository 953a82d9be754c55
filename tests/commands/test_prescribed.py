"""A column of the log drives a joint: `init`, `fit` and `simulate` with prescribed joints."""

import json

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate import config_of, propose
from hybridsim.cli import main
from hybridsim.commands.runs import read_summary

CART = """<mujoco><worldbody><body name="cart">
  <joint name="rail" type="slide" axis="1 0 0"/><geom type="box" size=".1 .1 .1" mass="2" contype="0" conaffinity="0"/>
  <body name="bob"><joint name="hinge" axis="0 -1 0" damping="DAMPING"/>
    <geom type="sphere" size=".03" pos="0 0 -.5" mass=".7" contype="0" conaffinity="0"/></body></body></worldbody></mujoco>"""
TRUE, WRONG = 0.05, 0.25


def written(tmp_path, phase: float):
    """A log of the true pendulum, of positions alone."""
    dt, fine = 5e-3, 10
    truth = tmp_path / "truth.xml"
    truth.write_text(CART.replace("DAMPING", str(TRUE)))
    model = hs.prescribed(hs.load(truth), "rail")
    t = dt / fine * np.arange(400 * fine + 1)
    x = 0.2 * np.sin(3 * t + phase) + 0.1 * np.sin(7 * t)
    motion = hs.prescribed_motion(model, t, {"rail": x}, dt=dt / fine)
    run = hs.native.jit(lambda m, s, c: hs.rollout(m, s, c, dt=dt / fine, contact=None, integrator=hs.RungeKutta4()).q)
    q = run(model, motion.start(model, (np.array([0.0, 0.4]), np.zeros(2))), hs.Control(prescribed=motion.steps))
    path = tmp_path / f"phase{phase:g}.csv"
    table = np.column_stack([t, np.asarray(q)])[::fine]
    np.savetxt(path, table, "%.12g", ",", header="time,rail.position,hinge.position", comments="")
    return path


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cart")
    robot = folder / "cart.xml"
    robot.write_text(CART.replace("DAMPING", str(WRONG)))
    return robot, [written(folder, phase) for phase in (0.0, 1.0)]


def test_init_says_that_the_key_exists_and_writes_it_where_asked(bench, tmp_path):
    robot, logs = bench
    plain = propose(robot, logs, folder=tmp_path)
    assert '# prescribed = ["pusher"]' in plain
    assert config_of(plain, tmp_path).prescribed == ()
    assert "link/cart/mass" in plain
    out = tmp_path / "fit.toml"
    assert main(["init", str(robot), *map(str, logs), "--out", str(out), "--prescribed", "rail"]) == 0
    text = out.read_text()
    assert config_of(text, tmp_path).prescribed == ("rail",)
    # Nothing that cannot matter is proposed.
    assert "link/cart/mass" not in text
    assert "joint/rail" not in text


def test_fit_is_driven_by_the_column_and_judges_the_rest(bench, tmp_path, capsys):
    robot, logs = bench
    config = tmp_path / "fit.toml"
    config.write_text(
        f"""[model]
file = "{robot}"
prescribed = ["rail"]
[logs]
training = ["{logs[0]}"]
held_out = ["{logs[1]}"]
[fit]
window = 0.5
free = ["joint/hinge/damping"]
[discover]
effects = ["friction"]
[network]
train = false
"""
    )
    out = tmp_path / "run"
    assert main(["fit", str(config), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    summary = read_summary(out)
    (damping,) = [p for p in summary["parameters"] if p["name"] == "joint/hinge/damping"]
    assert damping["value"] == pytest.approx(TRUE, rel=0.02)
    assert not any("rail" in f["where"] for f in summary["findings"])
    errors = {stage["name"]: stage["median"] for stage in summary["stages"]}
    assert errors["calibrated"] < 0.05 * errors["original"]
    assert "nan" not in shown.lower()
    again = hs.load_hybrid(out / "model.hybrid")
    assert again.prescribed_names == ("rail",)
    assert main(["simulate", str(out), "--log", str(logs[1]), "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["positions"]}
    assert "error_rms" not in rows["rail.position"]
    assert rows["hinge.position"]["error_rms"] < 0.02


def test_simulate_marks_joints_of_any_file(bench, tmp_path, capsys):
    robot, logs = bench
    arguments = ["simulate", str(robot), "--log", str(logs[0]), "--prescribed", "rail", "--json"]
    assert main([*arguments, "--out", str(tmp_path / "motion.csv")]) == 0
    capsys.readouterr()
    motion, log = (hs.read_log(path, hs.load(robot)) for path in (tmp_path / "motion.csv", logs[0]))
    assert np.allclose(motion.q[:, 0], log.q[:, 0], atol=1e-9)
    assert (
        main(["simulate", str(robot), "--q", "0.3", "0.5", "--seconds", "0.1", "--prescribed", "rail", "--json"]) == 0
    )
    rail = json.loads(capsys.readouterr().out)["positions"][0]
    assert rail["lowest"] == rail["highest"] == 0.3


def test_what_is_wrong_is_told_with_the_key(bench, tmp_path, capsys):
    robot, logs = bench
    text = f'[model]\nfile = "{robot}"\nprescribed = PUT\n[logs]\ntraining = ["{logs[0]}"]\n[fit]\nfree = ["link/bob/mass"]\n'
    with pytest.raises(hs.DataError, match=r"an entry of model.prescribed is 3; it must be a text"):
        config_of(text.replace("PUT", "[3]"), tmp_path)
    config = tmp_path / "fit.toml"
    config.write_text(text.replace("PUT", '["tip"]'))
    assert main(["fit", str(config), "--out", str(tmp_path / "run")]) != 0
    assert "no joint matches 'tip'; those that can move are: rail, hinge" in " ".join(capsys.readouterr().err.split())
    jumping = tmp_path / "jump.csv"
    lines = logs[0].read_text().splitlines()
    for k in range(200, len(lines)):
        t, x, angle = lines[k].split(",")
        lines[k] = f"{t},{float(x) + 0.5},{angle}"
    jumping.write_text("\n".join(lines))
    config.write_text(text.replace("PUT", '["rail"]').replace(str(logs[0]), str(jumping)))
    assert main(["fit", str(config), "--out", str(tmp_path / "other")]) != 0
    assert "prescribed joint 'rail' jumps between t = 0.99 s and 0.995 s" in " ".join(capsys.readouterr().err.split())
