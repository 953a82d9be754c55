"""A first fit.toml: columns guessed and shown, runs split, paths as seen from its folder."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from hybridsim.calibrate import config_of, propose
from hybridsim.calibrate.load import bench_of
from hybridsim.data import DataError

from .arms import driven, swinging, write_log


def renamed(path: Path, **names: str) -> Path:
    """The log of `swinging` with other names of columns."""
    write_log(path, swinging())
    head, rest = path.read_text().split("\n", 1)
    path.write_text(",".join(names.get(name, name) for name in head.split(",")) + "\n" + rest)
    return path


def columns_of(text: str) -> dict[str, str]:
    return tomllib.loads(text)["logs"]["columns"]


def line_of(text: str, begin: str) -> str:
    (line,) = (line for line in text.splitlines() if line.startswith(begin))
    return line


def test_columns_are_guessed(tmp_path, arm_file):
    text = propose(arm_file, [renamed(tmp_path / "a.csv")], folder=tmp_path)
    assert columns_of(text) == {
        "shoulder.position": "shoulder_position",
        "elbow.position": "elbow_position",
        "shoulder.velocity": "shoulder_velocity",
        "elbow.velocity": "elbow_velocity",
        "shoulder.force": "shoulder_torque",
        "elbow.force": "elbow_torque",
    }


def test_what_was_measured_comes_before_what_was_filtered(tmp_path, arm_file):
    """A filter delays. The other one is named beside the choice."""
    log = renamed(tmp_path / "a.csv", shoulder_position="shoulder_position_filtered")
    head, *rows = log.read_text().splitlines()
    rows = [f"{row},{k / 100}" for k, row in enumerate(rows)]
    log.write_text("\n".join([f"{head},shoulder_position_measured", *rows, ""]))
    text = propose(arm_file, [log], folder=tmp_path)
    assert columns_of(text)["shoulder.position"] == "shoulder_position_measured"
    assert line_of(text, '"shoulder.position"').endswith("# or 'shoulder_position_filtered'")
    (read,) = bench_of(config_of(text.replace("held_out_part", "# held_out_part"), tmp_path)).training
    np.testing.assert_array_equal(read.q[:, 0], np.arange(401) / 100)


def test_a_column_that_is_not_known_is_a_question(tmp_path, arm_file):
    text = propose(arm_file, [renamed(tmp_path / "a.csv", elbow_position="encoder_x")], folder=tmp_path)
    assert columns_of(text)["elbow.position"] == "?"
    said = line_of(text, '"elbow.position"')
    assert "PUT ONE HERE: shoulder_position, encoder_x," in said
    assert '"none" if it was not measured' in said
    with pytest.raises(DataError, match=r"which column is elbow.position"):
        bench_of(config_of(text, tmp_path))


def test_quantities_that_were_not_measured_are_not_named(tmp_path, arm_file):
    log = write_log(tmp_path / "a.csv", swinging(), ("position",))
    assert sorted(columns_of(propose(arm_file, [log], folder=tmp_path))) == ["elbow.position", "shoulder.position"]


@pytest.mark.parametrize(("count", "held_out"), [(1, 0), (2, 1), (4, 1), (8, 2)])
def test_the_last_quarter_is_held_out(count, held_out, tmp_path, arm_file):
    log = write_log(tmp_path / "run0.csv", swinging(), ("position",))
    logs = [log] + [tmp_path / f"run{k}.csv" for k in range(1, count)]
    for path in logs[1:]:
        path.write_text(log.read_text())
    text = propose(arm_file, logs, folder=tmp_path)
    config = config_of(text, tmp_path)
    assert [path.name for path in config.training] == [path.name for path in logs[: count - held_out]]
    assert [path.name for path in config.held_out] == [path.name for path in logs[count - held_out :]]
    assert config.held_out_part == (0.25 if count == 1 else 0.0)


def test_the_end_of_a_single_recording_is_held_out(tmp_path, arm_file):
    log = write_log(tmp_path / "a.csv", swinging())
    bench = bench_of(config_of(propose(arm_file, [log], folder=tmp_path), tmp_path))
    (seen,), (unseen,) = bench.training, bench.held_out
    assert (seen.run, unseen.run) == ("a", "a (end)")
    assert len(seen) + len(unseen) == 401
    assert len(unseen) == pytest.approx(100, abs=2)
    np.testing.assert_allclose(unseen.q[-1], swinging().q[-1])


def test_the_delay_that_the_logs_show_is_said(tmp_path, arm_model, arm_file):
    late = driven(arm_model, 3.0, dt=5e-3, delay=0.03)
    text = propose(arm_file, [write_log(tmp_path / "a.csv", late)], folder=tmp_path)
    assert "s; the logs look like 30 ms" in line_of(text, "longest_delay")
    assert config_of(text, tmp_path).longest_delay == pytest.approx(0.075, abs=0.005)


def test_no_delay_is_guessed_without_controls(tmp_path, arm_file):
    log = write_log(tmp_path / "a.csv", swinging(), ("position",))
    text = propose(arm_file, [log], folder=tmp_path)
    assert line_of(text, "longest_delay") == "longest_delay = 0.05  # s; the logs alone do not show how long it is"


def test_paths_are_those_seen_from_the_folder(tmp_path, arm_file):
    (tmp_path / "robots").mkdir()
    (tmp_path / "runs").mkdir()
    arm = tmp_path / "robots" / "arm.urdf"
    arm.write_text(arm_file.read_text())
    log = write_log(tmp_path / "runs" / "a.csv", swinging(), ("position",))
    given = tomllib.loads(propose(arm, [log], folder=tmp_path))
    assert given["model"]["file"] == "robots/arm.urdf"
    assert given["logs"]["training"] == ["runs/a.csv"]
    beside = tomllib.loads(propose(arm, [log], folder=tmp_path / "runs"))
    assert beside["model"]["file"] == "../robots/arm.urdf"
    deep = tmp_path / "x" / "y" / "z"
    far = tomllib.loads(propose(arm, [log], folder=deep))
    assert far["model"]["file"] == arm.resolve().as_posix()


def test_paths_are_those_seen_from_here_if_nothing_is_said(tmp_path, arm_file, monkeypatch):
    write_log(tmp_path / "a.csv", swinging(), ("position",))
    monkeypatch.chdir(tmp_path)
    assert tomllib.loads(propose(arm_file, [Path("a.csv")]))["logs"]["training"] == ["a.csv"]


@pytest.mark.parametrize(
    "name", ["two words.csv", 'a "quoted" one.csv', "back\\slash.csv", "Grüße #1.csv", "tab\there.csv"]
)
def test_files_may_be_called_anything(name, tmp_path, arm_file):
    log = write_log(tmp_path / name, swinging(), ("position",))
    config = config_of(propose(arm_file, [log], folder=tmp_path), tmp_path)
    assert config.training == (tmp_path / name,)


def test_columns_may_be_called_anything(tmp_path, arm_file):
    log = renamed(tmp_path / "a.csv", elbow_position="elbow\\position")
    text = propose(arm_file, [log], folder=tmp_path)
    assert columns_of(text)["elbow.position"] == "elbow\\position"


@pytest.mark.parametrize(
    ("count", "seconds", "window"),
    [(2, 4.0, 1.0), (2, 2.0, 0.5), (2, 0.8, 0.2), (2, 0.4, 0.1), (1, 8.0, 1.0), (1, 4.0, 0.5), (1, 2.0, 0.2)],
)
def test_short_runs_have_short_windows(count, seconds, window, tmp_path, arm_file):
    """A run has three of them at least, and what is held out of a single one has two."""
    logs = [write_log(tmp_path / f"{k}.csv", swinging(seconds), ("position",)) for k in range(count)]
    assert config_of(propose(arm_file, logs, folder=tmp_path), tmp_path).window == window


def test_something_has_to_be_given(arm_file, tmp_path):
    with pytest.raises(DataError, match="no logs are given; name at least one file"):
        propose(arm_file, [])
    with pytest.raises((ValueError, OSError), match=r"nowhere\.csv"):
        propose(arm_file, [tmp_path / "nowhere.csv"])
    with pytest.raises((ValueError, OSError), match=r"nowhere\.urdf"):
        propose(tmp_path / "nowhere.urdf", [tmp_path / "a.csv"])


def test_without_known_forces_one_mass_stays(tmp_path, arm_file):
    """All masses and forces could be twice as large."""
    driven_log, passive = renamed(tmp_path / "driven.csv"), tmp_path / "passive.csv"
    rows = [line.split(",") for line in driven_log.read_text().splitlines()]
    kept = [i for i, name in enumerate(rows[0]) if "torque" not in name]
    passive.write_text("\n".join(",".join(row[i] for i in kept) for row in rows) + "\n")
    masses = {
        log: [
            entry["path"] for entry in tomllib.loads(propose(arm_file, [log]))["fit"]["free"] if "mass" in entry["path"]
        ]
        for log in (driven_log, passive)
    }
    assert masses == {driven_log: ["link/upper_arm/mass", "link/forearm/mass"], passive: ["link/forearm/mass"]}
    assert "# link/upper_arm/mass stays 2.36 kg" in propose(arm_file, [passive])
