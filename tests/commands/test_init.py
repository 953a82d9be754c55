"""`hybridsim init`: a configuration is written, shown, and never lost."""

import tomllib

import pytest

import hybridsim.calibrate
from hybridsim import cli
from hybridsim.cli import main

from .conftest import write_swing


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_init_writes_a_configuration_and_says_what_comes_next(swing, arm_file, capsys):
    assert main(["init", str(arm_file), "swing.csv"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0] == "columns:"
    assert "shoulder.position  shoulder_pos" in captured.out
    assert captured.out.splitlines()[-1] == "now: hybridsim fit fit.toml"
    assert tomllib.loads((swing.parent / "fit.toml").read_text())["logs"]["training"] == ["swing.csv"]


def test_init_replaces_a_file_only_by_force(swing, arm_file, capsys, monkeypatch):
    monkeypatch.setattr(hybridsim.calibrate, "propose", _PROPOSAL)
    kept = swing.parent / "mine.toml"
    kept.write_text("mine")
    command = ["init", str(arm_file), "swing.csv", "--out", "mine.toml"]
    assert main(command) == 2
    assert capsys.readouterr().err == (
        "hybridsim: mine.toml exists already; give --force to replace it, or another name by --out\n"
    )
    assert kept.read_text() == "mine"
    assert main([*command, "--force"]) == 0
    assert "arm.urdf" in kept.read_text()


def _PROPOSAL(model, logs, base, folder, joints, quaternion) -> str:
    return f"""
[model]
file = "arm.urdf"
base = "fixed"
[logs]
training = ["{logs[0]}"]
[logs.columns]
"elbow.position" = "?"
"elbow.velocity" = "none"
[fit]
free = ["link/*/mass"]
"""


def test_init_names_the_columns_that_are_missing(swing, arm_file, capsys, monkeypatch):
    monkeypatch.setattr(hybridsim.calibrate, "propose", _PROPOSAL)
    assert main(["init", str(arm_file), "swing.csv"]) == 0
    printed = capsys.readouterr().out
    assert "elbow.position  not recognised" in printed
    assert "elbow.velocity  not measured" in printed
    assert "Written: fit.toml; name the column of elbow.position in it." in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.urdf", "swing.csv"], "there is no file nowhere.urdf; check the path"),
        (["ARM", "nowhere.csv"], "there is no file nowhere.csv; check the path"),
        (["ARM", "."], ". is a folder; name files, such as ./*.csv"),
        (["ARM"], "needs logs of its motion"),
        (["ARM", "ARM"], "looks like a robot, not like a log"),
        (["fit.toml", "swing.csv"], "fit.toml is a configuration; `hybridsim fit fit.toml` runs it"),
        (["ARM", "swing.csv", "--out", "."], ". is a folder; name a file by --out"),
        (["ARM", "swing.csv", "--out", "/proc/none/fit.toml"], "/proc/none"),
        (["swing.csv", "swing.csv"], "swing.csv"),
        (["ARM", "nan.csv"], "nan.csv"),
    ],
)
def test_wrong_files_are_one_sentence(arguments, said, swing, arm_file, capsys):
    table = swing.read_text().splitlines()
    (swing.parent / "nan.csv").write_text("\n".join([table[0], *(f"{i},nan,nan,0,0,0,0" for i in range(50))]))
    assert main(["init", *(str(arm_file) if word == "ARM" else word for word in arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err
    assert not (swing.parent / "fit.toml").exists()


def test_joints_that_do_not_match_are_left_to_the_user(tmp_path, arm_file, capsys):
    write_swing(tmp_path / "other.csv", position="temperature")
    assert main(["init", str(arm_file), "other.csv"]) == 0
    assert "shoulder.position  not recognised" in capsys.readouterr().out


def test_units_are_told_in_the_words_of_the_file(capsys):
    cli._say("elbow.position reaches 90: if it is in degrees, units={'position': 'deg'}")
    cli._say("time cannot be in deg; give units={'time': 's'} or so")
    said = capsys.readouterr().err.splitlines()
    assert said[0].endswith('if it is in degrees, write position = "deg" under [logs.units] in fit.toml')
    assert said[1].endswith('; write time = "s" under [logs.units] in fit.toml or so')
