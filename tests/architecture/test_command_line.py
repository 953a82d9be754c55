"""The command `hybridsim`: good input, and broken input in one sentence."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.cli import main
from hybridsim.view.swing import START, STEP_SIZES, frictionless_arm


@pytest.mark.slow
def test_swing_prints_a_table_and_writes_a_picture(tmp_path, capsys):
    assert main(["experiment", "swing", "--quick", "--out", str(tmp_path / "new")]) == 0
    printed = capsys.readouterr().out
    rows = re.findall(r"^ *(semi-implicit Euler|Runge-Kutta 4) +(\S+) ms +(\S+)", printed, flags=re.MULTILINE)
    drift = {(method, float(step) / 1e3): float(error) for method, step, error in rows}
    coarse, fine = STEP_SIZES
    euler, rk4 = ((drift[name, coarse], drift[name, fine]) for name in ("semi-implicit Euler", "Runge-Kutta 4"))
    assert 2.5 < euler[0] / euler[1] < 6, "first order: a quarter of the step, a quarter of the error"
    assert rk4[0] / rk4[1] > 100, "fourth order: a quarter of the step, 1/256 of the error"
    assert rk4[1] < 1e-9
    picture = tmp_path / "new" / "two_link_arm.png"
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_swinging_arm_stays_within_its_limits():
    arm = frictionless_arm()
    motion = hs.rollout(
        arm, (np.array(START), np.zeros(2)), dt=2e-3, steps=4000, integrator=hs.RungeKutta4(), contact=None
    )
    assert (motion.q > arm.joints.lower).all()
    assert (motion.q < arm.joints.upper).all()


def test_info_shows_joints_links_and_numbers(arm_file, capsys):
    assert main(["info", str(arm_file)]) == 0
    printed = capsys.readouterr().out
    for word in ("shoulder", "revolute", "-3.05 to 3.05", "forearm", "1.47", "10.55 kg", "nq 2"):
        assert word in printed


def test_info_of_a_free_root(arm_file, capsys):
    assert main(["info", str(arm_file), "--free"]) == 0
    assert "nq 9" in capsys.readouterr().out


def test_names_lists_the_variables_of_a_step(arm_file, capsys):
    assert main(["names", str(arm_file)]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 120
    rows = re.findall(r"^ *(\d+) .*?([a-z]+\.[a-z_]+) +(\S+(?: x \d+)?) ", printed, flags=re.MULTILINE)
    assert [int(number) for number, _, _ in rows] == list(range(1, len(rows) + 1))
    shapes = {name: shape for _, name, shape in rows}
    assert shapes == {mark.name: " x ".join(map(str, mark.shape)) or "1" for mark in hs.names(hs.load(arm_file))}
    assert shapes["link.pose"] == "4 x 7"
    assert re.search(r"link\.pose .*read ", printed)
    assert re.search(r"joint\.force .*N m or N +change +total", printed)
    assert printed.rstrip().splitlines()[-1].startswith("A network at a variable may depend on everything above it")


def test_names_of_a_free_root_and_of_springs(tmp_path, arm_file, capsys):
    assert main(["names", str(arm_file), "--free"]) == 0
    assert re.search(r"joint\.position +9 ", capsys.readouterr().out)
    ball = tmp_path / "ball.xml"
    ball.write_text(
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 1'><freejoint/>"
        "<geom type='sphere' size='.1'/></body></worldbody></mujoco>"
    )
    for options, there, absent in (([], "impulse", "stiffness"), (["--springs"], "stiffness", "impulse")):
        assert main(["names", str(ball), *options]) == 0
        printed = capsys.readouterr().out
        assert f"contact.{there} " in printed
        assert f"contact.{absent} " not in printed


def test_names_as_json(arm_file, capsys):
    assert main(["names", str(arm_file), "--json"]) == 0
    variables = json.loads(capsys.readouterr().out)["variables"]
    marks = hs.names(hs.load(arm_file))
    assert [v["name"] for v in variables] == [mark.name for mark in marks]
    for i, (found, mark) in enumerate(zip(variables, marks, strict=True)):
        assert found["order"] == i + 1
        assert found["inputs"] == list(mark.inputs)
        assert found["shape"] == list(mark.shape)
        assert found["changes"] == mark.changes
        for field in ("unit", "axis", "kind", "stage", "text"):
            assert found[field] == getattr(mark.variable, field)


BROKEN = {
    "missing.urdf": None,
    "empty.urdf": "",
    "cut.urdf": "<robot name='r'><link name='a'>",
    "other.xml": "<sdf/>",
    "massless.urdf": (
        "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='revolute'><parent link='a'/>"
        "<child link='b'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>"
    ),
}


@pytest.mark.parametrize("command", ["info", "names"])
@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_give_one_sentence_and_exit_code_2(name, command, tmp_path, capsys):
    path = tmp_path / name
    if BROKEN[name] is not None:
        path.write_text(BROKEN[name])
    assert main([command, str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert name in captured.err
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err


def test_a_folder_that_cannot_be_made_is_one_sentence_too(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["experiment", "discovery", "--quick", "--out", str(tmp_path / "file" / "below")]) == 2
    assert re.fullmatch(r"hybridsim: .*file.*\n", capsys.readouterr().err)


def test_the_module_runs_as_the_command(arm_file):
    run = subprocess.run([sys.executable, "-m", "hybridsim", "info", str(arm_file)], capture_output=True, text=True)
    assert run.returncode == 0
    assert "elbow" in run.stdout
