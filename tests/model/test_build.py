"""Building models from records: order, names, places of coordinates, the several ways to write numbers."""

import jax
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hybridsim as hs
from hybridsim.model import WORLD, Spec, build_spec


def body(name: str, mass: float = 1.0) -> hs.Link:
    return hs.Link(name, mass, inertia=0.1)


def test_joints_come_depth_first_whatever_order_they_are_given_in():
    """Parents first; brothers in the order of the records; each with its own numbers."""
    tree = {"a": WORLD, "b": "a", "c": "a", "d": "b", "e": WORLD}
    links = [body(name, mass) for mass, name in enumerate("edcba", start=1)]
    joints = [hs.Joint(f"to {name}", "revolute", tree[name], name, damping=ord(name)) for name in "dcbea"]
    model = hs.build(links, joints)
    assert model.joint_names == ("to e", "to a", "to c", "to b", "to d")
    assert model.link_names == ("e", "a", "c", "b", "d")
    assert model.topology.parents == (-1, -1, 1, 1, 3)
    np.testing.assert_array_equal(model.links.mass, [1, 5, 3, 4, 2])
    np.testing.assert_array_equal(model.joints.damping, [ord(name) for name in "eacbd"])


def test_coordinates_lie_where_the_model_says():
    model = hs.build(
        [body("base"), body("arm"), body("hand")],
        [
            hs.Joint("root", "free", WORLD, "base"),
            hs.Joint("weld", "fixed", "base", "arm"),
            hs.Joint("wrist", "spherical", "arm", "hand"),
            hs.Joint("slide", "prismatic", "arm", "hand", rest=0.3),
        ],
    )
    assert (model.nq, model.nv) == (7 + 4 + 1, 6 + 3 + 1)
    assert (model.q_of("root"), model.q_of("wrist"), model.q_of("slide")) == (slice(0, 7), slice(7, 11), slice(11, 12))
    assert (model.v_of("root"), model.v_of("wrist"), model.v_of("slide")) == (slice(0, 6), slice(6, 9), slice(9, 10))
    q, qd = model.rest()
    np.testing.assert_array_equal(q, [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0.3])
    np.testing.assert_array_equal(qd, np.zeros(10))


def test_several_joints_of_a_body_act_one_after_the_other():
    """A gimbal: the second axis turns with the first joint, and the link sits behind the last."""
    axes = {"yaw": (0, 0, 1), "pitch": (0, 1, 0), "roll": (1, 0, 0)}
    model = hs.build(
        [body("ball")], [hs.Joint(name, "revolute", WORLD, "ball", axis=axis) for name, axis in axes.items()]
    )
    angles = [0.3, -0.5, 0.9]
    found = hs.forward_kinematics(model, np.array(angles))["ball"].rotation
    np.testing.assert_allclose(found, Rotation.from_euler("ZYX", angles).as_matrix(), atol=1e-15)
    assert model.topology.parents == (-1, 0, 1)
    assert model.topology.link_joints == (2,)


def test_mimic_joints_have_no_coordinates_of_their_own():
    model = hs.build(
        [body("left"), body("right"), body("tip")],
        [
            hs.Joint("right", "prismatic", WORLD, "right", mimic=hs.Mimic("left", ratio=-2.0, offset=0.5)),
            hs.Joint("left", "revolute", WORLD, "left"),
            hs.Joint("tip", "revolute", "left", "tip"),
        ],
    )
    assert (model.nq, model.nv) == (2, 2)
    assert (model.q_of("left"), model.v_of("tip")) == (slice(0, 1), slice(1, 2))
    q = np.array([0.3, 0.0])
    assert hs.forward_kinematics(model, q)["right"].position[2] == pytest.approx(0.5 - 0.6)
    with pytest.raises(KeyError, match=r"'right' copies joint 'left'.*ask for 'left'"):
        model.q_of("right")


@pytest.mark.parametrize(
    ("short", "matrix"),
    [
        (0.2, np.diag([0.2, 0.2, 0.2])),
        ((0.2, 0.3, 0.4), np.diag([0.2, 0.3, 0.4])),
        ((0.2, 0.3, 0.4, 0.01, 0.02, 0.03), [[0.2, 0.01, 0.02], [0.01, 0.3, 0.03], [0.02, 0.03, 0.4]]),
    ],
    ids=["one number", "three", "six"],
)
def test_inertia_can_be_written_in_several_ways(short, matrix):
    def stored(inertia):
        return hs.free_body(hs.Link("b", 1.0, inertia=inertia)).links.inertia

    np.testing.assert_array_equal(stored(short), stored(matrix))
    np.testing.assert_array_equal(stored(matrix)[0, [0, 3, 4]], np.asarray(matrix)[0])


