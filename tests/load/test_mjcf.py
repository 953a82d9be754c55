"""MJCF files become the mechanisms that MuJoCo makes of them, and nothing is dropped in silence."""

import subprocess
import sys
import warnings
from pathlib import Path

import equinox as eqx
import mujoco
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.simulate import acceleration, passive_forces
from physics.evaluate import evaluate

from .mujoco_mjcf import MujocoFile, compiled, error

FILES = Path(__file__).parent / "files"
QUIET = ["attach_main", "balls", "frames", "hopper", "include_main", "quadruped", "servos", "totals"]
"""Files in which everything is simulated, but for contact within a mechanism."""
ALL = [*QUIET, "flags", "hand", "missing_mesh"]


def load(name: str, **options) -> hs.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.ModelWarning)
        return hs.load(FILES / f"{name}.xml", **options)


def load_text(tmp_path: Path, text: str, **options) -> hs.Model:
    path = tmp_path / "robot.xml"
    path.write_text(text)
    return hs.load(path, **options)


def one_body(joint: str, rest: str = "") -> str:
    """A file with one body that has one joint, a kilogram and a moment of inertia."""
    inertial = '<inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/>'
    return f'<mujoco><worldbody><body name="b">{joint}{inertial}</body></worldbody>{rest}</mujoco>'


def without_friction(model: hs.Model) -> hs.Model:
    return eqx.tree_at(lambda m: m.joints.friction, model, 0 * model.joints.friction)


class TestAgainstMujoco:
    @pytest.mark.parametrize("name", ALL)
    def test_names_sizes_and_masses(self, name):
        model, theirs = load(name), compiled(FILES / f"{name}.xml")
        assert (model.nq, model.nv) == (theirs.nq, theirs.nv)
        np.testing.assert_allclose(model.rest()[0], theirs.qpos0, rtol=1e-15)
        moving = [n for n, kind in zip(model.joint_names, model.topology.kinds, strict=True) if kind.nv]
        assert len(moving) == theirs.njnt
        assert all(theirs.joint(i).name in (n, "") for i, n in enumerate(moving))
        assert all(theirs.body(i + 1).name in (n, "") for i, n in enumerate(model.link_names))
        np.testing.assert_array_equal(model.links.mass, theirs.body_mass[1:])

    @pytest.mark.parametrize("name", ALL)
    def test_mass_matrix_and_accelerations(self, name):
        model, witness = load(name), MujocoFile(FILES / f"{name}.xml")
        for seed in range(2):
            q, qd, tau = witness.random_state(seed)
            assert error(evaluate(hs.mass_matrix, model, q), witness.mass_matrix(q)) < 1e-13
            ours = evaluate(hs.forward_dynamics, model, q, qd, tau)
            assert error(ours, witness.forward_dynamics(q, qd, tau)) < 1e-10

    @pytest.mark.parametrize("name", QUIET)
    def test_springs_and_dampers(self, name):
        model, witness = without_friction(load(name)), MujocoFile(FILES / f"{name}.xml")
        q, qd, _ = witness.random_state(2)
        ours, theirs = evaluate(passive_forces, model, q, qd), witness.passive_forces(q, qd)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)

    @pytest.mark.parametrize("name", ["hopper", "quadruped", "servos", "attach_main"])
    @pytest.mark.parametrize("size", [0.2, 30.0])
    def test_actuators_within_and_beyond_their_ranges(self, name, size):
        model, witness = without_friction(load(name)), MujocoFile(FILES / f"{name}.xml")
        assert model.nu == witness.model.nu
        q, qd, _ = witness.random_state(3)
        command = size * np.random.default_rng(4).normal(size=model.nu)
        ours = evaluate(acceleration, model, (q, qd), command)
        assert error(ours, witness.acceleration(q, qd, command)) < 1e-10


