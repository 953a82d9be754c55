"""How late commands act, seen in motion that was made by known delays."""

from dataclasses import replace

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate.delay import guess_delay

from .arms import driven

DT = 5e-3


@pytest.fixture(scope="module")
def known(arm_model) -> hs.Model:
    """The arm with friction, which the guess may not take for a delay."""
    return replace(arm_model, joints=replace(arm_model.joints, friction=np.array([0.4, 0.2])))


@pytest.mark.parametrize("delay", [0.0, 0.012, 0.04])
def test_a_known_delay_is_found_within_a_sample(delay, known, arm_model):
    logs = [driven(known, 3.0, DT, seed, delay, noise=1e-4) for seed in (0, 1)]
    assert guess_delay(arm_model, logs) == pytest.approx(delay, abs=1e-3)


def test_wrong_masses_do_no_harm(known, arm_model):
    """All forces are half as large again as they should be."""
    links = arm_model.links
    inertia = 1.5 * np.asarray(links.inertia)
    wrong = replace(arm_model, links=replace(links, mass=1.5 * np.asarray(links.mass), inertia=inertia))
    assert guess_delay(wrong, [driven(known, 3.0, DT, 0, 0.02)]) == pytest.approx(0.02, abs=DT)


def test_nothing_is_guessed_of_commands_that_explain_nothing(known, arm_model):
    log = driven(known, 3.0, DT)
    noise = np.random.default_rng(0).standard_normal(log.controls.shape)
    assert guess_delay(arm_model, [replace(log, controls=noise)]) is None
    assert guess_delay(arm_model, [replace(log, controls=None)]) is None
    assert guess_delay(arm_model, []) is None


def test_a_delay_beyond_the_longest_is_not_guessed(known, arm_model):
    assert guess_delay(arm_model, [driven(known, 3.0, DT, 0, 0.06)], longest=0.03) is None
