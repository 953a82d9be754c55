"""What is saved to MJCF comes back to the last digits, and nothing else in the file changes."""

import difflib
import re
import shutil
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

import hybridsim as hs
from hybridsim.load.differences import differences, named_numbers
from physics.evaluate import evaluate

from .mjcf_changes import KINDS, Change, replaced
from .test_mjcf import FILES, load_text, one_body

# Which shapes touch is not what is saved here.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*not simulated. contact within a mechanism"),
    pytest.mark.filterwarnings("ignore:shapes that will pass through each other"),
]

WHOLE = ["balls", "hand", "hopper", "include_main", "missing_mesh", "quadruped", "servos", "totals"]
"""Files of which MJCF can hold every number; in the others are copies, or parts of the physics are switched off."""


def quiet_load(path: Path) -> hs.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.ModelWarning)
        return hs.load(path)


@pytest.fixture
def folder(tmp_path) -> Path:
    """A copy of the files, in which one may write."""
    shutil.copytree(FILES, tmp_path / "files")
    return tmp_path / "files"


def changed_lines(old: Path, new: Path) -> list[str]:
    lines = difflib.ndiff(old.read_text().splitlines(), new.read_text().splitlines())
    return [line for line in lines if line[:2] in ("- ", "+ ")]


def assert_same(new: hs.Model, again: hs.Model) -> None:
    assert [str(name) for name in differences(named_numbers(new), named_numbers(again), 1e-12)] == []


class TestRoundTrip:
    @settings(max_examples=20)
    @given(
        name=st.sampled_from(WHOLE), kinds=st.sets(st.sampled_from(KINDS)), seed=st.integers(0, 99), moved=st.booleans()
    )
    def test_every_number_comes_back(self, name, kinds, seed, moved):
        model = quiet_load(FILES / f"{name}.xml")
        change = Change(model, seed)
        new = model
        for kind in sorted(kinds):
            new = getattr(change, kind)(new)
        with TemporaryDirectory() as target:
            like = FILES / f"{name}.xml"
            if not moved:
                like = Path(shutil.copytree(FILES, Path(target) / "files")) / f"{name}.xml"
            copy = like.parent / "copy.xml" if not moved else Path(target) / "copy.xml"
            hs.save(new, copy, like)  # Any warning is an error here.
            assert_same(new, quiet_load(copy))

    @pytest.mark.parametrize("name", ["balls", "servos"])
    def test_dynamics_are_those_of_the_saved_model(self, tmp_path, name):
        model = quiet_load(FILES / f"{name}.xml")
        change, new = Change(model, 5), model
        for kind in KINDS:
            new = getattr(change, kind)(new)
        hs.save(new, tmp_path / "copy.xml", FILES / f"{name}.xml")
        again = hs.load(tmp_path / "copy.xml")
        q, qd = new.rest()
        qd = qd + np.linspace(-1, 1, new.nv)
        ours, theirs = (evaluate(hs.forward_dynamics, m, q, qd, np.cos(qd)) for m in (new, again))
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-11)

    @pytest.mark.parametrize("name", [*WHOLE, "attach_main", "frames", "flags"])
    def test_an_unchanged_model_gives_the_same_bytes(self, folder, name):
        hs.save(quiet_load(folder / f"{name}.xml"), folder / "copy.xml", folder / f"{name}.xml")
        assert (folder / "copy.xml").read_bytes() == (folder / f"{name}.xml").read_bytes()

    @pytest.mark.parametrize("seed", range(3))
    def test_things_in_frames(self, folder, seed):
        """The same file without the copies, which cannot be told apart."""
        like = folder / "frames.xml"
        like.write_text(re.sub("<replicate.*</replicate>", "", like.read_text(), flags=re.DOTALL))
        model = hs.load(like)
        change, new = Change(model, seed), model
        for kind in KINDS:
            new = getattr(change, kind)(new)
        shift = np.where(np.array(model.geometry.names)[:, None] == "bone", 0.1, 0)
        new = replaced(new, lambda m: m.geometry.position, model.geometry.position + shift)
        hs.save(new, folder / "copy.xml", like)
        assert_same(new, hs.load(folder / "copy.xml"))

    def test_limits_switched_on_and_off(self, folder):
        like = folder / "servos.xml"
        model = hs.load(like)
        j, a = model.joints, model.actuators
        lower, upper, effort = np.array(j.lower), np.array(j.upper), np.array(j.effort)
        one, two = model.v_of("j1"), model.v_of("j2")
        lower[one], upper[one], effort[one], effort[two] = -np.inf, np.inf, 7, np.inf
        command, force = np.array(a.command_range), np.array(a.force_range)
        command[a.names.index("torque")] = -np.inf, np.inf
        command[a.names.index("spin")] = -1, 2
        force[a.names.index("plain")] = -np.inf, np.inf
        force[a.names.index("torque")] = -1, 2
        new = replaced(model, lambda m: (m.joints.lower, m.joints.upper, m.joints.effort), (lower, upper, effort))
        new = replaced(new, lambda m: (m.actuators.command_range, m.actuators.force_range), (command, force))
        hs.save(new, folder / "copy.xml", like)
        assert_same(new, hs.load(folder / "copy.xml"))


