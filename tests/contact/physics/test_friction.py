"""Coulomb friction: holding and sliding on an incline, stopping on the flat."""

import numpy as np
import pytest

import hybridsim as hs

from .scenes import BY_NAME, G, alone, lasting, spring_depth, start, tilted, turned, with_gravity

HALF = (0.1, 0.08, 0.04)


def block(contact, friction, weight=G, **numbers):
    """A block and its state at rest on the ground."""
    model = alone("box", HALF, friction=friction, static_friction=friction, dissipation=2e5, **numbers)
    q, qd = start(model)
    q[2] = HALF[2] - (spring_depth(weight / 4) if isinstance(contact, hs.Springs) else 0.0)
    return model, q, qd


@pytest.mark.parametrize("theta", [0.1, 0.4636, 0.7])
@pytest.mark.parametrize("contact", **BY_NAME)
def test_a_block_holds_above_and_slides_below_the_critical_friction(contact, theta):
    run = lasting(contact, 1.0)
    model, q, qd = block(contact, np.tan(theta) + 0.01, G * np.cos(theta))
    path = run(with_gravity(model, tilted(theta)), q, qd)
    # Smooth friction creeps, at a speed below its transition speed.
    crept = 1e-5 if isinstance(contact, hs.Impulses) else 1.0 * model.contacts.transition_speed[0]
    assert abs(path.q[-1, 0]) < crept

    mu = np.tan(theta) - 0.01
    model, q, qd = block(contact, mu, G * np.cos(theta))
    path = run(with_gravity(model, tilted(theta)), q, qd)
    exact = G * (np.sin(theta) - mu * np.cos(theta))
    half = len(path.t) // 2
    gained = (path.qd[-1, 3] - path.qd[half, 3]) / (path.t[-1] - path.t[half])
    assert gained == pytest.approx(exact, rel=1e-6 if isinstance(contact, hs.Impulses) else 1e-2)


@pytest.mark.parametrize("heading", [0.0, 0.3, np.pi / 4, 2.0])
@pytest.mark.parametrize("contact", **BY_NAME)
def test_stopping_distance(contact, heading):
    """The same in all directions, in a straight line."""
    mu, v = 0.4, 1.5
    model, q, qd = block(contact, mu)
    direction = np.array([np.cos(heading), np.sin(heading)])
    qd[3:5] = v * direction
    path = lasting(contact, 1.0)(model, q, qd)
    end = path.q[-1, :2]
    exact = v**2 / (2 * mu * G)
    # Explicit steps move v dt/2 less; smooth friction fades at the end of the motion, and creeps on.
    assert direction @ end == pytest.approx(exact, abs=1e-3 if isinstance(contact, hs.Impulses) else 6e-3)
    assert abs(direction @ [-end[1], end[0]]) < 1e-4
    assert np.abs(path.qd[-1]).max() < 1e-3


def test_a_stopped_block_is_at_rest():
    contact = hs.Impulses()
    model, q, qd = block(contact, 0.4)
    qd[3] = 1.0
    path = lasting(contact, 1.0)(model, q, qd)
    stopped = path.t > 1.0 / (0.4 * G) + 5e-3
    assert np.abs(path.qd[stopped]).max() < 1e-6
    assert np.ptp(path.q[stopped], axis=0).max() < 1e-7


@pytest.mark.parametrize("friction", [0.0, 0.2])
def test_sliding_takes_no_more_than_its_share(friction):
    """A flat block pushed along keeps its heading, orientation and height."""
    contact = hs.Impulses()
    model, q, qd = block(contact, friction)
    qd[3:5] = [2.0, 1.0]
    path = lasting(contact, 1.0)(model, q, qd)
    velocity = turned(path.q, path.qd[:, 3:])
    speed = np.hypot(*velocity[:, :2].T)
    assert speed == pytest.approx(np.maximum(np.sqrt(5) - friction * G * path.t, 0), abs=1e-5)
    assert np.abs(path.q[:, 2] - HALF[2]).max() < 1e-6
