"""The exported module in MuJoCo moves the plain robot as HybridSim moves the hybrid.

With contact, limits and MuJoCo's implicit damping switched off, both integrate by the same semi-implicit Euler, so what is
left are rounding errors.
"""

import mujoco
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate.export import write_augmentation

from .exported import SMALL, force, friction, hybrid, imported

DT, STEPS = 1e-3, 1000
TIMES = DT * np.arange(STEPS)
TORQUES = np.stack([6 * np.sin(7 * TIMES), 2 * np.cos(9 * TIMES)], axis=1)
START = np.array([0.4, -0.3]), np.array([1.0, -2.0])
OFF = (mujoco.mjtDisableBit.mjDSBL_EULERDAMP, mujoco.mjtDisableBit.mjDSBL_CONTACT, mujoco.mjtDisableBit.mjDSBL_LIMIT)

SLIDER = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="cart">
      <joint name="rail" type="slide" axis="1 0 0" damping="0.4" frictionloss="0.3"/>
      <geom type="box" size="0.1 0.1 0.1" mass="2"/>
      <body name="pole" pos="0 0 0.1">
        <joint name="hinge" axis="0 1 0" stiffness="1.5" damping="0.05" frictionloss="0.2"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.02" mass="0.5"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="drive" joint="rail" gear="3"/></actuator>