class TestJoints:
    def test_reference_moves_the_zero_and_not_the_picture(self):
        """By hand: the hopper's torso is 1.25 m up at rootz = 1.25, so at 0 it is at its parent's height 0."""
        model = load("hopper")
        assert model.rest()[0][1] == 1.25
        z = model.topology.joint("rootz")
        np.testing.assert_allclose(model.joints.position[z], [0, 0, -1.25])
        np.testing.assert_allclose(model.joints.position[z - 1], [0, 0, 1.25])

    def test_limits_springs_and_friction_in_radians(self):
        model = load("hopper")
        leg, foot = model.v_of("leg_joint"), model.v_of("foot_joint")
        np.testing.assert_allclose(model.joints.lower[leg], np.radians(-150))
        np.testing.assert_allclose(model.joints.spring_rest[model.q_of("leg_joint")], np.radians(-30))
        np.testing.assert_array_equal(model.joints.friction[foot], 0.3)
        assert model.joints.upper[model.v_of("rootx")] == np.inf

    def test_free_joint_rests_where_the_body_is(self):
        q = load("balls").rest()[0][load("balls").q_of("flight")]
        np.testing.assert_array_equal(q[:3], [1, 1, 1])
        assert load("balls").joints.position[load("balls").topology.joint("flight")].tolist() == [0, 0, 0]

    def test_bodies_without_joint_are_fixed(self):
        model = load("balls")
        assert model.topology.kinds[model.topology.joint("tip_fixed")].name == "fixed"

    def test_things_without_name_are_called_by_their_place(self):
        model = load("frames")
        assert model.link_names == (
            *("arm", "arm_body1", "arm_body1_body1", "arm_body2"),
            *("post0", "post1", "post2", "body5"),
        )
        assert {"arm_body1_joint", "arm_body1_body1_fixed", "arm_body2_joint2", "body5_free"} <= set(model.joint_names)

    def test_a_made_up_name_gives_way_to_a_real_one(self, tmp_path):
        two = one_body("<joint/>").replace(
            "</worldbody>", '<body name="c"><joint name="b_joint"/><geom size="1"/></body></worldbody>'
        )
        assert load_text(tmp_path, two).joint_names == ("b_joint_2", "b_joint")

    @pytest.mark.filterwarnings("ignore::hybridsim.model.errors.ModelWarning")
    def test_bodies_that_mujoco_would_fuse_stay(self, tmp_path):
        text = (FILES / "balls.xml").read_text().replace('angle="radian"', 'angle="radian" fusestatic="true"')
        np.testing.assert_array_equal(load_text(tmp_path, text).links.mass, load("balls").links.mass)

    def test_effort_limit_of_a_joint(self):
        model = load("servos")
        assert model.joints.effort[model.v_of("j2")] == 5
        assert model.joints.effort[model.v_of("j1")] == np.inf

    @pytest.mark.skipif(int(mujoco.__version__[0]) < 4, reason="older MuJoCo has no such attribute")
    def test_rotors_of_motors_are_seen_through_the_gear_squared(self, tmp_path):
        motors = '<motor joint="j" gear="3" armature="2" damping="1"/><motor joint="j" gear="-2" armature="0.5"/>'
        text = one_body('<joint name="j" armature="0.1" damping="0.2"/>', f"<actuator>{motors}</actuator>")
        model = load_text(tmp_path, text)
        np.testing.assert_allclose(model.joints.armature, 0.1 + 9 * 2 + 4 * 0.5)
        np.testing.assert_allclose(model.joints.damping, 0.2 + 9 * 1)
        witness = MujocoFile(tmp_path / "robot.xml")
        q, qd, _ = witness.random_state(0)
        np.testing.assert_allclose(evaluate(hs.mass_matrix, model, q), witness.mass_matrix(q), rtol=1e-14)
        np.testing.assert_allclose(evaluate(passive_forces, model, q, qd), witness.passive_forces(q, qd), rtol=1e-14)


def test_a_bias_that_is_switched_off_has_no_effect(tmp_path):
    actuator = '<general joint="j" gainprm="4" biasprm="1 2 3"/>'
    model = load_text(tmp_path, one_body('<joint name="j"/>', f"<actuator>{actuator}</actuator>"))
    assert model.actuators.gain.tolist() == [4]
    assert model.actuators.bias.tolist() == [[0, 0, 0]]


