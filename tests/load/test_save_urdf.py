"""Write-back: the file holds the model's numbers and is otherwise the same, character by character."""

import difflib
import re
import warnings
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hybridsim as hs
from hybridsim.load.differences import differences, named_numbers
from hybridsim.load.poses import matrix_from_rpy, position_and_quaternion, roll_pitch_yaw
from physics.evaluate import evaluate

from .pinocchio_urdf import PinocchioUrdf

FILES = Path(__file__).parent / "files"
HARD, KINDS, BOLTED = FILES / "hard.urdf", FILES / "kinds.urdf", FILES / "bolted.urdf"


def changed_words(before: str, after: str) -> list[tuple[str, str]]:
    """The words that differ; white space counts as words."""
    a, b = (re.findall(r"\s+|[\w.+-]+|.", text) for text in (before, after))
    matcher = difflib.SequenceMatcher(a=a, b=b, autojunk=False)
    return [("".join(a[i:j]), "".join(b[k:l])) for tag, i, j, k, l in matcher.get_opcodes() if tag != "equal"]


def replaced(model: hs.Model, where, row, value) -> hs.Model:
    array = np.array(where(model), dtype=float)
    array[row] = value
    return eqx.tree_at(where, model, array)


def perturbed(model: hs.Model, rng: np.random.Generator) -> hs.Model:
    """Every number that URDF holds, changed; the mechanism stays physical."""

    def scaled(x):
        return x * rng.uniform(0.5, 2, np.shape(x))

    def turned(x):
        x = x + rng.normal(size=x.shape)
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    links, joints, shapes = model.links, model.joints, model.geometry
    kinds = model.topology.kinds
    single = np.concatenate([np.full(kind.nv, kind.nv == 1) for kind in kinds])
    in_file = np.array([name != "root" or kind.nv == 1 for name, kind in zip(model.joint_names, kinds, strict=True)])[
        :, None
    ]
    turning = np.array([kind.nv == 1 for kind in kinds])[:, None]
    new = {
        "links": eqx.tree_at(
            lambda x: (x.mass, x.com, x.inertia),
            links,
            (scaled(links.mass), links.com + rng.normal(size=links.com.shape), links.inertia * rng.uniform(0.5, 2)),
        ),
        "joints": eqx.tree_at(
            lambda x: (x.position, x.quaternion, x.axis, x.damping, x.friction, x.lower, x.upper, x.effort),
            joints,
            (
                joints.position + in_file * rng.normal(size=joints.position.shape),
                np.where(in_file, turned(joints.quaternion), joints.quaternion),
                joints.axis + turning * rng.normal(size=joints.axis.shape),
                *(joints.damping + single * rng.uniform(size=joints.damping.shape) for _ in range(2)),
                joints.lower - 0.1,
                joints.upper + 0.1,
                scaled(joints.effort),
            ),
        ),
        "geometry": eqx.tree_at(
            lambda x: (x.position, x.quaternion, x.size),
            shapes,
            (shapes.position + 0.1, turned(shapes.quaternion), scaled(shapes.size)),
        ),
    }
    model = eqx.tree_at(lambda m: tuple(getattr(m, name) for name in new), model, tuple(new.values()))
    if joints.mimic_ratio is None:
        return model
    return eqx.tree_at(lambda m: m.joints.mimic_ratio, model, scaled(joints.mimic_ratio))


