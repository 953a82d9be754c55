"""Pendulums: period by the elliptic integral, equations of motion by hand, conical motion, conserved quantities."""

import jax
import numpy as np
import pytest
from scipy.special import ellipk

import hybridsim as hs

G = 9.81


def physical_pendulum(mass=0.7, reach=0.4, inertia=0.05) -> hs.Model:
    link = hs.Link("bar", mass, (0, 0, -reach), inertia)
    return hs.build([link], [hs.Joint("pivot", "revolute", "world", "bar", axis=(0, 1, 0))])


@pytest.mark.parametrize("amplitude", [0.01, 1.5, 3.0])
def test_period_of_a_large_swing_is_the_elliptic_integral(amplitude):
    """T = 4 K(sin(amplitude / 2)) / w: it passes the bottom after T/4, turns at T/2 and is back after T."""
    mass, reach, inertia = 0.7, 0.4, 0.05
    slow = np.sqrt(mass * G * reach / (inertia + mass * reach**2))
    period = 4 * ellipk(np.sin(amplitude / 2) ** 2) / slow
    model = physical_pendulum(mass, reach, inertia)
    swing = hs.rollout(
        model,
        (np.array([amplitude]), np.zeros(1)),
        dt=np.asarray(period / 1000),
        steps=1000,
        integrator=hs.RungeKutta4(),
    )
    np.testing.assert_allclose(swing.q[[250, 500, 750, 1000], 0], np.array([0, -1, 0, 1]) * amplitude, atol=1e-8)
    np.testing.assert_allclose(swing.qd[[500, 1000], 0], 0, atol=1e-8)


def test_double_pendulum_obeys_lagranges_equations():
    """M(q) qdd + h(q, qd) + g(q) = tau, derived by hand for two bars that swing in a plane, relative angles."""
    m1, m2, a1, a2, l1, i1, i2 = 1.3, 0.8, 0.3, 0.25, 0.6, 0.04, 0.02
    links = [hs.Link("upper", m1, (0, 0, -a1), (1.0, i1, 1.0)), hs.Link("lower", m2, (0, 0, -a2), (1.0, i2, 1.0))]
    joints = [
        hs.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
        hs.Joint("elbow", "revolute", "upper", "lower", position=(0, 0, -l1), axis=(0, 1, 0)),
    ]
    model = hs.build(links, joints)
    for q, v, tau in np.random.default_rng(0).normal(size=(10, 3, 2)) * 2:
        c2, s2, s1, s12 = np.cos(q[1]), np.sin(q[1]), np.sin(q[0]), np.sin(q[0] + q[1])
        m12 = i2 + m2 * (a2**2 + l1 * a2 * c2)
        m22 = i2 + m2 * a2**2
        m11 = i1 + m1 * a1**2 + m22 + m2 * (l1**2 + 2 * l1 * a2 * c2)
        h = m2 * l1 * a2 * s2 * np.array([-(2 * v[0] * v[1] + v[1] ** 2), v[0] ** 2])
        g = G * np.array([(m1 * a1 + m2 * l1) * s1 + m2 * a2 * s12, m2 * a2 * s12])
        expected = np.linalg.solve([[m11, m12], [m12, m22]], tau - h - g)
        np.testing.assert_allclose(hs.forward_dynamics(model, q, v, tau), expected, rtol=1e-11)


AXIAL, ACROSS, MASS, REACH = 0.01, 0.06, 1.2, 0.5


def spherical_pendulum() -> hs.Model:
    """A symmetric bar on a ball joint."""
    link = hs.Link("bar", MASS, (0, 0, -REACH), (ACROSS, ACROSS, AXIAL))
    return hs.build([link], [hs.Joint("ball", "spherical", "world", "bar")])


@pytest.mark.parametrize("angle", [0.2, 1.0, 1.5])
def test_conical_pendulum_turns_steadily_at_the_speed_of_its_angle(angle):
    """(A - C) W^2 cos(angle) = m g l with A, C the moments at the pivot: then nothing accelerates in the body."""
    speed = np.sqrt(MASS * G * REACH / ((ACROSS + MASS * REACH**2 - AXIAL) * np.cos(angle)))
    tilt = np.array([np.cos(angle / 2), 0, np.sin(angle / 2), 0])
    spin = speed * np.array([-np.sin(angle), 0, np.cos(angle)])  # The vertical, in the tilted bar.
    np.testing.assert_allclose(hs.acceleration(spherical_pendulum(), (tilt, spin)), 0, atol=1e-12)


def test_spherical_pendulum_keeps_energy_and_vertical_angular_momentum():
    model = spherical_pendulum()
    state = (np.array([np.cos(0.5), 0, np.sin(0.5), 0]), np.array([1.0, 2.0, 3.0]))
    swing = hs.rollout(model, state, dt=1e-3, steps=2000, integrator=hs.RungeKutta4())

    @jax.vmap
    def kept(q, qd):
        return hs.energy(model, q, qd).total, hs.momentum(model, q, qd).angular[2], qd[2]

    for quantity in kept(swing.q, swing.qd):  # The spin about its own axis is the third, as the bar is symmetric.
        np.testing.assert_allclose(quantity, np.full(2001, quantity[0]), rtol=1e-9)