class TestShapes:
    def test_collision_shapes_and_only_those(self):
        g = load("quadruped").geometry
        trunk = load("quadruped").topology.link("trunk")
        assert [s for s, link in zip(g.shapes, g.links, strict=True) if link == trunk] == ["box"]
        assert (g.shapes[0], g.links[0], g.names[0], g.friction[0]) == ("plane", -1, "floor", 0.8)

    def test_a_capsule_between_two_points(self):
        model = load("hopper")
        i = model.geometry.names.index("foot_geom")
        np.testing.assert_allclose(model.geometry.size[i], [0.06, 0.195, 0])
        np.testing.assert_allclose(model.geometry.position[i], [0.065, 0, 0.1])

    def test_filter_bits(self):
        model = load("balls")
        assert model.geometry.groups[model.geometry.shapes.index("sphere")] == (2, 5)

    def test_contact_of_dimension_one_has_no_friction(self):
        g = load("hopper").geometry
        assert g.friction[g.names.index("foot_geom")] == 0
        assert g.friction[g.names.index("floor")] == 1

    def test_a_mesh_becomes_the_corners_of_its_hull(self):
        """By hand: five vertices, of which the last lies inside the tetrahedron of the others."""
        model = load("missing_mesh")
        g = model.geometry
        i = g.names.index("wedge")
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, g.quaternion[i])
        corners = g.points[i] @ R.reshape(3, 3).T + g.position[i]
        expected = np.array([[0.1, 0, 0], [0.3, 0, 0], [0.1, 0.1, 0], [0.1, 0, 0.3]])
        assert sorted(np.round(corners, 6).tolist()) == sorted(np.round(expected, 6).tolist())

    def test_meshes_can_be_left_out(self):
        from hybridsim.load.mjcf import read_mjcf

        spec, notes = read_mjcf(FILES / "missing_mesh.xml", meshes=False)
        assert spec.links[0].geoms == []
        assert any("hills.png" in note for note in notes)
        assert not any("hook.stl" in note for note in notes)


class TestWarnings:
    def test_all_that_is_not_simulated_is_in_one_warning(self):
        with pytest.warns(hs.ModelWarning) as caught:
            model = hs.load(FILES / "hand.xml")
        assert len(caught) == 1
        message = str(caught[0].message)
        for part in (
            "hand.xml",
            "equality: 1 (joint follow)",
            "tendon: 2 (coupling, flexor)",
            "gravcomp: 1 (proximal)",
            "mocap body, held fixed: 1 (target)",
            "limit of a ball joint: 1 (thumb)",
            "fluid: density 1.2",
            "pull: tendon transmission",
            "flex: muscle dynamics",
            "slow: filterexact dynamics",
            "brake: gain that depends on the motion",
            "stick: body transmission",
            "push: site transmission",
        ):
            assert part in message
        assert "measured" not in message
        assert "hold" not in message
        assert model.actuators.names == ("wrist",)

    @pytest.mark.parametrize("name", QUIET)
    def test_nothing_is_said_where_there_is_nothing_to_say(self, name):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            hs.load(FILES / f"{name}.xml", self_collision=False)

    def test_long_lists_are_cut_but_counted(self, tmp_path):
        tendons = "".join(f'<fixed name="t{i}" stiffness="1"><joint joint="j" coef="1"/></fixed>' for i in range(12))
        with pytest.warns(hs.ModelWarning, match=r"tendon: 12 \(t0, .*, t7, \.\.\.\)"):
            load_text(tmp_path, one_body('<joint name="j"/>', f"<tendon>{tendons}</tendon>"))

    def test_armature_of_a_free_joint(self, tmp_path):
        with pytest.warns(hs.ModelWarning, match="armature of a free joint"):
            load_text(tmp_path, one_body('<joint type="free" armature="1"/>'))

    @pytest.mark.skipif(int(mujoco.__version__[0]) < 4, reason="older MuJoCo has no such attribute")
    def test_springs_and_dampers_that_are_not_linear(self, tmp_path):
        text = one_body('<joint name="j" stiffness="1 2" damping="3 0 1" springyield="1"/>')
        with pytest.warns(hs.ModelWarning) as caught:
            model = load_text(tmp_path, text)
        for part in ("stiffness polynomial", "damping polynomial", "springyield"):
            assert part in str(caught[0].message)
        assert (model.joints.stiffness, model.joints.damping) == (1, 3)

    def test_switches(self):
        with pytest.warns(hs.ModelWarning, match="off: switched off"):
            model = hs.load(FILES / "flags.xml")
        assert model.gravity.tolist() == [0, 0, 0]
        joints = model.joints
        for value in (joints.stiffness, joints.damping, joints.friction):
            np.testing.assert_array_equal(value, 0)
        assert joints.lower == -np.inf
        assert model.geometry.shapes == ()
        assert model.actuators.command_range.tolist() == [[-np.inf, np.inf]]


