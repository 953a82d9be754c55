"""Saving leaves whole models behind or nothing, and destroys nothing but older models."""

import os
import shutil

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment import HybridFileError, load_hybrid, save_hybrid
from hybridsim.augment.save import write

from .models import members


@pytest.mark.parametrize("where", ["m.hybrid", "m"])
def test_an_older_model_is_replaced(where, tmp_path, arm_file):
    save_hybrid(hs.chain(1), tmp_path / where, like=arm_file)
    save_hybrid(hs.chain(3), tmp_path / where)
    assert load_hybrid(tmp_path / where).nq == 3
    assert [path.name for path in tmp_path.iterdir()] == [where]


@pytest.mark.parametrize("where", ["m.hybrid", "m"])
@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_what_fails_leaves_the_older_model(where, failing, tmp_path, monkeypatch):
    save_hybrid(hs.chain(1), tmp_path / where)
    calls = []

    def fail(*arguments):
        calls.append(arguments)
        # The exchange of folders is stopped in its middle; putting the older one back succeeds.
        if failing == "fsync" or len(calls) == (2 if where == "m" else 1):
            raise OSError(28, "No space left on device")
        return replace(*arguments)

    replace = os.replace
    monkeypatch.setattr(write.os, failing, fail)
    with pytest.raises(HybridFileError, match=r"not saved: .*No space left"):
        save_hybrid(hs.chain(2), tmp_path / where)
    monkeypatch.undo()
    assert load_hybrid(tmp_path / where).nq == 1
    assert [path.name for path in tmp_path.iterdir()] == [where]


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    save_hybrid(hs.chain(1), folder)
    (folder / "diary.txt").write_text("dear")
    with pytest.raises(HybridFileError, match=r"home: not saved: .*diary\.txt.*choose another name"):
        save_hybrid(hs.chain(2), folder)
    assert load_hybrid(folder).nq == 1
    (folder / "diary.txt").unlink()
    (folder / "model.json").write_text("{}")
    with pytest.raises(HybridFileError, match="more than a model"):
        save_hybrid(hs.chain(2), folder)


def test_files_that_are_no_models_are_left_alone(tmp_path):
    for name in ("thesis", "thesis.hybrid"):
        (tmp_path / name).write_text("three years")
        with pytest.raises(HybridFileError, match="there is a file of this name"):
            save_hybrid(hs.chain(1), tmp_path / name)
        assert (tmp_path / name).read_text() == "three years"
    (tmp_path / "folder.hybrid").mkdir()
    with pytest.raises(HybridFileError, match="there is a folder of this name"):
        save_hybrid(hs.chain(1), tmp_path / "folder.hybrid")


def test_half_a_file_may_be_replaced(tmp_path):
    path = tmp_path / "m.hybrid"
    save_hybrid(hs.chain(1), path)
    path.write_bytes(path.read_bytes()[:100])
    save_hybrid(hs.chain(2), path)
    assert load_hybrid(path).nq == 2


def test_links_are_followed(tmp_path):
    save_hybrid(hs.chain(1), tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    save_hybrid(hs.chain(2), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load_hybrid(tmp_path / "real").nq == 2


def test_the_robot_is_copied(tmp_path, arm_file):
    save_hybrid(hs.load(arm_file), tmp_path / "m", like=arm_file)
    assert (tmp_path / "m/robot.urdf").read_bytes() == arm_file.read_bytes()
    shutil.copy(arm_file, tmp_path / "arm.xml")
    save_hybrid(hs.load(arm_file), tmp_path / "m.hybrid", like=tmp_path / "arm.xml")
    assert members(tmp_path / "m.hybrid")["robot.xml"] == arm_file.read_bytes()
    (tmp_path / "m/robot.urdf").write_text("<robot")
    assert np.array_equal(load_hybrid(tmp_path / "m").links.mass, hs.load(arm_file).links.mass)


@pytest.mark.parametrize(
    ("path", "like", "words"),
    [
        ("m.urdf", None, "not written as .urdf; give a folder"),
        ("nowhere/m.hybrid", None, "does not exist; make it first"),
        ("m.hybrid", "nowhere.urdf", "nowhere.urdf cannot be read"),
        ("m.hybrid", "robot.stl", "give a .urdf or .xml file"),
    ],
)
def test_wrong_paths(path, like, words, tmp_path):
    with pytest.raises(HybridFileError, match=words):
        save_hybrid(hs.chain(1), tmp_path / path, like)
    assert not list(tmp_path.iterdir())


def test_what_is_too_large_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setitem(write.LARGEST, "numbers.safetensors", 10)
    with pytest.raises(HybridFileError, match=r"numbers\.safetensors would have"):
        save_hybrid(hs.chain(1), tmp_path / "m.hybrid")


def test_a_joint_kind_of_ones_own_is_not_saved(tmp_path):
    class Screw(type(hs.chain(1).topology.kinds[0])):
        name = "screw"

    link = hs.Link("a", 1.0, inertia=1.0)
    model = hs.build([link], [hs.Joint("j", Screw(), "world", "a")])
    with pytest.raises(HybridFileError, match=r"joint 'j' is of a kind of your own.*use one of fixed"):
        save_hybrid(model, tmp_path / "m.hybrid")


class TestRobotFiles:
    """`hs.save` and `hs.load` are for robots' own files, and say so."""

    def test_networks_are_not_in_a_urdf(self, tmp_path, arm_file):
        hybrid = hs.Blueprint(hs.Augment("joint.force", "joint.velocity")).graft(hs.load(arm_file))
        with pytest.warns(hs.ModelWarning, match=r"arm\.urdf: the model's networks are not in it.*hs\.save_hybrid"):
            hs.save(hybrid, tmp_path / "arm.urdf", like=arm_file)
        hs.save(hs.load(arm_file), tmp_path / "arm.urdf", like=arm_file)

    def test_they_say_what_to_use_for_a_hybrid(self, tmp_path):
        for name in ("m.hybrid", "m"):
            save_hybrid(hs.chain(1), tmp_path / name)
            with pytest.raises(hs.ModelError, match=r"use hs\.load_hybrid"):
                hs.load(tmp_path / name)
        with pytest.raises(hs.ModelError, match=r"by hs\.save_hybrid"):
            hs.save(hs.chain(1), tmp_path / "m.hybrid")
