"""The derivative of single steps in contact against differences of the same step, along random motions."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from gradient_table.compare import compare
from gradient_table.differences import differences
from gradient_table.motions import motion
from gradient_table.parameters import Group
from gradient_table.residual import residuals
from gradient_table.single_steps import Survey
from gradient_table.walk import walk


def _failed(survey: Survey, cases: list) -> list[str]:
    """Where a derivative is wrong or a step is unsolved; of all steps in contact, those with a residual."""
    failed = [case.where for case in cases if case.wrong or case.unsolved]
    return failed + [f"{kind}: {count} unsolved" for kind, (_, count) in survey.walked.items() if count]


def test_steps_of_boxes_and_round_bodies():
    survey = Survey()
    cases = list(survey.cases(60, ("cube", "capsule"), seed=1000))
    assert _failed(survey, cases) == []
    assert sum(case.tested for case in cases) >= 54
    assert len({case.regime.event for case in cases}) >= 5


def test_a_corner_that_sticks_beside_one_that_slides_where_the_inertia_is_small():
    """Contacts that yield less than a ten millionth of what the body does; their derivative was that of softer ones."""
    along = walk(motion("cube", 2))
    case = Survey().case(along, 77)
    assert case.tested
    assert case.error < 1e-5


@pytest.mark.slow
def test_steps_of_all_motions():
    survey = Survey()
    cases = list(survey.cases(1040))
    assert _failed(survey, cases) == []
    assert sum(case.tested for case in cases) >= 1000
    assert len({case.regime.name for case in cases}) >= 20


def test_a_residual_shows_impulses_that_do_not_solve_their_problem():
    along = walk(motion("cube", 0))
    step = int(np.argmax(along.values["contact.impulse"][:, :, 0].max(axis=1)))
    of = along.motion

    def residual(factor: float) -> float:
        values = {name: x[[step]] for name, x in along.values.items()}
        values["contact.impulse"] = factor * values["contact.impulse"]
        none = np.zeros((1, 0))  # of joint limits
        return float(residuals(of.model, along.q[[step]], along.qd[[step]], of.control, of.dt, values, none)[0])

    assert residual(1.0) < 1e-8
    assert residual(1.01) > 1e-3
    assert residual(0.99) > 1e-3


def _map(x):
    """Smooth; a kink; a jump; a kink at 3e-4, far enough; kinks at 2e-10, too near for differences."""
    (x,) = np.moveaxis(x, -1, 0)
    near = np.maximum(x - 2e-10, 0.0) + np.maximum(-x - 2e-10, 0.0) * 3
    return np.stack([np.sin(3 * x), abs(x) + x**2, 1.0 * (x > 0), np.maximum(x - 3e-4, 0.0), near], axis=-1)


def test_kinks_and_jumps_are_told_from_smooth_entries():
    found = differences(_map, np.zeros(1))
    assert (found.kink | found.near)[:, 0].tolist() == [False, True, False, False, True]
    assert found.jump[:, 0].tolist() == [False, False, True, False, False]
    np.testing.assert_allclose(found.slope[[0, 3], 0], [3.0, 0.0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose([found.ahead[1, 0], found.behind[1, 0]], [1.0, -1.0], atol=1e-3)


def test_an_error_is_seen_and_a_kink_leaves_the_whole_input_out():
    def smooth(x):
        return np.stack([np.sin(x[:, 0]), x[:, 0] * (1 + x[:, 1]), np.abs(x[:, 1])], axis=-1)

    found = differences(smooth, np.zeros(2))
    right = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    groups = (Group("x", 2),)
    for forward, error in ((right, 0.0), (right * [[1.01], [1.0], [1.0]], 0.01)):
        blocks = compare(groups, 1, forward, right, found)
        assert max(block.forward for block in blocks) == pytest.approx(error, abs=1e-7)
        assert max(block.reverse for block in blocks) < 1e-7
        assert sum(block.kinks for block in blocks) == 3
