"""Step by step with MuJoCo: its Euler integrator is our implicit damping, its Runge-Kutta ours; actuators too."""

import mujoco
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.model import WORLD, Spec, build_spec
from physics.crosscheck.oracle_mujoco import SPRINGS, MujocoOracle

STEPS, DT = 200, 2e-3
LINK = (
    1.0,
    np.array([0.1, -0.05, -0.2]),
    np.array([[0.03, 0.002, -0.003], [0.002, 0.04, 0.004], [-0.003, 0.004, 0.05]]),
)


def joint(name, kind, parent, child, nv, **numbers) -> hs.Joint:
    """All numbers written out, as the oracle wants them; damping, springs and rotors unless told otherwise."""
    at_zero = {4: [1, 0, 0, 0], 7: [0, 0, 0, 1, 0, 0, 0]}
    nq = {"spherical": 4, "free": 7}.get(kind, nv)
    defaults = {
        "position": (0.1, 0.0, -0.3) if parent != WORLD else (0.0, 0.2, 0.0),
        "anchor": (0.0, 0.0, 0.0),
        "quaternion": (1.0, 0.2, -0.1, 0.3),
        "axis": (0.3, 1.0, 0.2),
        "spring_rest": at_zero.get(nq, np.zeros(nq)),
        "stiffness": 3.0,
        "damping": 0.8,
        "armature": 0.05,
    }
    numbers = {**defaults, **numbers}
    for what in ("stiffness", "damping", "armature"):
        numbers[what] = np.broadcast_to(np.asarray(numbers[what], dtype=float), nv)
    return hs.Joint(name, kind, parent, child, **numbers)


def arm() -> Spec:
    """Hinge, slide and ball joints in a tree, with a body that has two joints and an anchor."""
    joints = [
        joint("hinge", "revolute", WORLD, "a", 1),
        joint("hinge2", "revolute", "a", "b", 1, anchor=(0.1, 0, 0.2)),
        joint("slide", "prismatic", "a", "b", 1, position=(0, 0, 0), quaternion=(1, 0, 0, 0), axis=(1, 0, 0)),
        joint("ball", "spherical", "a", "c", 3),
    ]
    return Spec([hs.Link(name, *LINK) for name in "abc"], joints)


def drone(damping: float) -> Spec:
    """A free body that carries an arm."""
    joints = [
        joint("free", "free", WORLD, "a", 6, armature=0.0, stiffness=0.0, damping=damping),
        joint("hinge", "revolute", "a", "b", 1),
    ]
    return Spec([hs.Link(name, *LINK) for name in "ab"], joints)


def hinges() -> Spec:
    joints = [joint(f"j{i}", "revolute", f"l{i - 1}" if i else WORLD, f"l{i}", 1, axis=np.eye(3)[i]) for i in range(3)]
    return Spec([hs.Link(f"l{i}", *LINK) for i in range(3)], joints)


def trajectories(spec: Spec, ours: hs.simulate.Integrator, theirs: int):
    """(q, v) of both engines at each step, in MuJoCo's coordinates."""
    model, oracle = build_spec(spec), MujocoOracle(spec)
    rng = np.random.default_rng(0)
    state = (model.rest()[0], rng.normal(size=model.nv))
    oracle.model.opt.disableflags &= ~SPRINGS
    oracle.model.opt.integrator, oracle.model.opt.timestep = theirs, DT
    data = mujoco.MjData(oracle.model)
    data.qpos, data.qvel = oracle.configuration(state[0]), oracle.velocity_map(*state).velocity(state[1])
    found = hs.rollout(model, state, dt=DT, steps=STEPS, integrator=ours)
    for q, qd in zip(np.asarray(found.q)[1:], np.asarray(found.qd)[1:], strict=True):
        mujoco.mj_step(oracle.model, data)
        ours_q = oracle.configuration(q)
        for j in range(oracle.model.njnt):  # Both signs of a quaternion are the same rotation.
            if oracle.model.jnt_type[j] in (mujoco.mjtJoint.mjJNT_BALL, mujoco.mjtJoint.mjJNT_FREE):
                start = oracle.model.jnt_qposadr[j] + (
                    3 if oracle.model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE else 0
                )
                if ours_q[start : start + 4] @ data.qpos[start : start + 4] < 0:
                    ours_q[start : start + 4] *= -1
        yield np.concatenate([ours_q, oracle.velocity_map(q, qd).velocity(qd)]), np.concatenate([data.qpos, data.qvel])


EULER, RK4 = mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtIntegrator.mjINT_RK4


@pytest.mark.parametrize(
    "spec",
    [arm(), drone(damping=0.0), drone(damping=0.8)],
    ids=["hinges, slides and balls", "free body", "damped free body"],
)
def test_implicit_damping_is_mujocos_euler_step_by_step(spec):
    for k, (ours, theirs) in enumerate(trajectories(spec, hs.ImplicitDamping(), EULER)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10, err_msg=f"step {k + 1}")


def test_runge_kutta_is_mujocos_step_by_step():
    for k, (ours, theirs) in enumerate(trajectories(hinges(), hs.RungeKutta4(), RK4)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10, err_msg=f"step {k + 1}")