class TestText:
    @pytest.mark.parametrize("path", [HARD, KINDS, BOLTED], ids=lambda path: path.stem)
    def test_nothing_changed_nothing_written(self, tmp_path, path):
        hs.save(hs.load(path), tmp_path / "out.urdf", like=path)
        assert (tmp_path / "out.urdf").read_bytes() == path.read_bytes()

    def test_single_precision_is_no_change(self, tmp_path):
        model = jax.tree.map(lambda x: np.asarray(x, dtype=np.float32), hs.load(HARD))
        hs.save(model, tmp_path / "out.urdf", like=HARD)
        assert (tmp_path / "out.urdf").read_bytes() == HARD.read_bytes()

    @pytest.mark.parametrize(
        ("where", "row", "value", "expected"),
        [
            (lambda m: m.links.mass, 1, 0.1 + 0.2, [("2.5", "0.30000000000000004")]),
            (lambda m: m.links.com, (1, 1), 0.035, [("0.03", "0.035")]),
            (lambda m: m.links.inertia, (0, 2), 1e-7, [("0.3", "1e-07")]),
            (lambda m: m.joints.position, (2, 2), 0.45, [("0.4", "0.45")]),
            (lambda m: m.joints.axis, (2, 1), 3.0, [("2", "3.0")]),
            (lambda m: m.joints.damping, 1, 0.4, [("0.3", "0.4")]),
            (lambda m: m.joints.friction, 0, 0.4, [("", ' friction="0.4"')]),
            (lambda m: m.joints.lower, 1, -2.5, [("-1.5", "-2.5")]),
            (lambda m: m.joints.effort, 0, 90, [("80", "90.0")]),
            (lambda m: m.joints.mimic_offset, 6, 0.5, [("0.002", "0.5")]),
            (lambda m: m.geometry.size, (0, 1), 0.2, [("0.3", "0.4")]),
            (lambda m: m.geometry.size, (3, 0), 0.04, [("0.03", "0.04")]),
        ],
    )
    def test_one_number_is_one_word(self, tmp_path, where, row, value, expected):
        hs.save(replaced(hs.load(HARD), where, row, value), tmp_path / "out.urdf", like=HARD)
        assert changed_words(HARD.read_text(), (tmp_path / "out.urdf").read_text()) == expected

    def test_missing_elements_are_made(self, tmp_path):
        model = hs.load(HARD)
        frame = model.topology.link("tool_frame")
        model = replaced(model, lambda m: m.links.mass, frame, 0.25)
        model = replaced(model, lambda m: m.links.inertia, frame, [1e-3, 1e-3, 1e-3, 0, 0, 0])
        model = replaced(model, lambda m: m.joints.damping, model.v_of("left"), 0.5)
        hs.save(model, tmp_path / "out.urdf", like=HARD)
        inertial = (
            '<link name="tool_frame">\n    <inertial>'
            '\n      <origin xyz="0.0 0.0 0.0"/>'
            '\n      <mass value="0.25"/>'
            '\n      <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0.0" ixz="0.0" iyz="0.0"/>'
            "\n    </inertial>\n  </link>"
        )
        joint = '<joint name="left" type="prismatic">'
        expected = HARD.read_text().replace('<link name="tool_frame"/>', inertial)
        expected = expected.replace(joint, joint + '\n    <dynamics damping="0.5"/>')
        assert (tmp_path / "out.urdf").read_text() == expected

    def test_in_place(self, tmp_path):
        path = tmp_path / "robot.urdf"
        path.write_bytes(HARD.read_bytes())
        hs.save(replaced(hs.load(path), lambda m: m.links.mass, 1, 3), path, like=path)
        assert hs.load(path).links.mass[1] == 3
        assert list(tmp_path.iterdir()) == [path]


class TestRoundTrip:
    @settings(max_examples=15)
    @given(
        seed=st.integers(0, 2**32 - 1), path=st.sampled_from([HARD, BOLTED]), base=st.sampled_from(["fixed", "free"])
    )
    def test_numbers_come_back(self, tmp_path_factory, seed, path, base):
        model = perturbed(hs.load(path, base=base), np.random.default_rng(seed))
        out = tmp_path_factory.mktemp("save") / "out.urdf"
        hs.save(model, out, like=path)
        loaded = hs.load(out, base=base)
        assert differences(named_numbers(model), named_numbers(loaded), 1e-14) == []

    @pytest.mark.parametrize("base", ["fixed", "free"])
    def test_pinocchio_reads_the_model_that_was_saved(self, tmp_path, base):
        """Not the model loaded from the file: so writing and reading cannot be wrong in the same way."""
        rng = np.random.default_rng(1)
        model = perturbed(hs.load(HARD, base=base, mimic=False), rng)
        hs.save(model, tmp_path / "out.urdf", like=HARD)
        witness = PinocchioUrdf(tmp_path / "out.urdf", model, base)
        q, qd, tau = (rng.uniform(-1, 1, n) for n in (model.nq, model.nv, model.nv))
        if base == "free":
            q[3:7] /= np.linalg.norm(q[3:7])
        ours = evaluate(hs.forward_dynamics, model, q, qd, tau)
        np.testing.assert_allclose(ours, witness.forward_dynamics(q, qd, tau), rtol=1e-10, atol=1e-10)

    def test_mimic_of_a_mimic(self, tmp_path):
        path = tmp_path / "chain.urdf"
        links = "".join(
            re.search(r'<link name="camera">.*?</link>', HARD.read_text(), re.DOTALL)[0].replace("camera", n)
            for n in "abcd"
        )
        joints = "".join(
            f'<joint name="{name}" type="continuous"><parent link="{a}"/><child link="{b}"/>{mimic}</joint>'
            for name, a, b, mimic in (
                ("one", "a", "b", ""),
                ("two", "b", "c", '<mimic joint="one" multiplier="2"/>'),
                ("three", "c", "d", '<mimic joint="two" multiplier="3" offset="1"/>'),
            )
        )
        path.write_text(f"<robot>{links}{joints}</robot>")
        model = replaced(hs.load(path), lambda m: m.joints.mimic_ratio, 2, 5)
        hs.save(model, path, like=path)
        loaded = hs.load(path)
        np.testing.assert_array_equal(loaded.joints.mimic_ratio, [1, 1, 5, 6])
        np.testing.assert_array_equal(loaded.joints.mimic_offset, [0, 0, 0, 1])

    @given(
        st.tuples(*[st.floats(-4, 4)] * 3)
        | st.tuples(st.floats(-4, 4), st.sampled_from([-1, 1]), st.floats(-1e-7, 1e-7))
    )
    def test_angles_also_where_roll_and_yaw_are_one(self, numbers):
        roll, pitch, yaw = numbers
        if pitch in (-1, 1):  # a hair from a quarter turn
            roll, pitch, yaw = roll, pitch * (np.pi / 2 - abs(yaw)), 0.7
        pose = np.eye(4)
        pose[:3, :3] = matrix_from_rpy(np.array([roll, pitch, yaw]))
        _, quaternion = position_and_quaternion(pose)
        np.testing.assert_allclose(matrix_from_rpy(roll_pitch_yaw(quaternion)), pose[:3, :3], atol=1e-15)


