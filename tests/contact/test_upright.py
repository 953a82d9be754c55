"""A cylinder beside an extruded shape: a formula where their axes stay parallel, and the search where they may tilt."""

import dataclasses

import numpy as np
import pytest

import hybridsim as hs
from augment.save.models import members, resealed, structure
from hybridsim.augment import HybridFileError

TIP = hs.Geom("cylinder", (0.005, 0.05), name="tip")
PUCK = hs.Geom("elliptic", (0.04, 0.03, 0.01), name="puck")
TILT = np.array([np.cos(0.1), np.sin(0.1), 0.0, 0.0])


def upright(joint_of_tip: str, joint_of_puck: str, tip: hs.Geom = TIP, **numbers) -> bool:
    """Whether the pair of these two shapes, each on a joint of its own, takes their axes as parallel."""
    links = [hs.Link(name, 0.1, inertia=1e-4, geoms=[geom]) for name, geom in (("hand", tip), ("disc", PUCK))]
    joints = [
        hs.Joint("first", joint_of_tip, "world", "hand", **numbers),
        hs.Joint("second", joint_of_puck, "world", "disc", axis=(0, 0, 1)),
    ]
    model = hs.build(links, joints)
    assert len(model.contacts.pairs) == 1
    return set(model.contacts.upright) == set(model.contacts.pairs)


@pytest.mark.parametrize("kind", ["prismatic", "planar", "revolute", "continuous", "free", "spherical"])
def test_axes_stay_parallel_where_no_joint_tilts_them(kind):
    assert upright(kind, "planar", axis=(0, 0, 2)) == (kind not in ("free", "spherical"))
    assert upright(kind, "planar", axis=(0, 1, 0)) == (kind == "prismatic")


def test_axes_that_are_not_parallel_are_searched():
    assert not upright("prismatic", "planar", tip=dataclasses.replace(TIP, quaternion=TILT), axis=(1, 0, 0))
    assert not upright("planar", "planar", axis=(0, 0, 1), quaternion=TILT)
    turned_back = dataclasses.replace(TIP, quaternion=TILT * [1, -1, -1, -1])
    assert upright("prismatic", "planar", tip=turned_back, axis=(1, 0, 0), quaternion=TILT)


def test_shapes_of_one_body_that_tilts_as_a_whole_stay_parallel():
    links = [
        hs.Link(name, 0.1, inertia=1e-4, geoms=geoms)
        for name, geoms in (("base", []), ("hand", [TIP]), ("disc", [PUCK]))
    ]
    joints = [
        hs.Joint("fly", "free", "world", "base"),
        hs.Joint("slide", "prismatic", "base", "hand", axis=(1, 0, 0)),
        hs.Joint("spin", "revolute", "base", "disc", axis=(0, 0, 1)),
    ]
    model = hs.with_contacts(hs.build(links, joints), [("tip", "puck")])
    assert model.contacts.upright == frozenset(model.contacts.pairs)


def test_worlds_and_files_keep_which_pairs_are_upright(tmp_path):
    pusher = hs.build([hs.Link("hand", 0.1, inertia=1e-4, geoms=[TIP])], [hs.Joint("x", "prismatic", "world", "hand")])
    disc = hs.build(
        [hs.Link("disc", 0.1, inertia=1e-4, geoms=[PUCK])], [hs.Joint("p", "planar", "world", "disc", axis=(0, 0, 1))]
    )
    can = hs.free_body(hs.Link("can", 0.1, inertia=1e-4, geoms=[dataclasses.replace(TIP, name="can")]))
    both = hs.world(hs.world(pusher, disc), can)
    names = both.geometry.names
    assert {(names[a], names[b]) for a, b in both.contacts.upright} == {("tip", "puck")}
    assert {(names[a], names[b]) for a, b in both.contacts.pairs} == {("tip", "puck"), ("can", "puck"), ("tip", "can")}
    hs.save_hybrid(both, tmp_path / "world.hybrid")
    assert hs.load_hybrid(tmp_path / "world.hybrid").contacts.upright == both.contacts.upright


@pytest.fixture
def saved(tmp_path):
    """A disc with a cylinder beside it, its file, and a function that changes the list of upright pairs in it."""
    pusher = hs.build([hs.Link("hand", 0.1, inertia=1e-4, geoms=[TIP])], [hs.Joint("x", "prismatic", "world", "hand")])
    disc = hs.build(
        [hs.Link("disc", 0.1, inertia=1e-4, geoms=[PUCK])], [hs.Joint("p", "planar", "world", "disc", axis=(0, 0, 1))]
    )
    model, path = hs.world(pusher, disc), tmp_path / "world.hybrid"
    hs.save_hybrid(model, path)

    def change(edit):
        parts = members(path)
        text = structure(parts)
        edit(text)
        path.write_bytes(resealed(parts, text))

    return model, path, change


def test_files_of_earlier_versions_have_no_list_of_upright_pairs(saved):
    model, path, change = saved
    change(lambda text: text.pop("upright_pairs"))
    assert hs.load_hybrid(path).contacts.upright == model.contacts.upright != frozenset()


@pytest.mark.parametrize("pair", [[1, 0], [0, 0], [0, 7], [0]])
def test_a_wrong_upright_pair_in_a_file_is_refused(saved, pair):
    _, path, change = saved
    change(lambda text: text["upright_pairs"].append(pair))
    with pytest.raises(HybridFileError, match=r"upright_pairs\[1\]"):
        hs.load_hybrid(path)


def test_a_can_lies_on_an_extruded_table_along_its_line():
    """With parallel axes taken for granted it would be held at one point, as if it stood upright, and sink in or fall over."""
    octagon = [(0.3 * np.cos(a), 0.3 * np.sin(a), 0.0) for a in np.arange(8) * np.pi / 4]
    table = hs.build([], [], world_geoms=[hs.Geom("prism", (0.05,), (0, 0, -0.05), points=np.array(octagon))])
    can = hs.free_body(hs.Link("can", 0.3, inertia=(4e-4, 4e-4, 2e-4), geoms=[hs.Geom("cylinder", (0.03, 0.06))]))
    scene = hs.world(can, table)
    assert scene.contacts.pairs
    assert not scene.contacts.upright
    q, qd = scene.rest()
    q[2:7] = 0.035, np.sqrt(0.5), np.sqrt(0.5), 0, 0
    end = hs.native.jit(lambda q, qd: hs.rollout(scene, (q, qd), dt=1e-3, steps=400))(q, qd)[-1]
    lying = np.abs(np.asarray(end.q[3:7])) - np.sqrt([0.5, 0.5, 0, 0])
    np.testing.assert_allclose(end.q[2], 0.03, atol=2e-5)
    np.testing.assert_allclose(lying, 0, atol=1e-3)
