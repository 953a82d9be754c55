"""The main job on small logs: how things are read and simulated, and a robot that lacks nothing."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate import Calibration, Config, calibrate, config_of, listed
from hybridsim.calibrate.judge import expected, windows_of
from hybridsim.calibrate.load import bench_of
from hybridsim.calibrate.menu import FRICTION, entries, moving_links
from hybridsim.identify import Parameters, prepare

from .arms import JOINTS, RUN_FILES, driven, swinging, write_log

CONFIG = """
[model]
file = "{arm}"
[logs]
training = {training}
{logs}
[fit]
free = ["link/forearm/mass", {{ path = "joint/*/damping", lower = 0 }}]
{fit}
"""


@pytest.fixture
def config_with(arm_file, tmp_path):
    """A configuration of logs in the test's own folder."""

    def make(training: list[str], logs: str = "", fit: str = "") -> Config:
        return config_of(CONFIG.format(arm=arm_file, training=training, logs=logs, fit=fit), tmp_path)

    return make


def test_runs_are_called_like_their_files(config_with, tmp_path):
    for name in ("x/a.csv", "y/a.csv", "b.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_log(tmp_path / name, swinging(1.0))
    bench = bench_of(config_with(["x/a.csv", "y/a.csv", "b.csv"]))
    assert [log.run for log in bench.training] == ["x/a", "y/a", "b"]


def test_training_and_held_out_runs_have_different_names(config_with, tmp_path):
    """Numbers and windows are told apart by them."""
    for name in ("x/a.csv", "y/a.csv"):
        (tmp_path / name).parent.mkdir()
        write_log(tmp_path / name, swinging(1.0))
    bench = bench_of(config_with(["x/a.csv"], 'held_out = ["y/a.csv"]'))
    runs = [log.run for log in (*bench.training, *bench.held_out)]
    assert len(set(runs)) == 2


@pytest.mark.parametrize(
    ("step", "fit", "dt", "substeps"),
    [
        (0.01, "", 0.01, 2),
        (0.00998, "", 0.00998, 2),
        (0.004, "", 0.004, 1),
        (0.0347, "", 0.0347, 7),
        (0.01, "dt = 0.005", 0.005, 1),
        (0.01, "substeps = 4", 0.01, 4),
        (0.01, 'integrator = "euler"', 0.01, 10),
    ],
)
def test_steps_are_those_of_the_logger_and_short_enough(step, fit, dt, substeps, config_with, tmp_path):
    write_log(tmp_path / "a.csv", swinging(2.0, step))
    bench = bench_of(config_with(["a.csv"], fit=fit))
    assert bench.dt == pytest.approx(dt, rel=1e-3)
    assert bench.substeps == substeps
    assert bench.contact is None
    assert isinstance(bench.integrator, hs.SemiImplicitEuler if "euler" in fit else hs.RungeKutta4)


def test_uneven_steps_are_those_that_the_logger_meant(config_with, tmp_path):
    even = swinging(2.0, 0.00998)
    jitter = np.random.default_rng(0).uniform(-1e-3, 1e-3, len(even.time))
    write_log(tmp_path / "a.csv", replace(even, time=even.time + jitter))
    assert bench_of(config_with(["a.csv"])).dt == pytest.approx(0.01, rel=1e-6)


def test_friction_is_smooth_enough_to_be_fitted(config_with, tmp_path, arm_model):
    write_log(tmp_path / "a.csv", swinging(1.0))
    bench = bench_of(config_with(["a.csv"], fit="friction_speed = 0.03"))
    np.testing.assert_array_equal(bench.model.joints.friction_speed, [0.03, 0.03])
    np.testing.assert_array_equal(bench.original.joints.friction_speed, arm_model.joints.friction_speed)


def test_the_menu_has_nothing_that_is_free_anyway(arm_model):
    logs = [swinging(1.0)]
    taken = frozenset({"joint/elbow/friction", "control/delay"})
    menu = entries(arm_model, logs, {}, [FRICTION, "delay of the controls"], 0.05, taken)
    assert [(e.effect, e.where) for e in menu] == [(FRICTION, "shoulder")]
    undriven = [replace(logs[0], controls=None)]
    assert not any("control" in e.effect for e in entries(arm_model, undriven, {}, [], 0.05, frozenset()))
    assert moving_links(arm_model) == ("upper_arm", "forearm")


def test_of_runs_that_were_not_seen_the_usual_zero_is_expected(arm_model):
    free = ["link/forearm/mass", hs.Free("sensor/*/bias", per_run=True)]
    own = Parameters(arm_model, free, 2, None, "abcd")
    assert own.names[1:5] == tuple(f"sensor/shoulder/bias [{run}]" for run in "abcd")
    z = np.array([0.7, 0.10, 0.12, 0.11, 0.0, 0.1, -0.1, 0.01, 0.0])
    found = expected(z, own, ["a", "b", "c"])
    np.testing.assert_array_equal(found[[0, 1, 2, 3, 5, 6, 7]], z[[0, 1, 2, 3, 5, 6, 7]])
    # The mean, less by its share of uncertainty: (0.01 / sqrt(3) / 0.11)^2.
    assert found[4] == pytest.approx(0.11 * (1 - 1e-4 / 3 / 0.11**2), rel=1e-12)
    assert found[8] == 0
    # Of one run alone nothing can be said of others.
    np.testing.assert_array_equal(expected(z, own, ["a"])[[2, 3, 4]], 0)
    alone = Parameters(arm_model, ["link/forearm/mass"], 2, None, "ab")
    np.testing.assert_array_equal(expected(z[:1], alone, ["a"]), z[:1])


def test_windows_of_some_runs_keep_their_order(arm_model):
    logs = [replace(swinging(1.0), run=run) for run in "ab"]
    problem = prepare(arm_model, logs, ["link/forearm/mass"], window=0.2, stride=0.1, contact=None)
    some = windows_of(problem, ["b"], 2)
    assert set(some.data.runs) == {"b"}
    np.testing.assert_allclose(some.data.time, [0.0, 0.2, 0.4, 0.6, 0.8], atol=1e-9)


@pytest.fixture(scope="module")
def nothing_missing(arm_model, arm_file, tmp_path_factory) -> tuple[Calibration, Path]:
    """One recording of an arm that differs from its file by a mass alone."""
    folder = tmp_path_factory.mktemp("job")
    heavy = np.where(np.array(arm_model.link_names) == "forearm", 1.7, np.asarray(arm_model.links.mass))
    speed = np.full(2, 0.05)
    truth = replace(
        arm_model,
        links=replace(arm_model.links, mass=heavy),
        joints=replace(arm_model.joints, friction_speed=speed),
    )
    write_log(folder / "a.csv", driven(truth, 4.0, noise=5e-4, held=True))
    fit, logs = 'window = 0.3\n[discover]\neffects = ["friction", "delay", "drag"]', "held_out_part = 0.25"
    config = config_of(CONFIG.format(arm=arm_file, training=["a.csv"], logs=logs, fit=fit), folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return calibrate(config, folder / "run"), folder / "run"


def test_nothing_is_found_where_nothing_is_missing(nothing_missing):
    found, _ = nothing_missing
    assert [stage.name for stage in found.stages] == ["original", "calibrated"]
    assert found.findings == found.curves == ()
    assert len(found.candidates) == 2 + 1 + 2
    assert not any(c.chosen for c in found.candidates)
    assert found.best.name == "calibrated"
    assert not found.stopped
    mass = found.stage("calibrated").fit["link/forearm/mass"]
    assert mass.lower <= 1.7 <= mass.upper
    assert mass.value == pytest.approx(1.7, rel=0.01)


def test_the_end_of_the_recording_judges(nothing_missing):
    found, _ = nothing_missing
    assert [log.run for log in found.training] == ["a"]
    assert [log.run for log in found.held_out] == ["a (end)"]
    best = found.best
    assert set(best.held_out.runs) == {"a (end)"}
    assert set(best.seen.runs) == {"a"}
    # Noise of the sensors is all that is left.
    assert best.held_out.median == pytest.approx(5e-4, rel=0.5)
    assert found.improvement("original", "calibrated") > 10


def test_predictions_are_windows_of_the_log(nothing_missing):
    found, _ = nothing_missing
    (log,) = found.held_out
    shown = found.best.prediction
    assert shown.joints == JOINTS
    assert shown.begin == 0.1
    at = np.interp(shown.times[1], log.time - log.time[0], log.q[:, 0])
    np.testing.assert_allclose(shown.measured[1, :, 0], at, atol=1e-4)
    assert np.sqrt(np.mean((shown.simulated - shown.measured) ** 2)) < 2e-3
    # They do not overlap.
    assert np.all(np.diff(shown.times[:, 0]) > 0.3 - 1e-9)


def test_a_folder_without_a_network_has_no_augmentation(nothing_missing):
    found, folder = nothing_missing
    assert not (folder / "augmentation").exists()
    assert set(listed(found, folder)) == RUN_FILES | {"report.html"}
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["best"] == "calibrated"
    assert summary["findings"] == []
    with pytest.raises(KeyError, match="there is no stage 'hybrid' in this run"):
        found.improvement("original", "hybrid")