class TestLimitsOfTheFormat:
    def test_what_urdf_cannot_hold_is_named(self, tmp_path):
        model = hs.load(HARD)
        model = replaced(model, lambda m: m.joints.armature, model.v_of("wrist"), 0.1)
        model = replaced(model, lambda m: m.joints.position, (0, 2), 1.0)
        model = replaced(model, lambda m: m.gravity, 2, -1.62)
        model = replaced(model, lambda m: m.joints.upper, model.v_of("wrist"), np.inf)
        model = replaced(model, lambda m: m.geometry.friction, 3, 0.9)
        with pytest.warns(hs.ModelWarning, match="cannot hold") as record:
            hs.save(model, tmp_path / "out.urdf", like=HARD)
        names = str(record[0].message).partition("gives others: ")[2].split(", ")
        assert sorted(names) == [
            "gravity",
            "joint/root/position",
            "joint/wrist/armature",
            "joint/wrist/upper",
            "shape/hand/1/friction",
        ]

    def test_contact_numbers_are_not_lost_in_silence(self, tmp_path):
        model = hs.load(HARD, self_collision=False)
        stiff = eqx.tree_at(lambda m: m.limits.restitution, model, 0.3 + model.limits.restitution)
        assert len(model.limits.freedoms)
        with pytest.warns(hs.ModelWarning, match="limit/.*/restitution"):
            hs.save(stiff, tmp_path / "out.urdf", like=HARD)

    def test_different_numbers_for_the_freedoms_of_one_joint(self, tmp_path):
        model = hs.load(KINDS)
        same = replaced(model, lambda m: m.joints.damping, model.v_of("ball"), 0.5)
        hs.save(same, tmp_path / "out.urdf", like=KINDS)
        assert '<dynamics damping="0.5" friction="0.5"/>' in (tmp_path / "out.urdf").read_text()
        other = replaced(model, lambda m: m.joints.damping, model.v_of("ball").start, 0.5)
        with pytest.warns(hs.ModelWarning, match="joint/ball/damping$"):
            hs.save(other, tmp_path / "out.urdf", like=KINDS)

    def test_another_mechanism(self, tmp_path):
        with pytest.raises(hs.ModelError, match="only in the model: arm, base; only in the file: camera, forearm"):
            hs.save(hs.load(BOLTED), tmp_path / "out.urdf", like=HARD)
        assert list(tmp_path.iterdir()) == []

    def test_impossible_numbers_are_not_written(self, tmp_path):
        model = replaced(hs.load(HARD), lambda m: m.links.mass, 1, np.nan)
        with pytest.raises(
            hs.ModelError, match=r"not written, because loading it would fail.*value of <mass> is 'nan'"
        ):
            hs.save(model, tmp_path / "out.urdf", like=HARD)
        assert list(tmp_path.iterdir()) == []

    def test_like_is_needed(self, tmp_path):
        with pytest.raises(hs.ModelError, match="does not remember its file; name it"):
            hs.save(hs.load(HARD), tmp_path / "out.urdf")

    def test_missing_folder(self, tmp_path):
        with pytest.raises(hs.ModelError, match="its folder does not exist"):
            hs.save(hs.load(HARD), tmp_path / "no" / "out.urdf", like=HARD)

    def test_fixed_massless_joints_stay(self, tmp_path):
        path = tmp_path / "robot.urdf"
        path.write_text(HARD.read_text().replace('"tool_mount" type="fixed"', '"tool_mount" type="continuous"'))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hs.ModelWarning)
            model = hs.load(path, massless="fix")
        hs.save(replaced(model, lambda m: m.links.mass, 1, 3), tmp_path / "out.urdf", like=path)
        assert changed_words(path.read_text(), (tmp_path / "out.urdf").read_text()) == [("2.5", "3.0")]
