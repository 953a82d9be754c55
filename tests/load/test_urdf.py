"""URDF: what is read, compared with Pinocchio's own reading of the file and with numbers worked out by hand."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

import hybridsim as hs
from physics.evaluate import evaluate

from .pinocchio_urdf import PinocchioUrdf
from .small_urdf import PAIR, joint, link, random_state, urdf

FILES = Path(__file__).parent / "files"
HARD, KINDS, BOLTED = FILES / "hard.urdf", FILES / "kinds.urdf", FILES / "bolted.urdf"


class TestAgainstPinocchio:
    @pytest.mark.parametrize("path", [HARD, BOLTED], ids=lambda path: path.stem)
    @pytest.mark.parametrize("base", ["fixed", "free"])
    def test_same_equations_of_motion(self, path, base):
        model = hs.load(path, base=base, mimic=False)
        witness = PinocchioUrdf(path, model, base)
        assert model.nv == witness.model.nv
        for _ in range(3):
            q, qd, x = random_state(model)
            for function in ("forward_dynamics", "inverse_dynamics"):
                ours = evaluate(getattr(hs, function), model, q, qd, x)
                np.testing.assert_allclose(ours, getattr(witness, function)(q, qd, x), rtol=1e-10, atol=1e-10)
            M = evaluate(hs.mass_matrix, model, q)
            np.testing.assert_allclose(M, witness.mass_matrix(q), rtol=1e-12, atol=1e-12)

    def test_mimic_is_the_projection_of_the_mechanism_without_it(self):
        model, free = hs.load(HARD), hs.load(HARD, mimic=False)
        witness = PinocchioUrdf(HARD, free)
        leader, follower = free.v_of("left").start, free.v_of("right").start
        E = np.zeros((free.nv, model.nv))
        for name in ("waist", "wrist", "left"):
            E[free.v_of(name), model.v_of(name)] = 1
        E[follower] = -1.5 * E[leader]
        q, qd, tau = random_state(model)
        q_free = E @ q
        q_free[follower] += 0.002
        h = witness.inverse_dynamics(q_free, E @ qd, np.zeros(free.nv))
        expected = np.linalg.solve(E.T @ witness.mass_matrix(q_free) @ E, tau - E.T @ h)
        np.testing.assert_allclose(evaluate(hs.forward_dynamics, model, q, qd, tau), expected, rtol=1e-10, atol=1e-10)


class TestNumbers:
    def test_joints_are_depth_first_in_the_order_of_the_file(self):
        model = hs.load(HARD)
        assert model.joint_names == ("root", "waist", "wrist", "camera_mount", "tool_mount", "left", "right")
        assert model.link_names[:3] == ("pedestal", "forearm", "hand")

    def test_turned_inertia_by_hand(self):
        model = hs.load(HARD)
        i = model.topology.link("forearm")
        c, s = np.cos(0.9), np.sin(0.9)
        # Rz(0.9) I Rz(0.9)^T, written out.
        xx, yy, xy, xz, yz = 0.05, 0.045, 0.004, 0.002, -0.003
        expected = [
            c * c * xx - 2 * s * c * xy + s * s * yy,
            s * s * xx + 2 * s * c * xy + c * c * yy,
            0.012,
            s * c * (xx - yy) + (c * c - s * s) * xy,
            c * xz - s * yz,
            s * xz + c * yz,
        ]
        np.testing.assert_allclose(model.links.inertia[i], expected, rtol=1e-14)
        np.testing.assert_array_equal(model.links.com[i], [0, 0.03, 0.2])
        assert model.links.mass[i] == 2.5

    def test_origin_is_roll_then_pitch_then_yaw_about_fixed_axes(self):
        quaternion = hs.load(HARD).joints.quaternion[2]
        half = np.array([0.3, -0.7, 1.2]) / 2
        (cr, cp, cy), (sr, sp, sy) = np.cos(half), np.sin(half)
        expected = [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ]
        np.testing.assert_allclose(quaternion, expected, atol=1e-15)

    def test_limits_damping_friction_and_effort(self):
        model = hs.load(HARD)
        wrist, waist, right = model.v_of("wrist"), model.v_of("waist"), model.topology.joint("right")
        values = [getattr(model.joints, key)[wrist][0] for key in ("lower", "upper", "effort", "damping", "friction")]
        assert values == [-1.5, 0.5, 12.5, 0.3, 0.07]
        assert model.joints.lower[waist] == -np.inf
        assert model.joints.effort[waist] == 80
        assert (model.joints.mimic_ratio[right], model.joints.mimic_offset[right]) == (-1.5, 0.002)
        np.testing.assert_array_equal(model.joints.axis[right], [1, 0, 0])

    def test_shapes_have_half_sizes(self):
        geometry = hs.load(HARD).geometry
        assert geometry.names == ("pedestal/cylinder", "forearm/capsule", "palm", "hand/sphere")
        np.testing.assert_allclose(geometry.size, [[0.2, 0.15, 0], [0.05, 0.15, 0], [0.04, 0.05, 0.01], [0.03, 0, 0]])
        np.testing.assert_allclose(geometry.quaternion[2], [np.cos(0.25), 0, np.sin(0.25), 0], atol=1e-15)

    def test_kinds(self):
        model = hs.load(KINDS)
        kinds = dict(zip(model.joint_names, (kind.name for kind in model.topology.kinds), strict=True))
        assert kinds == {"float": "free", "ball": "spherical", "slide": "planar"}
        np.testing.assert_array_equal(model.joints.axis[model.topology.joint("slide")], [0, 1, 0])
        ball = model.topology.v_slices[model.topology.joint("ball")]
        np.testing.assert_array_equal(model.joints.damping[ball], [0.25] * 3)
        assert model.topology.parents[model.topology.joint("slide")] == -1

    def test_chained_mimics_multiply(self, tmp_path):
        parts = [link(name) for name in "abcd"]
        parts += [
            joint("one", "a", "b"),
            joint("two", "b", "c", inside='<mimic joint="one" multiplier="2" offset="1"/>'),
        ]
        parts += [joint("three", "c", "d", inside='<mimic joint="two" multiplier="-3" offset="0.5"/>')]
        model = hs.load(urdf(tmp_path, "".join(parts)))
        assert model.nv == 1
        assert model.topology.mimics[-1] == model.topology.joint("one")
        assert (model.joints.mimic_ratio[-1], model.joints.mimic_offset[-1]) == (-6, -2.5)


class TestBase:
    def test_root_joint(self):
        assert hs.load(HARD).nv == 3
        free = hs.load(HARD, base="free")
        assert (free.nv, free.nq, free.topology.kinds[0].name) == (9, 10, "free")

    def test_a_link_called_world_is_the_world(self):
        model = hs.load(BOLTED)
        assert (model.joint_names, model.link_names) == (("bolts", "root"), ("base", "arm"))
        assert model.geometry.links == (-1,)

    def test_free_releases_what_is_bolted_to_the_world(self):
        model = hs.load(BOLTED, base="free")
        assert [kind.name for kind in model.topology.kinds] == ["free", "revolute"]
        np.testing.assert_array_equal(model.joints.position[0], [0.5, -0.2, 1])

    def test_free_cannot_release_a_joint_that_moves(self):
        with pytest.raises(hs.ModelError, match=r"'slide' \(planar\)"):
            hs.load(KINDS, base="free")

    def test_root_name_that_is_taken(self, tmp_path):
        model = hs.load(urdf(tmp_path, PAIR + joint("root", "a", "b")))
        assert model.joint_names == ("a_root", "root")

    def test_world_needs_no_link(self, tmp_path):
        model = hs.load(urdf(tmp_path, link("a") + joint("hinge", "world", "a")))
        assert (model.joint_names, model.nv) == (("hinge",), 1)

    def test_mass_of_the_world_is_without_effect(self, tmp_path):
        path = urdf(tmp_path, link("world", 7) + link("a") + joint("hinge", "world", "a"))
        with pytest.warns(hs.ModelWarning, match="mass of 7 kg has no effect"):
            assert hs.load(path).link_names == ("a",)

    def test_unknown_base(self):
        with pytest.raises(hs.ModelError, match="base is 'floating'; it must be one of 'fixed', 'free'"):
            hs.load(HARD, base="floating")


class TestPlaceholders:
    def test_zero_effort_is_no_limit(self, tmp_path):
        path = urdf(tmp_path, PAIR + joint("j", "a", "b", inside='<limit effort="0" velocity="0"/>'))
        with pytest.warns(hs.ModelWarning, match="effort limit 0 have none: j"):
            assert hs.load(path).joints.effort[0] == np.inf

    @pytest.mark.parametrize(
        "limit", ["", '<limit effort="1" velocity="1"/>', '<limit lower="0" upper="0" effort="1"/>']
    )
    def test_zero_range_is_no_limit(self, tmp_path, limit):
        path = urdf(tmp_path, PAIR + joint("j", "a", "b", "revolute", limit))
        with pytest.warns(hs.ModelWarning, match="move freely: j"):
            model = hs.load(path)
        assert (model.joints.lower[0], model.joints.upper[0]) == (-np.inf, np.inf)

    def test_one_limit_leaves_the_other_at_zero(self, tmp_path):
        path = urdf(tmp_path, PAIR + joint("j", "a", "b", "revolute", '<limit lower="-2" effort="1"/>'))
        model = hs.load(path)
        assert (model.joints.lower[0], model.joints.upper[0]) == (-2, 0)


class TestMassless:
    BODY = PAIR + '<link name="tip"/>' + joint("j", "a", "b") + "\n" + joint("spin", "b", "tip")

    def test_is_refused_with_its_line(self, tmp_path):
        with pytest.raises(hs.ModelError, match=r"robot.urdf, line 5, joint spin.*massless=\"fix\""):
            hs.load(urdf(tmp_path, self.BODY))

    def test_or_fixed(self, tmp_path):
        with pytest.warns(hs.ModelWarning, match="no mass are fixed: spin$"):
            model = hs.load(urdf(tmp_path, self.BODY), massless="fix")
        assert [kind.name for kind in model.topology.kinds] == ["fixed", "continuous", "fixed"]

    def test_what_moves_mass_further_out_is_not_fixed(self, tmp_path):
        body = (
            link("a") + '<link name="between"/>' + link("b") + joint("i", "a", "between") + joint("j", "between", "b")
        )
        assert hs.load(urdf(tmp_path, body), massless="fix").nv == 2


LINE = "robot.urdf, line "


class TestRefusals:
    """Each names the file, the line, the thing and the fix."""

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ("", "it has no <link>; if it is a xacro file"),
            (PAIR, r"several roots.*'a' \(line 2\), 'b' \(line 3\); join them"),
            (PAIR + joint("j", "a", "c"), LINE + "4, joint j: its child link 'c' does not exist; the links are: a, b"),
            (PAIR + joint("j", "a", "b", "hinge"), LINE + "4, joint j: its type is 'hinge'; the types are revolute"),
            (PAIR + joint("root", "a", "b") + joint("k", "b", "a"), "links a, b form a loop"),
            (PAIR + link("c") + joint("j", "a", "c") + joint("k", "b", "c"), "several roots"),
            (PAIR + joint("j", "a", "b") + "\n" + link("a"), LINE + "5, link a: two links are called 'a'"),
            (PAIR + link("c") + joint("j", "a", "b") + joint("j", "b", "c"), "joint j: two joints are called 'j'"),
            ("<link/>", LINE + "2: link number 1 has no name"),
            (PAIR + '<joint type="fixed"/>', LINE + "4: joint number 1 has no name"),
            (PAIR + '<joint name="j" type="fixed"><child link="b"/></joint>', "<joint> has no <parent>; add one"),
            (PAIR + joint("j", "a", "b", inside='<origin xyz="0 0"/>'), "xyz of <origin> is '0 0'; give 3 numbers"),
            (PAIR + joint("j", "a", "b", inside='<axis xyz="0 nan 1"/>'), "xyz of <axis> is '0 nan 1'"),
            (PAIR + joint("j", "a", "b", inside='<axis xyz="0 0 0"/>'), LINE + "4, joint j: axis is 0 0 0"),
            (
                PAIR + joint("j", "a", "b", inside='<dynamics damping="x"/>'),
                "damping of <dynamics> is 'x'; give 1 number",
            ),
            (PAIR + joint("j", "a", "b", inside='<dynamics damping="-1"/>'), "damping is -1; it cannot be negative"),
            (PAIR + joint("j", "a", "b", inside="<mimic/>"), "<mimic> has no joint; give a name"),
            (PAIR + joint("j", "a", "b", inside='<mimic joint="j"/>'), "mimic each other in a circle: j"),
            (PAIR + joint("j", "a", "b", inside='<mimic joint="z"/>'), "mimics joint 'z', which does not exist"),
            ('<link name="a"><inertial><inertia ixx="1" iyy="1" izz="1"/></inertial></link>', "has no <mass>; add one"),
            ('<link name="a"><inertial><mass value="1"/></inertial></link>', "has no <inertia>; add one"),
            ('<link name="a"><inertial><mass/><inertia/></inertial></link>', "<mass> has no value; give 1 number"),
            (link("a", float("nan")), LINE + "2, link a: value of <mass> is 'nan'"),
            (link("a", -1), "mass is -1 kg; a mass cannot be negative"),
            (link("a").replace('izz="1"', ""), "<inertia> has no izz; give 1 number"),
            (link("a", inside="<collision/>"), "holds nothing; the shapes are sphere, box"),
            (link("a", inside="<collision><geometry><cone/></geometry></collision>"), "holds <cone>"),
            (link("a", inside='<collision><geometry><box size="1 1"/></geometry></collision>'), "give 3 numbers"),
        ],
    )
    def test_message(self, tmp_path, body, message):
        with pytest.raises(hs.ModelError, match=message) as error:
            hs.load(urdf(tmp_path, body))
        assert "robot.urdf" in str(error.value)

    def test_strict_refuses_an_inertia_that_no_body_has(self, tmp_path):
        path = urdf(tmp_path, link("a").replace('izz="1"', 'izz="5"'))
        with pytest.raises(hs.ModelError, match="triangle inequality"):
            hs.load(path, strict=True)
        with pytest.warns(hs.ModelWarning, match="triangle inequality"):
            hs.load(path)

    def test_other_root(self, tmp_path):
        path = tmp_path / "scene.xml"
        path.write_text("<sdf/>")
        with pytest.raises(hs.ModelError, match="the root element is <sdf>; URDF starts with <robot>"):
            hs.load(path)

    def test_second_inertial_is_not_used(self, tmp_path):
        inertial = etree.tostring(etree.fromstring(link("a", 5)).find("inertial")).decode()
        with pytest.warns(hs.ModelWarning, match="it has 2 <inertial>; the first is used"):
            assert hs.load(urdf(tmp_path, link("a", inside=inertial))).links.mass[0] == 1

    @settings(max_examples=150)
    @given(data=st.data())
    def test_damaged_files_load_or_are_refused(self, data, tmp_path_factory):
        root = etree.parse(HARD).getroot()
        for _ in range(data.draw(st.integers(1, 3))):
            _damage(data, root)
        path = tmp_path_factory.mktemp("fuzz") / "damaged.urdf"
        path.write_bytes(etree.tostring(root))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hs.ModelWarning)
            model = _load_or_complaint(path)
        if isinstance(model, str):
            assert "damaged.urdf" in model
        else:
            assert all(np.all(np.isfinite(x)) for x in (model.links.mass, model.links.com, model.links.inertia))


def _load_or_complaint(path: Path) -> hs.Model | str:
    try:
        return hs.load(path)
    except hs.ModelError as error:
        return str(error)


def _damage(data, root: etree._Element) -> None:
    """Loses an element, or spoils or loses an attribute."""
    elements = list(root.iter("*"))[1:]
    if not elements:
        return
    victim = data.draw(st.sampled_from(elements))
    if not victim.attrib or data.draw(st.booleans()):
        victim.getparent().remove(victim)
        return
    name = data.draw(st.sampled_from(sorted(victim.attrib)))
    junk = data.draw(st.sampled_from([None, "", "nan", "inf", "-1", "1 2", "0 0 0", "world", "hand", "1e999", "fixed"]))
    if junk is None:
        del victim.attrib[name]
    else:
        victim.set(name, junk)