class TestMissingFiles:
    def test_shapes_without_their_files_are_left_out_and_named(self):
        with pytest.warns(hs.ModelWarning, match=r"files not found.*hook\.stl, hills\.png") as caught:
            model = hs.load(FILES / "missing_mesh.xml")
        assert model.geometry.names == ("wedge",)
        assert "shell.stl" not in str(caught[0].message)
        np.testing.assert_array_equal(model.links.mass, 1)

    def test_an_inertia_that_needs_the_file_is_an_error(self, tmp_path):
        text = (FILES / "missing_mesh.xml").read_text()
        (tmp_path / "robot.xml").write_text("".join(line for line in text.splitlines(True) if "<inertial" not in line))
        with pytest.raises(hs.ModelError, match=r"robot.xml, line \d+: body a takes its inertia from .*shell.stl"):
            hs.load(tmp_path / "robot.xml")

    def test_an_include_that_is_not_there(self, tmp_path):
        with pytest.raises(hs.ModelError, match=r"robot.xml: it includes the file 'arm.xml', which is not there"):
            load_text(tmp_path, '<mujoco><include file="arm.xml"/></mujoco>')


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("<mujoco><worldbody></mujoco>", "line 1: broken XML"),
            ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "give the body an <inertial>"),
            (one_body('<joint type="hing"/>'), "MuJoCo refuses it: .*hing"),
            (one_body('<joint colour="red"/>'), "colour.*use the MuJoCo that it was written for"),
            (one_body("<joint/>").replace("0.1 0.1 0.1", "0.1 0.1 9"), "balanceinertia"),
            (one_body('<joint name="j"/><joint name="j"/>'), "repeated name 'j'.*rename one"),
            (one_body('<joint name="j" damping="nan"/>'), "[Nn]an"),
            (one_body("<joint/>").replace('mass="1"', 'mass="nan"'), "mass and inertia"),
        ],
    )
    def test_name_the_file_the_thing_and_the_fix(self, tmp_path, text, message):
        with pytest.raises(hs.ModelError, match=rf"robot\.xml.*{message}"):
            load_text(tmp_path, text)

    def test_broken_xml_in_an_included_file_is_found_there(self, tmp_path):
        (tmp_path / "arm.xml").write_text("<mujocoinclude><body></mujocoinclude>")
        with pytest.raises(hs.ModelError, match=r"arm\.xml, line 1: broken XML"):
            load_text(tmp_path, '<mujoco><include file="arm.xml"/></mujoco>')

    def test_entities_in_an_included_file_never_reach_mujoco(self, tmp_path):
        (tmp_path / "arm.xml").write_text('<!DOCTYPE a [<!ENTITY x "y">]><mujocoinclude/>')
        with pytest.raises(hs.ModelError, match=r"arm\.xml.*entities x"):
            load_text(tmp_path, '<mujoco><include file="arm.xml"/></mujoco>')

    def test_a_free_base_is_the_files_own_business(self):
        with pytest.raises(hs.ModelError, match="freejoint"):
            hs.load(FILES / "hopper.xml", base="free")


def test_gravity_and_time_step():
    model = load("include_main")
    assert model.gravity.tolist() == [0, 0, -1.62]
    assert load("quadruped").timestep == 0.004


def test_importing_the_library_does_not_import_mujoco():
    command = "import sys, hybridsim; sys.exit('mujoco' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0
