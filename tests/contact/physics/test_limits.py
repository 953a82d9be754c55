"""Joints stop at their limits: from a fall, with a bounce, against a motor."""

import numpy as np
import pytest

import hybridsim as hs

from .scenes import BY_NAME, G, lasting, motion, start, with_gravity, with_limits

LOWER, UPPER = -0.4, 0.7
MASS, LENGTH = 1.0, 0.5
SOFT = 1e-5
"""Limits of softness R yield R m = 1e-6 of the speed, and restitution fades by (1 mm/s)^2/v^2."""


def slider():
    """A mass on a rail along x, without gravity along it."""
    return hs.build(
        [hs.Link("cart", MASS, inertia=0.1)],
        [hs.Joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0), lower=LOWER, upper=UPPER)],
    )


def arm(**numbers):
    """Two links that swing about y."""
    links = [hs.Link(name, MASS, (0, 0, -LENGTH / 2), 0.02) for name in ("upper", "lower")]
    limits = {"lower": -0.6, "upper": 0.9}
    joints = [
        hs.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0), **limits),
        hs.Joint("elbow", "revolute", "upper", "lower", position=(0, 0, -LENGTH), axis=(0, 1, 0), **limits),
    ]
    return with_limits(hs.build(links, joints), **numbers)


@pytest.mark.parametrize("way", [-1.0, 1.0])
@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_a_cart_bounces_at_its_limits(e, way):
    model = with_limits(slider(), restitution=e)
    path = motion(hs.Impulses(), 500)(model, np.zeros(1), np.array([3.0 * way]))
    # Softness yields 1e-6 m/s for 1 N s: 2e-9 m in the step of an impact of 2 N s.
    assert path.q.min() > LOWER - 2.001e-9
    assert path.q.max() < UPPER + 2.001e-9
    end = UPPER if way > 0 else LOWER
    k = np.argmax(path.qd[:, 0] != path.qd[0, 0])
    assert path.t[k] == pytest.approx(abs(end) / 3, abs=1.001e-3)
    assert path.qd[k, 0] == pytest.approx(-e * 3.0 * way, rel=SOFT, abs=SOFT)


def test_a_bounce_at_a_limit_is_exact_in_time():
    """Positions after it are those of the exact motion, wherever in a step it is."""
    model = with_limits(slider(), restitution=0.5)
    for speed in np.linspace(2.9, 3.1, 9):
        path = motion(hs.Impulses(), 500)(model, np.zeros(1), np.array([speed]))
        hit = UPPER / speed
        exact = np.where(path.t < hit, speed * path.t, UPPER - 0.5 * speed * (path.t - hit))
        assert path.q[:, 0] == pytest.approx(exact, abs=SOFT)


@pytest.mark.parametrize("contact", **BY_NAME)
def test_a_motor_pushes_against_a_limit(contact):
    force = 8.0
    path = lasting(contact, 3.0)(slider(), np.zeros(1), np.zeros(1), np.array([force]))
    free = path.t < np.sqrt(2 * UPPER * MASS / force) - 0.01
    assert path.qd[free, 0] == pytest.approx(force / MASS * path.t[free], rel=1e-9)
    sunk = 0.0 if isinstance(contact, hs.Impulses) else force / slider().limits.stiffness[0]
    assert path.q[-1, 0] == pytest.approx(UPPER + sunk, abs=1e-9 if sunk == 0 else 2e-4)
    assert abs(path.qd[-1, 0]) < (1e-7 if sunk == 0 else 1e-2)


def test_a_motor_pulls_off_a_limit():
    """A limit only pushes."""
    q = np.array([UPPER])
    path = motion(hs.Impulses(), 100)(slider(), q, np.zeros(1), np.array([-2.0]))
    assert path.qd[:, 0] == pytest.approx(-2.0 / MASS * path.t, abs=1e-12)


@pytest.mark.parametrize("e", [0.0, 0.6])
def test_an_arm_stays_within_its_limits(e):
    model = arm(restitution=e)
    q, qd = np.array([0.5, 0.0]), np.array([3.0, -12.0])
    path = motion(hs.Impulses(), 2000)(model, q, qd)
    assert path.q.min() > -0.6 - 1e-6
    assert path.q.max() < 0.9 + 1e-6
    assert np.abs(np.diff(path.qd[:, 1])).max() > 1.0, "no limit was reached"


def test_springs_hold_an_arm_within_its_limits():
    path = lasting(hs.Springs(), 1.0)(arm(), np.array([0.5, 0.0]), np.array([2.0, -4.0]))
    # 0.5 J on 1e4 N m/rad
    assert path.q.min() > -0.6 - 0.02
    assert path.q.max() < 0.9 + 0.02


def test_what_a_limit_carries():
    """The upper link hangs at its limit, and carries the lower one, which swings to rest against its own."""
    model = with_gravity(arm(), (0, 0, 0))
    path = motion(hs.Impulses(), 1000)(model, np.zeros(2), np.zeros(2), np.array([3.0, 2.0]))
    assert path.q[-1] == pytest.approx([0.9, 0.9], abs=1e-6)
    assert np.abs(path.qd[-1]).max() < 1e-6


def test_an_impact_at_a_limit_moves_the_other_joints_as_momentum_says():
    """M (v' - v) = (0, impulse), and the stopped joint has the speed of restitution."""
    model = with_gravity(arm(restitution=0.4), (0, 0, 0))
    q, qd = np.array([0.1, 0.9 - 1e-12]), np.array([0.3, 2.0])
    dt = 1e-9
    after = motion(hs.Impulses(), 1, dt)(model, q, qd).qd[-1]
    M = np.asarray(hs.mass_matrix(model, q))
    impulse = M @ (after - qd)
    assert after[1] == pytest.approx(-0.4 * 2.0, rel=1e-5)
    assert impulse[0] == pytest.approx(0, abs=1e-6)
    assert impulse[1] == pytest.approx(-1.4 * 2.0 / np.linalg.inv(M)[1, 1], rel=1e-5)


@pytest.mark.parametrize("contact", **BY_NAME)
def test_a_pendulum_leans_on_its_limit(contact):
    """Gravity holds it there for ever."""
    model = with_gravity(arm(), (G, 0, 0))
    q, qd = start(model)
    path = lasting(contact, 2.0)(model, q, qd)
    assert path.q[-1] == pytest.approx([-0.6, -0.6], abs=1e-6 if isinstance(contact, hs.Impulses) else 5e-3)
    assert np.abs(path.qd[-1]).max() < 1e-2


def test_a_limit_holds_a_body_with_many_contact_points():
    """A box on a vertical rail, that would fall on the ground below its limit."""
    rail = hs.Joint("rail", "prismatic", "world", "box", axis=(0, 0, 1), lower=0.5, upper=2.0)
    model = hs.world(hs.build([hs.solid("box", 1.0, "box", (0.1, 0.1, 0.1))], [rail]), hs.ground())
    path = motion(hs.Impulses(), 500)(model, np.ones(1), np.zeros(1))
    assert path.q[-1, 0] == pytest.approx(0.5, abs=1e-6)
