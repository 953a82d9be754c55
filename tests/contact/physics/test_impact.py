"""An oblique impact of a rod: against the closed form of the Delassus matrix, and against MuJoCo with a stiff contact."""

import mujoco
import numpy as np
import pytest

import hybridsim as hs

from .scenes import alone, motion, start, turned, with_gravity

RADIUS, HALF, MASS = 0.03, 0.2, 1.3
TILT = 0.5
CASES = {
    "sticks": (1.0, np.array([0.0, 0.0, 0.0]), np.array([0.2, 0.1, -1.0])),
    "slides": (0.1, np.array([0.5, 1.0, 0.3]), np.array([1.5, 0.6, -1.0])),
    "without friction": (0.0, np.array([0.5, 2.0, 0.0]), np.array([1.0, -0.3, -1.2])),
}
"""Friction, angular velocity and velocity of the centre, world axes."""


def rod(friction, restitution=0.0):
    """Its lower end just touches the ground; turned about y, so that it points to (sin, 0, cos)."""
    model = with_gravity(alone("capsule", (RADIUS, HALF), MASS, friction=friction, restitution=restitution), (0, 0, 0))
    q, qd = start(model)
    q[:] = [0, 0, RADIUS + HALF * np.cos(TILT), np.cos(TILT / 2), 0, np.sin(TILT / 2), 0]
    return model, q, qd


def before(q, spin, velocity):
    back = np.concatenate([q[:4], -q[4:]])
    return np.concatenate([turned(back, spin), turned(back, velocity)])


def closed_form(model, friction, spin, velocity, restitution=0.0):
    """Velocities after the impact at the lower end, from mass, inertia and the arm of the point."""
    R = np.array([[np.cos(TILT), 0, np.sin(TILT)], [0, 1, 0], [-np.sin(TILT), 0, np.cos(TILT)]])
    inertia = np.asarray(model.links.inertia)[0, :3]
    inverse = R @ np.diag(1 / inertia) @ R.T
    arm = np.array([-HALF * np.sin(TILT), 0, -HALF * np.cos(TILT) - RADIUS])
    cross = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    A = np.eye(3) / MASS - cross @ inverse @ cross
    point = velocity + np.cross(spin, arm)
    wanted = np.array([0, 0, -restitution * point[2]])
    impulse = np.linalg.solve(A, wanted - point)
    if np.hypot(*impulse[:2]) > friction * impulse[2]:
        impulse = _sliding(A, point, wanted[2], friction)
    return spin + inverse @ np.cross(arm, impulse), velocity + impulse / MASS


def _sliding(A, point, rises, friction):
    """Friction of full size against the sliding velocity after the impact: a fixed point of its direction."""
    angle = np.arctan2(-point[1], -point[0])
    for _ in range(2000):
        direction = np.array([friction * np.cos(angle), friction * np.sin(angle), 1.0])
        impulse = (rises - point[2]) / (A[2] @ direction) * direction
        after = point + A @ impulse
        angle = np.arctan2(-after[1], -after[0])
    return impulse


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("case", CASES)
def test_impact_of_a_rod(case, restitution):
    friction, spin, velocity = CASES[case]
    model, q, _ = rod(friction, restitution)
    path = motion(hs.Impulses(), 1, 1e-7)(model, q, before(q, spin, velocity))
    exact_spin, exact_velocity = closed_form(model, friction, spin, velocity, restitution)
    assert turned(path.q[1], path.qd[1, :3]) == pytest.approx(exact_spin, abs=2e-5)
    assert turned(path.q[1], path.qd[1, 3:]) == pytest.approx(exact_velocity, abs=2e-5)


@pytest.mark.parametrize("case", ["sticks", "without friction"])
def test_impact_of_a_rod_as_in_mujoco(case):
    """Not where it slides: there MuJoCo's convex friction makes the point rise, at friction times sliding speed."""
    friction, spin, velocity = CASES[case]
    model, q, _ = rod(friction)
    twin = mujoco.MjModel.from_xml_string(f"""
    <mujoco><option gravity="0 0 0" timestep="1e-6" cone="elliptic" impratio="100"/>
      <worldbody><geom type="plane" size="5 5 1" friction="{friction} 0 0" solref="-1 -1e5" solimp="0.9999 0.9999 1e-6"/>
        <body><freejoint/><inertial pos="0 0 0" mass="{MASS}"
          diaginertia="{" ".join(str(x) for x in np.asarray(model.links.inertia)[0, :3])}"/>
          <geom type="capsule" size="{RADIUS} {HALF}" friction="{friction} 0 0" condim="3"
            solref="-1 -1e5" solimp="0.9999 0.9999 1e-6"/></body></worldbody></mujoco>""")
    data = mujoco.MjData(twin)
    start_speed = before(q, spin, velocity)
    data.qpos[:] = q
    data.qvel[:] = [*velocity, *start_speed[:3]]
    for _ in range(300):
        mujoco.mj_step(twin, data)
    path = motion(hs.Impulses(), 1, 1e-7)(model, q, start_speed)
    assert turned(path.q[1], path.qd[1, 3:]) == pytest.approx(data.qvel[:3], abs=0.02)
    assert path.qd[1, :3] == pytest.approx(data.qvel[3:], abs=0.1)
