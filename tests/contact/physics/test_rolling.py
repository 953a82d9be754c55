"""Balls, discs and coins: what friction gives and what it must leave alone."""

import numpy as np
import pytest

import hybridsim as hs

from .scenes import BY_NAME, G, alone, lasting, spring_depth, start, tilted, turned, with_gravity

RADIUS = 0.1
# Inertia over m r^2, and sizes; all roll along x, about y.
ROUND = {
    "sphere": (0.4, RADIUS, (1.0, 0.0, 0.0, 0.0)),
    "cylinder": (0.5, (RADIUS, 0.03), (0.5**0.5, -(0.5**0.5), 0.0, 0.0)),
}


def at_rest(contact, shape, weight=G, **numbers):
    _, size, turn = ROUND[shape]
    model = alone(shape, size, **numbers)
    points = 1 if shape == "sphere" else 2
    q, qd = start(model)
    q[3:] = turn
    q[2] = RADIUS - (spring_depth(weight / points) if isinstance(contact, hs.Springs) else 0.0)
    return model, q, qd


def in_world(path):
    """Angular and linear velocity of the body over time, world axes."""
    return turned(path.q, path.qd[:, :3]), turned(path.q, path.qd[:, 3:])


def body_velocity(q, world):
    back = np.concatenate([q[:4], -q[4:]])
    return turned(back, np.asarray(world, dtype=float))


@pytest.mark.parametrize("shape", ROUND)
@pytest.mark.parametrize("contact", **BY_NAME)
def test_sliding_becomes_rolling(contact, shape):
    """v0/(1 + k) with inertia k m r^2, after the time v0 k/((1 + k) mu g)."""
    k, mu, v0 = ROUND[shape][0], 0.3, 2.0
    model, q, qd = at_rest(contact, shape, friction=mu, static_friction=mu)
    qd[3:] = body_velocity(q, [v0, 0, 0])
    path = lasting(contact, 1.0)(model, q, qd)
    spin, velocity = in_world(path)
    # At the point of contact, which springs let sink in by 2 to 4 mm.
    tolerance = 1e-6 if isinstance(contact, hs.Impulses) else 0.02
    assert velocity[-1, 0] == pytest.approx(v0 / (1 + k), rel=tolerance)
    assert spin[-1, 1] * RADIUS == pytest.approx(v0 / (1 + k), rel=2 * tolerance)
    slips = np.abs(velocity[:, 0] - RADIUS * spin[:, 1]) > 0.05
    assert path.t[slips].max() == pytest.approx(v0 * k / (1 + k) / (mu * G), rel=0.03)


@pytest.mark.parametrize("shape", ROUND)
def test_rolling_goes_on(shape):
    model, q, qd = at_rest(hs.Impulses(), shape, friction=0.5)
    qd[:3], qd[3:] = body_velocity(q, [0, 1 / RADIUS, 0]), body_velocity(q, [1, 0, 0])
    path = lasting(hs.Impulses(), 1.0)(model, q, qd)
    spin, velocity = in_world(path)
    assert velocity == pytest.approx(np.broadcast_to([1.0, 0, 0], velocity.shape), abs=1e-6)
    assert spin == pytest.approx(np.broadcast_to([0, 1 / RADIUS, 0], spin.shape), abs=1e-5)
    assert path.q[-1, 0] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("shape", ROUND)
@pytest.mark.parametrize("contact", **BY_NAME)
def test_rolling_down_an_incline(contact, shape):
    """g sin(theta)/(1 + k), if friction is more than tan(theta) k/(1 + k)."""
    k, theta = ROUND[shape][0], 0.4
    model, q, qd = at_rest(contact, shape, G * np.cos(theta), friction=0.5)
    path = lasting(contact, 1.0)(with_gravity(model, tilted(theta)), q, qd)
    _, velocity = in_world(path)
    exact = G * np.sin(theta) / (1 + k)
    assert velocity[-1, 0] == pytest.approx(exact, rel=1e-6 if isinstance(contact, hs.Impulses) else 0.02)
    assert np.abs(velocity[:, 1]).max() < 1e-6


@pytest.mark.parametrize("contact", **BY_NAME)
def test_a_ball_keeps_its_spin_about_the_vertical(contact):
    model, q, qd = at_rest(contact, "sphere", friction=0.7)
    qd[2] = 30.0
    path = lasting(contact, 1.0)(model, q, qd)
    assert path.qd[:, 2] == pytest.approx(30.0, abs=1e-9)
    assert np.abs(path.q[:, :2]).max() < 1e-9


def test_a_coin_without_friction_keeps_its_spin():
    model, q, qd = at_rest(hs.Impulses(), "cylinder", friction=0.0)
    qd[:3] = body_velocity(q, [0, 0, 20.0])
    path = lasting(hs.Impulses(), 1.0)(model, q, qd)
    spin, _ = in_world(path)
    assert spin[:, 2] == pytest.approx(20.0, rel=1e-6)
    assert np.abs(path.q[:, :2]).max() < 1e-6
    assert np.abs(path.q[:, 2] - RADIUS).max() < 1e-5
