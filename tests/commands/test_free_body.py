"""A brick that is tossed, on the command line: from a URDF and poses alone to friction, restitution and errors in mm and deg."""

import json

import numpy as np
import pytest

from data.log.tosses import URDF, toss, written
from hybridsim.cli import main
from hybridsim.commands.outcome import show_outcome
from hybridsim.commands.runs import read_summary


@pytest.fixture
def brick(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "brick.urdf").write_text(URDF)
    for seed in range(2):
        written(tmp_path / f"run{seed}.csv", toss(seed + 1, 0.4)[0])
    return tmp_path


def test_init_says_that_it_floats_and_on_what(brick, capsys):
    assert main(["init", "brick.urdf", "run0.csv", "run1.csv"]) == 0
    out = capsys.readouterr().out
    assert "The root link floats: the logs hold its pose." in out
    assert "The logs show a floor at a height of 400." in out
    assert 'base = "free"' in (brick / "fit.toml").read_text()


def test_an_order_that_nothing_tells(brick, capsys):
    written(brick / "flight.csv", toss(1, 0.4)[0][:15], "t,x,y,z,q0,q1,q2,q3")
    assert main(["init", "brick.urdf", "flight.csv"]) == 2
    assert "--quaternion wxyz" in capsys.readouterr().err
    assert main(["init", "brick.urdf", "flight.csv", "--quaternion", "xyzw"]) == 0
    assert '"root.position.qw" = "q3"' in (brick / "fit.toml").read_text()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda q: q * [1, 1, 1, 3, 3, 3, 3], "of length 3"),
        (lambda q: q * [1, 1, 1, 0, 0, 0, 0], "(0, 0, 0, 0), of length 0"),
    ],
)
def test_quaternions_that_are_none(brick, capsys, change, words):
    written(brick / "bad.csv", change(toss(1, 0.4)[0]))
    assert main(["init", "brick.urdf", "bad.csv"]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "bad.csv, row 2" in said
    assert "'qw', 'qx', 'qy', 'qz'" in said


def test_three_numbers_are_no_rotation(brick, capsys):
    written(brick / "three.csv", toss(1, 0.4)[0][:, :6], "t,x,y,z,qx,qy,qz", range(6))
    assert main(["init", "brick.urdf", "three.csv"]) == 2
    assert "none for root.position.qw" in capsys.readouterr().err


def test_simulate_tells_errors_in_mm_and_deg(brick, capsys):
    assert main(["simulate", "brick.urdf", "--log", "run0.csv", "--seconds", "0.3"]) == 0
    shown = capsys.readouterr()
    assert "shows a floor at a height of 400." in shown.err
    assert "error of root.position:" in shown.out
    assert "mm" in shown.out
    assert "error of root.rotation:" in shown.out
    assert "deg" in shown.out
    assert main(["simulate", "brick.urdf", "--log", "run0.csv", "--seconds", "0.3", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["unit"]) for row in record["errors"]] == [
        ("root.position", "m"),
        ("root.rotation", "rad"),
    ]


@pytest.mark.slow
def test_the_whole_chain(brick, capsys):
    rng = np.random.default_rng(0)
    for seed in range(8):
        q = toss(seed, 0.4)[0]
        q[:, :3] += 2e-4 * rng.normal(size=(len(q), 3))
        written(brick / f"run{seed}.csv", q)
    runs = [f"run{seed}.csv" for seed in range(8)]
    assert main(["fit", "brick.urdf", *runs, "--out", "out"]) == 0
    summary = read_summary(brick / "out")
    assert summary["units"] == ["m", "rad"]
    assert "unit" not in summary
    before, after = (stage["errors"] for stage in summary["stages"][:2])
    assert after["m"]["median"] < before["m"]["median"]
    found = {p["name"].rsplit("/", 1)[-1]: p["value"] for p in summary["parameters"]}
    assert found["friction"] == pytest.approx(0.3, abs=0.06)
    assert found["restitution"] == pytest.approx(0.2, abs=0.12)
    capsys.readouterr()
    show_outcome(summary | {"report": "out/report.html"})
    out = capsys.readouterr().out
    assert "median [mm]" in out
    assert "median [deg]" in out
    page = (brick / "out" / "report.html").read_text()
    assert " mm and " in page
    assert " deg" in page
    assert main(["compare", "out", "out"]) == 0
    out = capsys.readouterr().out
    assert "[mm]" in out
    assert "[deg]" in out
