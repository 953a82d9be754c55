"""info and names take whatever describes a model, and JSON for programs."""

import json

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.cli import main

from .summaries import summary_of


@pytest.fixture
def run(tmp_path, arm_file):
    """The folder of a run."""
    folder = tmp_path / "run"
    folder.mkdir()
    hs.save_hybrid(hs.load(arm_file), folder / "model.hybrid")
    (folder / "summary.json").write_text(json.dumps(summary_of()))
    return folder


def test_files_hybrids_and_runs_are_models(run, arm_file, capsys):
    printed = []
    for source in (arm_file, run / "model.hybrid", run):
        assert main(["info", str(source), "--json"]) == 0
        record = json.loads(capsys.readouterr().out)
        assert record.pop("model") == str(source)
        printed.append(record)
        assert main(["info", str(source)]) == 0
        assert str(source) in capsys.readouterr().out
    assert printed[0] == printed[1] == printed[2]


def test_names_of_a_run(run, arm_file, capsys):
    assert main(["names", str(run), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["variables"]
    assert [variable["name"] for variable in found] == [mark.name for mark in hs.names(hs.load(arm_file))]


def test_info_as_json_has_the_numbers_of_the_file(arm_file, capsys):
    assert main(["info", str(arm_file), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    arm = hs.load(arm_file)
    assert (record["nq"], record["nv"], record["nu"], record["networks"]) == (2, 2, 0, False)
    joints = {joint["name"]: joint for joint in record["joints"]}
    assert joints["elbow"]["parent"] == "upper_arm"
    assert joints["elbow"]["child"] == "forearm"
    assert joints["shoulder"]["lower"] == [-3.05]
    assert [link["mass"] for link in record["links"]] == np.asarray(arm.links.mass).tolist()


def test_info_as_json_has_no_infinities(tmp_path, capsys):
    file = tmp_path / "ball.xml"
    file.write_text("<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody></mujoco>")
    assert main(["info", str(file), "--json"]) == 0
    text = capsys.readouterr().out
    assert "Infinity" not in text
    assert json.loads(text)["joints"][0]["upper"] == [None]


def test_what_is_no_model(tmp_path, run, capsys):
    for source, word in (
        (tmp_path, "is a folder"),
        (tmp_path / "no.hybrid", "no such file"),
        (tmp_path / "a\nb", "a b"),
    ):
        assert main(["info", str(source)]) == 2
        captured = capsys.readouterr()
        assert captured.err.count("\n") == 1
        assert word in captured.err
    assert main(["info", str(run), "--free"]) == 2
    assert "--free is for URDF" in capsys.readouterr().err
    (run / "model.hybrid").unlink()
    assert main(["info", str(run)]) == 2
    assert "the run has no" in capsys.readouterr().err
