"""A ball that is dropped: heights and times against free fall and restitution."""

import numpy as np
import pytest
from scipy.optimize import brentq

import hybridsim as hs

from .scenes import G, alone, motion, spring_depth, start, with_gravity

RADIUS, HEIGHT = 0.1, 1.0
IMPACT = np.sqrt(2 * HEIGHT / G)
SPEED = G * IMPACT


def dropped(contact, dt, seconds=1.5, gap=HEIGHT, **numbers):
    """Times, and height over the ground."""
    ball = alone("sphere", RADIUS, **numbers)
    q, qd = start(ball)
    q[2] = RADIUS + gap
    path = motion(contact, round(seconds / dt), dt)(ball, q, qd)
    return path.t, path.q[:, 2] - RADIUS, path


def second_impact(t, z, e):
    """When the flight after the first bounce ends."""
    later = t > 1.1 * IMPACT
    down = later & (np.gradient(z, t) < 0)
    low = np.flatnonzero(down & (z < 0.02))
    return t[low[0]] + z[low[0]] / (e * SPEED)


@pytest.mark.parametrize("e", [0.0, 0.25, 0.5, 0.8, 0.9, 1.0])
def test_height_and_time_of_a_bounce(e):
    dt = 1e-3
    t, z, _ = dropped(hs.Impulses(), dt, restitution=e)
    top = z[t > IMPACT + 5 * dt].max()
    # Semi-implicit Euler falls g t dt/2 too far in a time t; that is all the error there is.
    lag = dt * SPEED * e * (1 + e) / 2
    assert top == pytest.approx(e**2 * HEIGHT - lag, abs=2e-5)
    if 0.3 < e < 0.9:
        assert second_impact(t, z, e) == pytest.approx(IMPACT * (1 + 2 * e), abs=4 * dt)
    assert z.min() > -1e-6


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_heights_converge_with_the_time_step(e):
    tops = [dropped(hs.Impulses(), dt, restitution=e)[1][round(0.5 / dt) :].max() for dt in (1e-3, 5e-4)]
    assert 2 * tops[1] - tops[0] == pytest.approx(e**2 * HEIGHT, abs=2e-5)


def test_heights_do_not_depend_on_where_in_a_step_the_impact_is():
    tops = []
    for gap in HEIGHT + np.linspace(0, 5e-3, 23):
        t, z, _ = dropped(hs.Impulses(), 1e-3, gap=gap, restitution=0.8)
        tops.append(z[t > IMPACT + 0.02].max() / (gap - np.sqrt(2 * gap * G) * 1e-3 * 0.9 / 0.8))
    assert np.ptp(tops) < 2e-5


def test_without_restitution_a_ball_stops_at_once_and_stays():
    t, z, path = dropped(hs.Impulses(), 1e-3)
    rests = t > IMPACT + 3e-3
    assert np.abs(path.qd[rests]).max() < 1e-6
    assert np.abs(z[rests]).max() < 1e-9


def test_many_bounces_end():
    """After IMPACT (1 + e)/(1 - e) a ball has bounced infinitely often."""
    t, z, path = dropped(hs.Impulses(), 1e-3, seconds=3.0, restitution=0.6)
    rests = t > IMPACT * 1.6 / 0.4 + 0.05
    assert np.abs(z[rests]).max() < 1e-6
    assert np.abs(path.qd[rests]).max() < 1e-5


@pytest.mark.parametrize("b", [0.05, 0.3, 2.0])
def test_springs_restitute_as_hunt_and_crossley_say(b):
    """Without gravity; b is dissipation over stiffness."""
    speed = 2.0
    ball = with_gravity(alone("sphere", RADIUS, stiffness=1e6, dissipation=b * 1e6), (0, 0, 0))
    q, qd = start(ball)
    q[2], qd[5] = RADIUS + 1e-3, -speed
    up = motion(hs.Springs(), 4000, 5e-6)(ball, q, qd).qd[-1, 5] / speed
    b = b * speed
    assert up == pytest.approx(
        brentq(lambda e: np.log1p(b) - np.log1p(-b * e) - b * (1 + e), 1e-9, min(1, 1 / b) - 1e-9), abs=1e-3
    )


def test_springs_rest_at_the_depth_of_the_weight():
    _, z, path = dropped(hs.Springs(), 1e-4, seconds=3.0, gap=0.05)
    assert z[-1] == pytest.approx(-spring_depth(G), rel=1e-2)
    assert np.abs(path.qd[-1]).max() < 1e-2
