"""`hybridsim compare`: what differs between two runs."""

import json

import pytest

from hybridsim.cli import main

from .summaries import parameter, stage, summary_of


@pytest.fixture
def runs(tmp_path):
    """Two runs: the second found another friction, has one stage less, and knows the forearm's mass differently."""
    other = summary_of(
        stages=[stage("original", "as in the file", 0.2, 0.4), stage("calibrated", "calibrated", 0.025, 0.03)],
        findings=[{"effect": "drag", "where": "elbow", "gain": 0.1, "words": "the elbow drags"}],
        parameters=[
            parameter("link/forearm/mass", 1.6, 0.01),
            parameter("link/upper_arm/mass", 2.9, 0.5),
            parameter("joint/elbow/damping", 9.0, 0.1, unit="N m s/rad"),
            parameter("control/delay", 0.01, 0.001, unit="s"),
        ],
    )
    folders = []
    for name, record in (("a", summary_of()), ("b", other)):
        folders.append(tmp_path / name)
        folders[-1].mkdir()
        (folders[-1] / "summary.json").write_text(json.dumps(record))
    return folders


def test_differences_as_json(runs, capsys):
    assert main(["compare", *map(str, runs), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["a"], found["b"], found["comparable"]) == (*map(str, runs), True)
    assert [(s["name"], s["median_a"], s["median_b"]) for s in found["stages"]] == [
        ("original", 0.2, 0.2),
        ("calibrated", 0.05, 0.025),
        ("explained", 0.004, None),
    ]
    assert found["findings"]["both"] == []
    assert found["findings"]["only_b"] == ["the elbow drags"]
    # 1.5 +- 0.02 and 1.6 +- 0.02 are apart; 2 +- 1 and 2.9 +- 1 meet; an interval without ends meets all.
    assert {p["name"]: p["differs"] for p in found["parameters"]} == {
        "link/forearm/mass": True,
        "link/upper_arm/mass": False,
        "joint/elbow/damping": False,
        "control/delay": False,
    }
    assert found["parameters"][3]["a"] is None


def test_differences_for_people(runs, capsys):
    assert main(["compare", *map(str, runs)]) == 0
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    assert ["calibrated", "2.86", "1.43", "0.5", "5.16", "1.72"] in rows
    assert ["link/forearm/mass", "1.500", "1.480", "to", "1.520", "1.600", "1.580", "to", "1.620", "kg"] in rows
    assert "1 of the 3 parameters that both have differ" in printed
    assert f"only {runs[1]}: the elbow drags" in printed
    assert f"Only {runs[1]} has control/delay." in printed


def test_other_horizons_cannot_be_compared(runs, capsys):
    (runs[1] / "summary.json").write_text(json.dumps(summary_of(window=2.0)))
    assert main(["compare", *map(str, runs)]) == 0
    assert "cannot be compared" in capsys.readouterr().out


def test_what_is_no_run_is_one_sentence(runs, tmp_path, capsys):
    for content, said in (
        (None, "is no finished run"),
        ("{", "is damaged"),
        ("{}", "has no stages, findings, parameters"),
    ):
        if content is None:
            (runs[1] / "summary.json").unlink()
        else:
            (runs[1] / "summary.json").write_text(content)
        assert main(["compare", *map(str, runs)]) == 2
        captured = capsys.readouterr()
        assert captured.err.count("\n") == 1
        assert said in captured.err
    assert main(["compare", str(runs[0]), "nowhere"]) == 2
    assert "there is no folder nowhere" in capsys.readouterr().err