def test_one_number_stands_for_all_freedoms_and_several_for_each():
    joint = hs.Joint("root", "free", WORLD, "b", damping=0.5, armature=(1, 2, 3, 4, 5, 6))
    model = hs.build([body("b")], [joint])
    np.testing.assert_array_equal(model.joints.damping, [0.5] * 6)
    np.testing.assert_array_equal(model.joints.armature, [1, 2, 3, 4, 5, 6])


def test_springs_rest_where_the_joint_rests_unless_told():
    joints = [
        hs.Joint("a", "revolute", WORLD, "a", rest=0.4),
        hs.Joint("b", "revolute", "a", "b", rest=0.4, spring_rest=-1),
    ]
    model = hs.build([body("a"), body("b")], joints)
    np.testing.assert_array_equal(model.joints.spring_rest, [0.4, -1])
    np.testing.assert_array_equal(model.rest()[0], [0.4, 0.4])


def test_quaternions_of_a_model_have_unit_length():
    long = (2.0, 0.0, 2.0, 1.0)
    joint = hs.Joint("ball", "spherical", WORLD, "b", quaternion=long, rest=long)
    model = hs.build([body("b")], [joint])
    np.testing.assert_allclose(model.joints.quaternion[0], np.array(long) / 3, rtol=1e-15)
    np.testing.assert_allclose(model.rest()[0], np.array(long) / 3, rtol=1e-15)


def test_every_number_is_a_float64_leaf_and_nothing_else_is():
    model = hs.chain(3, damping=0.1)
    leaves = jax.tree.leaves(model)
    assert all(isinstance(leaf, np.ndarray) and leaf.dtype == np.float64 for leaf in leaves)
    by_name = {jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(model)}
    assert {".links.mass", ".joints.axis", ".gravity", ".timestep", ".actuators.gain"} <= by_name


def test_models_of_one_topology_share_a_compiled_program():
    traced = []

    @jax.jit
    def count(model):
        traced.append(model)
        return model.links.mass.sum()

    assert float(count(hs.chain(2, mass=1.0))) == 2.0
    assert float(count(hs.chain(2, mass=3.0))) == 6.0
    assert len(traced) == 1
    assert hash(hs.chain(2).topology) == hash(hs.chain(2).topology)
    assert hs.chain(2).topology != hs.chain(3).topology


def test_unknown_names_are_answered_with_the_names_there_are():
    model = hs.chain(2)
    with pytest.raises(KeyError, match=r"no joint is called 'elbow'.*joint1, joint2"):
        model.q_of("elbow")
    with pytest.raises(KeyError, match=r"no link is called 'hand'.*link1, link2"):
        model.topology.link("hand")


def test_describe_names_every_joint_with_kind_and_links():
    text = hs.chain(2, base="free").describe()
    assert "nq 8, nv 7" in text
    assert "joint1: free, world -> link1" in text
    assert "joint2: revolute, link1 -> link2" in text


def test_strictness_turns_an_impossible_inertia_into_a_warning():
    spec = Spec([hs.Link("rod", 1.0, inertia=(1.0, 1.0, 5.0))], [hs.Joint("j", "revolute", WORLD, "rod")])
    with pytest.warns(hs.ModelWarning, match=r"rod.*1 1 5"):
        model = build_spec(spec, strict=False)
    np.testing.assert_array_equal(model.links.inertia[0, :3], [1, 1, 5])


def test_moments_rounded_to_a_few_digits_are_accepted():
    """A thin rod has moments (a, a, 0); files round them."""
    rod = hs.Link("rod", 1.0, inertia=(0.08333, 0.08334, 0.0))
    hs.build([rod], [hs.Joint("across", "revolute", WORLD, "rod", axis=(1, 0, 0))])
    with pytest.raises(hs.ModelError, match="turns no inertia"):
        hs.build([rod], [hs.Joint("along", "revolute", WORLD, "rod", axis=(0, 0, 1))])
