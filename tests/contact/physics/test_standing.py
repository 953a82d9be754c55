"""Standing mechanisms: contact carries the weight, joints what inverse dynamics and MuJoCo say."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.contact.impulse.solve import converged
from hybridsim.contact.rows import frames

from .internals import no_impulses, take_apart
from .scenes import G, motion, start

TABLE = """
<mujoco><option timestep="0.001" cone="elliptic"/><compiler angle="radian"/>
  <worldbody><geom name="floor" type="plane" size="5 5 1" friction="0.9 0 0"/>
    <body name="torso" pos="0 0 0.3"><freejoint/>
      <inertial pos="0.02 0.01 0" mass="3" diaginertia="0.03 0.04 0.05"/>
      {legs}
    </body></worldbody></mujoco>"""
LEG = """<body name="leg{i}" pos="{x} {y} 0">
  <joint name="hip{i}" axis="0 1 0" stiffness="80" damping="3" springref="{rest}"/>
  <inertial pos="0 0 -0.15" mass="0.4" diaginertia="0.004 0.004 0.001"/>
  <geom name="foot{i}" type="sphere" size="0.03" pos="0 0 -0.27" friction="0.9 0 0"/></body>"""
FEET = [(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)]
XML = TABLE.format(
    legs="".join(LEG.format(i=i, x=x, y=y, rest=0.2 if x > 0 else -0.1) for i, (x, y) in enumerate(FEET))
)
MASS = 3 + 4 * 0.4


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    file = tmp_path_factory.mktemp("table") / "table.xml"
    file.write_text(XML)
    return hs.load(file, self_collision=False)


@pytest.fixture(scope="module")
def settled(table):
    path = motion(hs.Impulses(), 3000)(table, *start(table))
    return path.q[-1], path.qd[-1]


def forces(model, q, qd):
    """Contact forces in the world at all points, and where they act."""
    return [np.asarray(x) for x in _forces(model, q, qd)]


@jax.jit
def _forces(model, q, qd):
    dt = 1e-3
    step = take_apart(model, q, qd, dt)
    points = step.scene.numbers.points
    x = converged(hs.Cone(), step.problem, no_impulses(step.problem), jnp.asarray(True), 1e-14)
    return jnp.einsum("nij,ni->nj", frames(points.normal), x.contacts) / dt, points.position


def test_contact_carries_the_weight(table, settled):
    q, qd = settled
    assert np.abs(qd).max() < 1e-4
    force, place = forces(table, q, qd)
    assert force.sum(0) == pytest.approx([0, 0, MASS * G], abs=1e-3 * MASS * G)
    centre = np.asarray(hs.centre_of_mass(table, q))
    assert np.cross(place - centre, force).sum(0) == pytest.approx(0, abs=1e-3 * MASS * G)


def test_joints_carry_what_inverse_dynamics_says(table, settled):
    q, qd = settled
    force, place = forces(table, q, qd)
    wrenches = {}
    for i in range(4):
        link = np.asarray(hs.forward_kinematics(table, q)[f"leg{i}"].position)
        wrenches[f"leg{i}"] = np.concatenate([np.cross(place[i] - link, force[i]), force[i]])
    carried = np.asarray(hs.inverse_dynamics(table, q, np.zeros(table.nv), np.zeros(table.nv), wrenches))
    springs = np.asarray(hs.passive_forces(table, q, np.zeros(table.nv)))
    assert carried == pytest.approx(springs, abs=2e-2)


def test_it_stands_as_in_mujoco(table, settled):
    twin = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(twin)
    for _ in range(3000):
        mujoco.mj_step(twin, data)
    # MuJoCo's feet sink by a fraction of a millimetre and creep.
    assert settled[0][7:] == pytest.approx(data.qpos[7:], abs=2e-2)
    assert settled[0][2] == pytest.approx(data.qpos[2], abs=2e-3)


@pytest.mark.parametrize("friction", [0.1, 0.4])
def test_sliding_as_in_mujoco(friction):
    twin = mujoco.MjModel.from_xml_string(f"""
    <mujoco><option timestep="0.001" cone="elliptic" impratio="10"/><worldbody>
      <geom type="plane" size="5 5 1" friction="{friction} 0 0"/>
      <body pos="0 0 0.05"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="1" friction="{friction} 0 0"/></body>
    </worldbody></mujoco>""")
    data = mujoco.MjData(twin)
    for _ in range(200):
        mujoco.mj_step(twin, data)
    data.qvel[:2] = [2.0, 1.0]
    first = None
    for k in range(200):
        mujoco.mj_step(twin, data)
        first = data.qvel[:2].copy() if k == 50 else first
    theirs = np.linalg.norm(first - data.qvel[:2]) / 0.149
    assert theirs == pytest.approx(friction * G, rel=0.02)  # Ours is tested against the closed form.