class TestOnlyWhatChanged:
    def test_a_mass_is_one_number(self, folder):
        like = folder / "quadruped.xml"
        model = hs.load(like)
        mass = np.array(model.links.mass)
        mass[model.topology.link("trunk")] = 6.5
        hs.save(replaced(model, lambda m: m.links.mass, mass), folder / "copy.xml", like)
        old, new = changed_lines(like, folder / "copy.xml")
        assert new[2:] == old[2:].replace('mass="5.2"', 'mass="6.5"')

    def test_limits_are_written_in_degrees_and_the_other_end_keeps_its_text(self, folder):
        like = folder / "hopper.xml"
        model = hs.load(like)
        lower = np.array(model.joints.lower)
        lower[model.v_of("foot_joint")] = np.radians(-60)
        hs.save(replaced(model, lambda m: m.joints.lower, lower), folder / "copy.xml", like)
        old, new = changed_lines(like, folder / "copy.xml")
        assert 'range="-45 45"' in old
        assert re.search(r'range="(-60\.0|-59\.9999999\d*) 45"', new)

    def test_servos_keep_their_words(self, folder):
        like = folder / "servos.xml"
        model = hs.load(like)
        a = model.actuators
        i, k = a.names.index("plain"), a.names.index("speed")
        gain, bias = np.array(a.gain), np.array(a.bias)
        gain[i], bias[i], gain[k], bias[k] = 25, (0, -25, -3), 0.9, (0, 0, -0.9)
        new = replaced(model, lambda m: (m.actuators.gain, m.actuators.bias), (gain, bias))
        hs.save(new, folder / "copy.xml", like)
        text = (folder / "copy.xml").read_text()
        assert '<position name="plain" joint="j2" kp="25.0" kv="3.0" gear="3"' in text
        assert '<velocity name="speed" joint="j2" kv="0.9" gear="-2"/>' in text
        assert_same(new, hs.load(folder / "copy.xml"))

    def test_a_motor_with_another_law_becomes_a_general_actuator(self, folder):
        like = folder / "servos.xml"
        model = hs.load(like)
        gain = np.array(model.actuators.gain)
        gain[model.actuators.names.index("torque")] = 1.5
        new = replaced(model, lambda m: m.actuators.gain, gain)
        hs.save(new, folder / "copy.xml", like)
        old, line = changed_lines(like, folder / "copy.xml")
        assert "<motor" in old
        assert "<general" in line
        assert_same(new, hs.load(folder / "copy.xml"))

    def test_line_ends_and_encoding_stay(self, tmp_path):
        text = one_body('<joint name="j"/>', "<!-- déjà vu -->").replace("><", ">\r\n<")
        (tmp_path / "a.xml").write_bytes(text.encode())
        model = hs.load(tmp_path / "a.xml")
        hs.save(replaced(model, lambda m: m.links.mass, np.array([2.0])), tmp_path / "b.xml", tmp_path / "a.xml")
        assert (tmp_path / "b.xml").read_bytes() == text.replace('mass="1"', 'mass="2.0"').encode()

    def test_the_file_itself_may_be_overwritten(self, folder):
        like = folder / "hopper.xml"
        model = hs.load(like)
        new = replaced(model, lambda m: m.gravity, np.array([0, 0, -1.0]))
        hs.save(new, like, like)
        assert_same(new, hs.load(like))


