"""Impacts pass along a row of balls."""

import numpy as np
import pytest

import hybridsim as hs

from .scenes import many, motion, start, with_gravity

RADIUS, COUNT = 0.1, 5


def row(gap, restitution, **numbers):
    """Balls at rest along x, the first coming at 1 m/s."""
    model = many(*[hs.solid("ball", 1.0, "sphere", RADIUS)] * COUNT, ground=False)
    pairs = [(f"{i}/*", f"{i + 1}/*") for i in range(COUNT - 1)]
    model = hs.with_contacts(model, pairs, friction=0.0, restitution=restitution, **numbers)
    q, qd = start(model)
    q[::7] = np.arange(COUNT) * (2 * RADIUS + gap)
    q[0] -= 0.0503
    qd[3] = 1.0
    return with_gravity(model, (0, 0, 0)), q, qd


@pytest.mark.parametrize("gap", [1e-3, 2e-2])
@pytest.mark.parametrize("e", [0.0, 0.5, 0.8, 1.0])
def test_balls_that_do_not_touch_pass_the_impact_on(gap, e):
    """The last one gets ((1 + e)/2)^4 of the speed."""
    model, q, qd = row(gap, e)
    after = motion(hs.Impulses(), 1000)(model, q, qd).qd[-1, 3::6]
    assert after.sum() == pytest.approx(1.0, abs=1e-13)
    if e > 0:
        assert after[-1] == pytest.approx(((1 + e) / 2) ** (COUNT - 1), rel=2e-5)
    else:
        assert after == pytest.approx(1 / COUNT, abs=1e-6)


@pytest.mark.parametrize("gap", [-1e-12, 0.0, 1e-12, 1e-9])
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_balls_that_touch_keep_momentum_and_gain_no_energy(gap, e):
    """Which of the solutions with the same momentum and energy comes out is a matter of the model."""
    model, q, qd = row(gap, e)
    path = motion(hs.Impulses(), 1000)(model, q, qd)
    speeds = path.qd[:, 3::6]
    assert speeds.sum(1) == pytest.approx(1.0, abs=1e-13)
    energy = (speeds**2).sum(1)
    assert np.diff(energy).max() < 1e-9
    if e == 0.0:
        # Nothing bounces, so after the first touch all move as one.
        assert speeds[-1] == pytest.approx(1 / COUNT, abs=1e-6)
    if e == 1.0:
        assert energy[-1] == pytest.approx(1.0, rel=2e-5)


def test_springs_without_damping_pass_the_impact_on():
    model, q, qd = row(2e-2, 0.0, stiffness=1e6, dissipation=0.0)
    path = motion(hs.Springs(), 30_000, 1e-5)(model, q, qd)
    assert path.qd[-1, 3::6] == pytest.approx([0, 0, 0, 0, 1.0], abs=2e-3)
