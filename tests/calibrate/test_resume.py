"""A job that is interrupted keeps what it has, and goes on to the same numbers."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hybridsim.calibrate import Calibration, Config, config_of
from hybridsim.calibrate.job import PARTS, work_through

from .arms import driven, write_log

# Each test does the whole job once or twice more.
pytestmark = pytest.mark.slow

CONFIG = """
[model]
file = "{arm}"
[logs]
training = ["run0.csv", "run1.csv", "run2.csv"]
held_out = ["run3.csv"]
[fit]
window = 0.3
free = ["link/forearm/mass", {{ path = "joint/*/damping", lower = 0 }}]
[discover]
effects = ["friction", "delay"]
[network]
hidden = [2]
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory, arm_model, arm_file) -> Config:
    """An arm that lacks friction and delay, in runs that are soon fitted."""
    folder = tmp_path_factory.mktemp("logs")
    joints = replace(arm_model.joints, friction=np.array([0.06, 0.25]), friction_speed=np.full(2, 0.05))
    truth = replace(arm_model, joints=joints)
    for seed in range(4):
        write_log(folder / f"run{seed}.csv", driven(truth, 1.2, seed=seed, delay=0.02, noise=2e-4, held=True))
    return config_of(CONFIG.format(arm=arm_file), folder)


@pytest.fixture(scope="module")
def whole(config, tmp_path_factory) -> Calibration:
    """Never interrupted."""
    found = work_through(config, tmp_path_factory.mktemp("whole"), False, lambda words: None)
    assert [stage.name for stage in found.stages] == ["original", "calibrated", "explained", "hybrid"]
    assert {f.effect for f in found.findings} == {"Coulomb friction", "delay of the controls"}
    return found


def stop_at(said: str, times: int = 1) -> Callable[[str], None]:
    """Ctrl-C when these words are said for the so many-th time."""
    heard = 0

    def say(words: str) -> None:
        nonlocal heard
        heard += words == said
        if words == said and heard == times:
            raise KeyboardInterrupt

    return say


def assert_goes_on(config: Config, folder: Path, whole: Calibration) -> None:
    found = work_through(config, folder, True, lambda words: None)
    assert not found.stopped
    assert [stage.name for stage in found.stages] == [stage.name for stage in whole.stages]
    assert [f.words for f in found.findings] == [f.words for f in whole.findings]
    assert [(c.effect, c.where, c.chosen, c.order) for c in found.candidates] == [
        (c.effect, c.where, c.chosen, c.order) for c in whole.candidates
    ]
    for a, b in zip(found.stages, whole.stages, strict=True):
        assert a.held_out.median == pytest.approx(b.held_out.median, rel=1e-9)
        if a.fit is not None:
            values = [e.value for e in b.fit.parameters]
            np.testing.assert_allclose([e.value for e in a.fit.parameters], values, rtol=1e-9, atol=1e-12)
            limits = [(e.lower, e.upper) for e in b.fit.parameters]
            np.testing.assert_allclose([(e.lower, e.upper) for e in a.fit.parameters], limits, rtol=1e-6, atol=1e-12)
    for a, b in zip(found.curves, whole.curves, strict=True):
        np.testing.assert_allclose(a.force, b.force, rtol=1e-7, atol=1e-9)


STOPS = {
    PARTS[3]: ["original"],
    PARTS[4]: ["original", "calibrated"],
    PARTS[5]: ["original", "calibrated"],
    PARTS[6]: ["original", "calibrated", "explained"],
    PARTS[7]: ["original", "calibrated", "explained", "hybrid"],
}


@pytest.mark.parametrize("part", STOPS)
def test_what_is_done_until_then_is_kept_and_gone_on_with(part, config, whole, tmp_path):
    found = work_through(config, tmp_path, False, stop_at(part))
    assert found.stopped
    assert [stage.name for stage in found.stages] == STOPS[part]
    for a, b in zip(found.stages, whole.stages, strict=False):
        assert a.held_out.median == pytest.approx(b.held_out.median, rel=1e-9)
    if part in PARTS[6:]:
        assert {f.effect for f in found.findings} == {"Coulomb friction", "delay of the controls"}
        assert found.candidates == whole.candidates
    assert_goes_on(config, tmp_path, whole)


@pytest.mark.parametrize(("times", "stages"), [(1, 2), (2, 3)])
def test_a_fit_that_is_interrupted_goes_on(times, stages, config, whole, tmp_path):
    """In its second iteration: of the first fit, and of the one with the laws that were found."""
    found = work_through(config, tmp_path, False, stop_at("iteration 2", times))
    assert found.stopped
    assert len(found.stages) == stages
    assert found.stages[-1].fit.done == "stopped"
    assert_goes_on(config, tmp_path, whole)


@pytest.mark.parametrize("part", PARTS[:3])
def test_before_the_first_model_is_judged_there_is_nothing_to_keep(part, config, whole, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        work_through(config, tmp_path, False, stop_at(part))
    assert_goes_on(config, tmp_path, whole)


def test_a_finished_job_is_not_done_again(config, whole, tmp_path):
    heard: list[str] = []
    work_through(config, tmp_path, False, lambda words: None)
    work_through(config, tmp_path, True, heard.append)
    assert not any(words.startswith("found") for words in heard)
    assert_goes_on(config, tmp_path, whole)


def test_another_job_does_not_go_on_with_the_old_one(config, tmp_path):
    """Whose answers were to other questions."""
    with pytest.raises(KeyboardInterrupt):
        work_through(config, tmp_path, False, stop_at(PARTS[1]))
    with pytest.raises(ValueError, match="is a run with other settings than are asked for now"):
        work_through(replace(config, effects=("delay",)), tmp_path, True, lambda words: None)
