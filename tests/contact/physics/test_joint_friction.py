"""Coulomb friction of joints as rows: rest is rest."""

import numpy as np
import pytest

import hybridsim as hs

from .scenes import G, motion

FRICTION, MASS, LENGTH = 0.5, 1.0, 0.4
INERTIA = 0.02
CONTACT = hs.Impulses(joint_friction=True)


def pendulum(links=1, **numbers):
    bodies = [hs.Link(f"l{i}", MASS, (0, 0, -LENGTH), INERTIA) for i in range(links)]
    joints = [
        hs.Joint(
            f"j{i}",
            "revolute",
            f"l{i - 1}" if i else "world",
            f"l{i}",
            position=(0, 0, -LENGTH if i else 0),
            axis=(0, 1, 0),
            friction=FRICTION,
            **numbers,
        )
        for i in range(links)
    ]
    return hs.build(bodies, joints)


@pytest.mark.parametrize("force", [0.0, 0.3, 0.999 * FRICTION, -0.999 * FRICTION])
def test_below_the_threshold_a_pendulum_stays_exactly_at_rest(force):
    path = motion(CONTACT, 500)(pendulum(), np.zeros(1), np.zeros(1), np.array([force]))
    assert np.abs(path.q).max() < 1e-15
    assert np.abs(path.qd).max() < 1e-15


def test_it_holds_a_weight():
    """Off the vertical, as long as the weight's torque is less than the threshold."""
    for torque in (0.9 * FRICTION, -0.99 * FRICTION):
        q = np.array([np.arcsin(torque / (MASS * G * LENGTH))])
        path = motion(CONTACT, 500)(pendulum(), q, np.zeros(1), np.zeros(1))
        assert np.abs(path.q - q).max() < 1e-14


@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_above_the_threshold_the_rest_accelerates(way):
    force = way * 1.7
    path = motion(CONTACT, 10)(pendulum(), np.zeros(1), np.zeros(1), np.array([force]))
    exact = (force - way * FRICTION) / (INERTIA + MASS * LENGTH**2)
    # Within 10 steps the weight does not count yet.
    assert path.qd[1, 0] == pytest.approx(exact * 1e-3, rel=1e-12)
    assert path.qd[-1, 0] == pytest.approx(exact * 1e-2, rel=1e-3)


def test_a_moving_joint_stops_and_stays():
    """Without weight: after I w/friction."""
    model = pendulum(armature=0.3)
    path = motion(CONTACT, 500)(model, np.zeros(1), np.array([0.1]), np.zeros(1))
    stop = 0.1 * (INERTIA + MASS * LENGTH**2 + 0.3) / FRICTION
    later = path.t > stop + 2e-3
    assert np.abs(path.qd[later]).max() < 1e-15
    assert path.qd[path.t < 0.9 * stop].min() > 0


def test_two_links_hold_each_other():
    model = pendulum(2)
    path = motion(CONTACT, 500)(model, np.array([0.05, -0.04]), np.zeros(2), np.array([0.0, 0.3]))
    assert np.abs(path.qd).max() < 1e-9
    slipping = motion(CONTACT, 500)(model, np.zeros(2), np.zeros(2), np.array([0.0, 0.8]))
    M = np.asarray(hs.mass_matrix(model, np.zeros(2)))
    # The motor of the second joint also pushes the first one back, which its own friction of 0.5 holds or not.
    both = np.linalg.solve(M, [FRICTION, 0.8 - FRICTION])
    alone = (0.8 - FRICTION) / M[1, 1]
    held = abs(M[0, 1] * alone) <= FRICTION
    assert slipping.qd[1] == pytest.approx(1e-3 * (np.array([0, alone]) if held else both), rel=1e-6, abs=1e-12)