class TestIncludedFiles:
    def change(self, folder: Path, joint: str, target: Path) -> str:
        like = folder / "include_main.xml"
        model = hs.load(like)
        damping = np.array(model.joints.damping)
        damping[model.v_of(joint)] = 0.75
        new = replaced(model, lambda m: m.joints.damping, damping)
        before = {path: path.read_bytes() for path in folder.iterdir()}
        hs.save(new, target, like)
        assert_same(new, hs.load(target))
        assert all(path.read_bytes() == text for path, text in before.items())
        return target.read_text()

    def test_stay_included_if_nothing_in_them_changes(self, folder):
        text = self.change(folder, "turn", folder / "copy.xml")
        assert '<include file="include_arm.xml"/>' in text
        assert 'damping="0.75"' in text

    def test_take_the_place_of_the_include_if_something_in_them_changes(self, folder):
        text = self.change(folder, "lift", folder / "copy.xml")
        assert "<include" not in text
        assert "<!-- the arm -->" in text

    def test_take_its_place_if_they_might_say_otherwise(self, folder):
        like = folder / "include_main.xml"
        new = replaced(hs.load(like), lambda m: m.gravity, np.array([0, 0, -3.0]))
        hs.save(new, folder / "copy.xml", like)
        assert_same(new, hs.load(folder / "copy.xml"))

    def test_take_its_place_if_they_tell_the_compiler_to_ignore_inertials(self, folder):
        compiler = '<compiler inertiafromgeom="true" settotalmass="12" inertiagrouprange="0 1"/>'
        text = (folder / "totals.xml").read_text()
        (folder / "included.xml").write_text(f"<mujocoinclude>{compiler}</mujocoinclude>")
        (folder / "totals.xml").write_text(text.replace(compiler, '<include file="included.xml"/>'))
        new = replaced(hs.load(folder / "totals.xml"), lambda m: m.links.mass, np.array([3.0, 4.0]))
        hs.save(new, folder / "copy.xml", folder / "totals.xml")
        assert_same(new, hs.load(folder / "copy.xml"))

    def test_are_not_needed_in_another_folder(self, folder, tmp_path):
        (tmp_path / "other").mkdir()
        assert "<include" not in self.change(folder, "turn", tmp_path / "other" / "copy.xml")


class TestFilesThatItNames:
    ROBOT = """<mujoco>
  <compiler {}/>
  <asset><mesh name="m" file="{}"/></asset>
  <worldbody><body name="b"><joint/><geom name="g" type="mesh" mesh="m"/></body></worldbody>
</mujoco>"""

    @pytest.mark.parametrize(
        ("setting", "file"), [('meshdir="meshes"', "box.stl"), ('assetdir="meshes"', "box.stl"), ("", "meshes/box.stl")]
    )
    def test_are_found_from_another_folder(self, tmp_path, setting, file):
        (tmp_path / "a" / "meshes").mkdir(parents=True)
        (tmp_path / "b").mkdir()
        trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / "a" / "meshes" / "box.stl")
        (tmp_path / "a" / "robot.xml").write_text(self.ROBOT.format(setting, file))
        model = hs.load(tmp_path / "a" / "robot.xml")
        new = replaced(model, lambda m: m.gravity, np.array([0, 0, -3.0]))
        hs.save(new, tmp_path / "b" / "robot.xml", tmp_path / "a" / "robot.xml")
        again = hs.load(tmp_path / "b" / "robot.xml")
        assert_same(new, again)
        np.testing.assert_array_equal(again.geometry.points[0], model.geometry.points[0])

    def test_attached_models_too(self, tmp_path):
        model = hs.load(FILES / "attach_main.xml")
        new = replaced(model, lambda m: m.gravity, np.array([0, 0, -3.0]))
        hs.save(new, tmp_path / "copy.xml", FILES / "attach_main.xml")
        assert_same(new, hs.load(tmp_path / "copy.xml"))


class TestWhatTheCompilerDerives:
    def test_ignored_inertials_and_a_total_mass(self, folder):
        like = folder / "totals.xml"
        model = hs.load(like)
        new = replaced(model, lambda m: m.links.mass, np.array([3.0, 4.0]))
        hs.save(new, folder / "copy.xml", like)
        assert_same(new, hs.load(folder / "copy.xml"))
        theirs = mujoco.MjModel.from_xml_path(str(folder / "copy.xml"))
        np.testing.assert_array_equal(theirs.body_mass[1:], [3, 4])

    def test_gains_from_damping_ratios_and_time_constants_are_kept(self, folder):
        """A mass changes kv of a servo given by `dampratio`, and the spring given by `springdamper`."""
        like = folder / "servos.xml"
        model = hs.load(like)
        new = replaced(model, lambda m: m.links.mass, 3 * model.links.mass)
        hs.save(new, folder / "copy.xml", like)
        again = hs.load(folder / "copy.xml")
        assert_same(new, again)
        np.testing.assert_allclose(again.actuators.bias, model.actuators.bias, rtol=1e-12)
        np.testing.assert_allclose(again.joints.stiffness, model.joints.stiffness, rtol=1e-12)

    def test_a_shape_that_gave_the_inertia(self, folder):
        like = folder / "servos.xml"
        model = hs.load(like)
        size = np.array(model.geometry.size)
        size[model.geometry.shapes.index("box")] = 0.2, 0.2, 0.2
        new = replaced(model, lambda m: m.geometry.size, size)
        hs.save(new, folder / "copy.xml", like)
        assert_same(new, hs.load(folder / "copy.xml"))


