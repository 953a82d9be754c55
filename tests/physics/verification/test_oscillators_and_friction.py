"""Springs, dampers, rotors and friction against the solutions of their equations."""

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.model import WORLD

MASS, STIFFNESS, START = 2.0, 50.0, 0.3
CASES = {
    # name: (damping, armature)
    "free": (0.0, 0.0),
    "with a rotor": (0.0, 1.5),
    "damped": (4.0, 0.0),
    "overdamped": (60.0, 0.5),
}


def bench() -> hs.Model:
    """One slider for each case, side by side, so that one compiled rollout serves all; no weight along x."""
    links = [hs.Link(name, MASS, inertia=0.1) for name in CASES]
    joints = [
        hs.Joint(
            name, "prismatic", WORLD, name, axis=(1, 0, 0), stiffness=STIFFNESS, spring_rest=1.0, damping=d, armature=a
        )
        for name, (d, a) in CASES.items()
    ]
    return hs.build(links, joints)


@pytest.fixture(scope="module")
def oscillations():
    model = bench()
    start = np.full(len(CASES), 1.0 + START)
    return model, hs.rollout(model, (start, np.zeros(len(CASES))), dt=1e-3, steps=2000, integrator=hs.RungeKutta4())


@pytest.mark.parametrize("name", CASES)
def test_a_mass_on_a_spring_follows_the_solution(oscillations, name):
    """x = Re exp(s t) with (m + rotor) s^2 + d s + k = 0, from rest."""
    model, motion = oscillations
    damping, rotor = CASES[name]
    s1, s2 = np.roots([MASS + rotor, damping, STIFFNESS]).astype(complex)
    t = np.asarray(motion.t)
    expected = START * np.real((s2 * np.exp(s1 * t) - s1 * np.exp(s2 * t)) / (s2 - s1))
    np.testing.assert_allclose(motion.q[:, model.q_of(name).start] - 1.0, expected, atol=1e-10)


def test_a_ball_joints_spring_oscillates_harmonically_at_any_angle():
    """A ball of moment I about a fixed axis: angle'' = -k/I angle, far beyond small angles."""
    inertia, stiffness, angle = 0.2, 3.0, 2.8
    axis = np.array([1.0, 2.0, -2.0]) / 3
    ball = hs.Link("ball", 1.0, inertia=inertia)
    model = hs.build([ball], [hs.Joint("joint", "spherical", WORLD, "ball", stiffness=stiffness)])
    start = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])
    motion = hs.rollout(model, (start, np.zeros(3)), dt=1e-3, steps=1500, integrator=hs.RungeKutta4())
    expected = angle * np.cos(np.sqrt(stiffness / inertia) * np.asarray(motion.t))
    np.testing.assert_allclose(motion.q[:, 1:] @ axis, np.sin(expected / 2), atol=1e-9)


FRICTION, SLOW = 3.0, 0.01


def sled(damping: float = 0.0) -> hs.Model:
    joint = hs.Joint(
        "slide", "prismatic", WORLD, "sled", axis=(1, 0, 0), friction=FRICTION, friction_speed=SLOW, damping=damping
    )
    return hs.build([hs.Link("sled", MASS, inertia=0.1)], [joint])


@pytest.mark.parametrize(("force", "speed"), [(0.9 * FRICTION, SLOW * np.arctanh(0.9)), (5.0, (5.0 - FRICTION) / 0.8)])
def test_a_pushed_sled_creeps_below_the_friction_and_runs_above_it(force, speed):
    """Terminal speed: force = friction tanh(v / slow) + damping v."""
    model = sled(damping=0.8 if force > FRICTION else 0.0)
    forces = np.full((4000, 1), force)
    motion = hs.rollout(model, (np.zeros(1), np.zeros(1)), forces, dt=5e-3, integrator=hs.ImplicitDamping())
    np.testing.assert_allclose(motion.qd[-1], [speed], rtol=1e-3)


def test_a_sliding_sled_stops_after_the_time_and_distance_of_coulombs_law():
    """t = m v / F, x = m v^2 / (2 F), up to the slow end of the motion where friction is smoothed."""
    v = 2.0
    motion = hs.rollout(sled(), (np.zeros(1), np.array([v])), dt=1e-3, steps=3000, integrator=hs.ImplicitDamping())
    np.testing.assert_allclose(motion.q[-1, 0], MASS * v**2 / (2 * FRICTION), rtol=2e-3)
    stop = MASS * v / FRICTION
    speeds = np.asarray(motion.qd[:, 0])
    assert speeds[int(1000 * (stop - 0.05))] > 0.05
    assert np.all(np.abs(speeds[int(1000 * (stop + 0.1)) :]) < 1e-3)