DRIVEN = """
<mujoco>
  <option timestep="0.002"><flag constraint="disable" contact="disable"/></option>
  <worldbody>
    <body name="a" pos="0 0 0">
      <inertial pos="0.1 0 -0.2" mass="1" diaginertia="0.03 0.04 0.05"/>
      <joint name="shoulder" axis="0 1 0" damping="0.2" actuatorfrclimited="true" actuatorfrcrange="-2.5 2.5"/>
      <body name="b" pos="0 0 -0.5">
        <inertial pos="0.1 0 -0.2" mass="1" diaginertia="0.03 0.04 0.05"/>
        <joint name="elbow" axis="0 1 0" damping="0.2"/>
        <body name="c" pos="0 0 -0.5">
          <inertial pos="0.1 0 -0.2" mass="1" diaginertia="0.03 0.04 0.05"/>
          <joint name="slide" type="slide" axis="1 0 0" damping="0.2"/>
        </body>
      </body>
    </body>
    <body name="d" pos="0 1 0">
      <inertial pos="0.1 0 -0.2" mass="1" diaginertia="0.03 0.04 0.05"/>
      <joint name="ball" type="ball" damping="0.2"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="motor" joint="shoulder" gear="2.5" ctrllimited="true" ctrlrange="-1 0.5"/>
    <position name="servo" joint="elbow" kp="20" kv="1.5" gear="-1.5" forcelimited="true" forcerange="-3 4"/>
    <velocity name="speed" joint="slide" kv="7" gear="3"/>
    <motor name="ball motor" joint="ball" gear="1 -2 0.5 0 0 0"/>
    <position name="ball servo" joint="ball" kp="3" gear="0.3 1 2 0 0 0"/>
  </actuator>
</mujoco>
"""


def driven() -> hs.Model:
    """The same arm as DRIVEN."""
    links = [hs.Link(name, 1.0, (0.1, 0, -0.2), (0.03, 0.04, 0.05)) for name in "abcd"]
    joints = [
        hs.Joint("shoulder", "revolute", WORLD, "a", axis=(0, 1, 0), damping=0.2, effort=2.5),
        hs.Joint("elbow", "revolute", "a", "b", position=(0, 0, -0.5), axis=(0, 1, 0), damping=0.2),
        hs.Joint("slide", "prismatic", "b", "c", position=(0, 0, -0.5), axis=(1, 0, 0), damping=0.2),
        hs.Joint("ball", "spherical", WORLD, "d", position=(0, 1, 0), damping=0.2),
    ]
    actuators = [
        hs.Actuator("motor", "shoulder", gear=2.5, command_range=(-1, 0.5)),
        hs.Actuator("servo", "elbow", gain=20, bias=(0, -20, -1.5), gear=-1.5, force_range=(-3, 4)),
        hs.Actuator.velocity("speed", "slide", kv=7, gear=3),
        hs.Actuator.motor("ball motor", "ball", gear=(1, -2, 0.5)),
        hs.Actuator.position("ball servo", "ball", kp=3, gear=(0.3, 1, 2)),
    ]
    return hs.build(links, joints, actuators)


def test_actuators_push_as_mujocos_do():
    """Within ranges and beyond them; through the accelerations, as the engine has no other use for forces."""
    model, theirs = driven(), mujoco.MjModel.from_xml_string(DRIVEN)
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(0)
    # MuJoCo wraps the error of a servo on a ball joint into half a turn; its commands stay below that.
    commands = 3 * rng.normal(size=(20, 5)) * [1, 1, 1, 1, 0.2]
    clipped = set()
    for command in commands:
        q, qd = hs.dynamics.project(model, model.rest()[0] + rng.normal(size=model.nq)), rng.normal(size=model.nv)
        qdd = hs.acceleration(model, (q, qd), command)
        actuation = hs.inverse_dynamics(model, q, qd, qdd) - hs.passive_forces(model, q, qd)
        data.qpos, data.qvel, data.ctrl = q, qd, command
        mujoco.mj_forward(theirs, data)
        np.testing.assert_allclose(actuation, data.qfrc_actuator, rtol=1e-9, atol=1e-9)
        clipped |= {"effort"} if abs(data.qfrc_actuator[0]) == 2.5 else set()
        clipped |= {"force"} if data.actuator_force[1] in (-3, 4) else {"free"}
    assert clipped == {"effort", "force", "free"}  # So every branch was compared.


def test_a_driven_arm_moves_as_mujocos():
    model, theirs = driven(), mujoco.MjModel.from_xml_string(DRIVEN)
    data = mujoco.MjData(theirs)
    commands = np.random.default_rng(1).normal(size=(STEPS, 5))
    found = hs.rollout(model, model.rest(), commands, dt=DT, integrator=hs.ImplicitDamping())
    for k, command in enumerate(commands):
        data.ctrl = command
        mujoco.mj_step(theirs, data)
        np.testing.assert_allclose(found.q[k + 1], data.qpos, rtol=1e-10, atol=1e-10, err_msg=f"step {k + 1}")
        np.testing.assert_allclose(found.qd[k + 1], data.qvel, rtol=1e-10, atol=1e-10, err_msg=f"step {k + 1}")