class TestWhatItCannotHold:
    def lost(self, model: hs.Model, like: Path) -> str:
        with pytest.warns(hs.ModelWarning, match="MJCF cannot hold") as caught:
            hs.save(model, like.parent / "copy.xml", like)
        return str(caught[0].message)

    def test_numbers_without_a_place(self, folder):
        model = hs.load(folder / "hopper.xml")
        new = replaced(model, lambda m: m.joints.friction_speed, 2 * model.joints.friction_speed)
        assert "joint/foot_joint/friction_speed" in self.lost(new, folder / "hopper.xml")

    def test_a_limit_on_one_side(self, folder):
        model = hs.load(folder / "hopper.xml")
        lower = np.array(model.joints.lower)
        lower[model.v_of("foot_joint")] = -np.inf
        message = self.lost(replaced(model, lambda m: m.joints.lower, lower), folder / "hopper.xml")
        assert message.endswith("others: joint/foot_joint/lower")

    def test_one_of_several_copies(self, folder):
        model = hs.load(folder / "frames.xml")
        mass = np.array(model.links.mass)
        mass[model.topology.link("post1")] *= 2
        mass[model.topology.link("arm")] *= 2
        new = replaced(model, lambda m: m.links.mass, mass)
        assert self.lost(new, folder / "frames.xml").endswith("others: link/post1/mass")
        again = hs.load(folder / "copy.xml")
        assert again.links.mass[again.topology.link("arm")] == mass[model.topology.link("arm")]

    def test_physics_that_is_switched_off(self, folder):
        model = quiet_load(folder / "flags.xml")
        new = replaced(model, lambda m: m.gravity, np.array([0, 0, -1.0]))
        assert self.lost(new, folder / "flags.xml").endswith("others: gravity")

    def test_a_frame_that_mujoco_moves(self, tmp_path):
        text = one_body('<freejoint align="true"/>')
        model = load_text(tmp_path, text)
        new = replaced(model, lambda m: m.links.com, model.links.com + 0.1)
        assert "link/b/com" in self.lost(new, tmp_path / "robot.xml")


class TestErrors:
    def test_another_mechanism(self, folder):
        surplus = "only in the model: lower, tail, .*only in the file: foot, leg"
        with pytest.raises(hs.ModelError, match=rf"hopper\.xml.*{surplus}.*give the file"):
            hs.save(hs.load(folder / "balls.xml"), folder / "copy.xml", folder / "hopper.xml")

    def test_files_that_include_each_other(self, folder, tmp_path):
        like = folder / "include_main.xml"
        model = hs.load(like)
        arm = folder / "include_arm.xml"
        arm.write_text(arm.read_text().replace("</body>", '<include file="include_main.xml"/></body>'))
        with pytest.raises(hs.ModelError, match=r"include_arm\.xml: it includes .*include_main\.xml"):
            hs.save(model, tmp_path / "copy.xml", like)

    def test_a_folder_that_does_not_exist(self, folder):
        with pytest.raises(hs.ModelError, match="its folder does not exist"):
            hs.save(hs.load(folder / "balls.xml"), folder / "no" / "copy.xml", folder / "balls.xml")

    def test_what_mujoco_would_refuse_is_not_written(self, folder):
        """An inertia that no body has; the old file stays, and no other is left behind."""
        like = folder / "balls.xml"
        model = hs.load(like)
        inertia = np.array(model.links.inertia)
        inertia[0] = 1, 1, 9, 0, 0, 0
        before = sorted(folder.iterdir()), like.read_bytes()
        with pytest.raises(
            hs.ModelError, match=r"not written, because loading it would fail: .*balls\.xml.*A \+ B >= C"
        ):
            hs.save(replaced(model, lambda m: m.links.inertia, inertia), like, like)
        assert before == (sorted(folder.iterdir()), like.read_bytes())