</mujoco>
"""


@pytest.fixture(scope="module")
def arm(arm_file) -> hs.Model:
    """Friction of both joints, a spring at the elbow, and a force at the shoulder that depends on the elbow."""
    potential = hs.Augment("joint.passive_force", "joint.position", hs.Conservative(SMALL), entities="elbow")
    coupling = force("joint.velocity[elbow]", "joint.position", network=hs.Bounded(SMALL, 2.0), entities="shoulder")
    return hybrid(hs.load(arm_file), [friction("joint.velocity", "joint.command"), potential, coupling])


@pytest.fixture(scope="module")
def folder(arm, arm_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("arm")
    written = write_augmentation(arm, folder, like=arm_file)
    assert "plain.urdf" in written
    return folder


@pytest.fixture(scope="module")
def wanted(arm):
    """Of the hybrid, and of the robot as it is in the file."""
    return rolled(arm, TORQUES)


@pytest.fixture
def module(folder):
    module = imported(folder)
    yield module
    module.uninstall()
    assert mujoco.get_mjcb_passive() is None


def rolled(model: hs.Model, controls) -> np.ndarray:
    return hs.native.jit(lambda: hs.rollout(model, START, controls, dt=DT, steps=STEPS, contact=None).q)()


def prepared(model: mujoco.MjModel) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model.opt.timestep = DT
    model.opt.disableflags |= sum(map(int, OFF))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = START
    return model, data


def simulated(model, data, forces=None, controls=None) -> np.ndarray:
    positions = [data.qpos.copy()]
    for k in range(STEPS):
        if forces is not None:
            data.qfrc_applied[:] = forces[k]
        if controls is not None:
            data.ctrl[:] = controls[k]
        mujoco.mj_step(model, data)
        positions.append(data.qpos.copy())
    return np.array(positions)


def test_mujoco_moves_the_arm_as_we_do(arm, folder, module, wanted):
    model, data = prepared(mujoco.MjModel.from_xml_path(str(folder / "plain.urdf")))
    with module.install(model):
        found = simulated(model, data, TORQUES)
    np.testing.assert_allclose(found, wanted, atol=1e-10)
    model, data = prepared(model)
    without = simulated(model, data, TORQUES)
    assert np.abs(without - wanted).max() > 0.1


def motors(folder, **options) -> mujoco.MjModel:
    """The arm with a motor of gear 4 at each joint."""
    spec = mujoco.MjSpec.from_file(str(folder / "plain.urdf"))
    for joint in ("elbow", "shoulder"):
        trntype = mujoco.mjtTrn.mjTRN_JOINT
        spec.add_actuator(name=f"motor of {joint}", target=joint, trntype=trntype, gear=[4, 0, 0, 0, 0, 0], **options)
    return spec.compile()


def test_commands_of_motors_count(folder, module, wanted):
    model, data = prepared(motors(folder))
    with module.install(model):
        found = simulated(model, data, controls=TORQUES[:, ::-1] / 4)
    np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_servos_need_a_function_that_knows_the_command(folder, module):
    model, data = prepared(motors(folder, biastype=mujoco.mjtBias.mjBIAS_AFFINE))
    with pytest.raises(ValueError, match=r"'motor of elbow' .* is no plain motor .*install\(model, command=...\)"):
        module.install(model)
    assert mujoco.get_mjcb_passive() is None
    with module.install(model, command=lambda data: np.array([3.0, -1.0])):
        mujoco.mj_forward(model, data)
    damping = -model.dof_damping * START[1]
    np.testing.assert_allclose(data.qfrc_passive, damping + module.force(*START, [3.0, -1.0]), rtol=1e-13)


def test_motors_of_a_model_with_actuators_do_not_count(tmp_path):
    """There a joint's command is what acts beside the actuators; here by a slide and a hinge of an MJCF file.

    The rail has friction without a network, which MuJoCo would compute otherwise: it is exported as well.
    """
    like = tmp_path / "slider.xml"
    like.write_text(SLIDER)
    learned = [friction("joint.velocity", "joint.command", entities="hinge"), force("joint.command", entities="rail")]
    model = hybrid(hs.load(like), learned)
    folder = tmp_path / "out"
    assert "plain.xml" in write_augmentation(model, folder, like=like, whole_friction=True)
    module = imported(folder)
    wanted = rolled(model, hs.Control(command=TORQUES[:, :1], force=TORQUES[:, ::-1] / 5))
    robot, data = prepared(mujoco.MjModel.from_xml_path(str(folder / "plain.xml")))
    with module.install(robot):
        found = simulated(robot, data, TORQUES[:, ::-1] / 5, TORQUES[:, :1])
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_joints_are_found_by_name(module):
    model = mujoco.MjModel.from_xml_string(SLIDER)
    with pytest.raises(ValueError, match="has no joint shoulder, elbow; it has: rail, hinge"):
        module.install(model)
    balls = "".join(f'<body><joint name="{name}" type="ball"/><geom size="1"/></body>' for name in module.JOINTS)
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{balls}</worldbody></mujoco>")
    with pytest.raises(ValueError, match="shoulder, elbow of the MuJoCo model is neither a hinge nor a slide"):
        module.install(model)
    assert mujoco.get_mjcb_passive() is None


def test_the_callback_goes_away_after_errors_too(folder, module):
    model, data = prepared(mujoco.MjModel.from_xml_path(str(folder / "plain.urdf")))

    def broken(data):
        raise KeyError("no such command")

    with pytest.raises(KeyError, match="no such command"), module.install(model, command=broken):
        mujoco.mj_step(model, data)
    assert mujoco.get_mjcb_passive() is None
    mujoco.mj_step(model, data)


def test_other_models_and_callbacks_are_left_alone(folder, module):
    model, data = prepared(mujoco.MjModel.from_xml_path(str(folder / "plain.urdf")))
    other, data_of_other = prepared(mujoco.MjModel.from_xml_path(str(folder / "plain.urdf")))
    # Twice is as once.
    module.install(model)
    module.install(model)
    for simulation in ((model, data), (other, data_of_other)):
        mujoco.mj_forward(*simulation)
    added = data.qfrc_passive - data_of_other.qfrc_passive
    np.testing.assert_allclose(added, module.force(*START, [0.0, 0.0]), rtol=1e-12)
    module.uninstall()

    def own(model, data):
        return None

    mujoco.set_mjcb_passive(own)
    try:
        with pytest.raises(RuntimeError, match="another passive callback"):
            module.install(model)
        module.uninstall()
        assert mujoco.get_mjcb_passive() is own
    finally:
        mujoco.set_mjcb_passive(None)
