"""A world of several mechanisms is one model in which each moves as it would alone."""

import equinox as eqx
import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.model import WORLD


def gripper() -> hs.Model:
    """With an anchor and a mimic joint, which the other models here have not."""
    links = [hs.Link(name, 0.5, (0.1, 0, 0.05), 0.01) for name in ("left", "right")]
    joints = [
        hs.Joint("left", "revolute", WORLD, "left", anchor=(0, 0.1, 0), axis=(1, 0, 0)),
        hs.Joint("right", "revolute", WORLD, "right", axis=(1, 0, 0), mimic=hs.Mimic("left", ratio=-1.0, offset=0.2)),
    ]
    return hs.build(links, joints, [hs.Actuator.position("close", "left", kp=5.0)], gravity=(0, 0, -3))


PARTS = {
    "arm": hs.prefixed(hs.chain(2, damping=0.2), "arm/"),
    "gripper": gripper(),
    "cube": hs.prefixed(hs.free_body(hs.solid("cube", 1.0, "box", (0.1, 0.2, 0.3))), "toy/"),
    "ground": hs.ground(),
}


def test_each_mechanism_moves_as_it_would_alone():
    model = hs.world(*PARTS.values())
    assert (model.nq, model.nv, model.nu) == (2 + 1 + 7, 2 + 1 + 6, 1)
    rng = np.random.default_rng(0)
    state = (model.rest()[0] + rng.normal(size=model.nq), rng.normal(size=model.nv))
    together = hs.acceleration(model, state, np.array([0.3]))
    alone = []
    q, v = 0, 0
    for part in PARTS.values():
        part = hs.world(hs.build([], []), part)  # The first model's gravity holds.
        control = np.array([0.3]) if part.nu else None
        alone.append(hs.acceleration(part, (state[0][q : q + part.nq], state[1][v : v + part.nv]), control))
        q, v = q + part.nq, v + part.nv
    np.testing.assert_allclose(together, np.concatenate(alone), rtol=1e-12)


def test_gravity_and_time_step_are_the_first_models():
    fast = hs.build([], [], gravity=(1, 2, 3), timestep=0.5)
    model = hs.world(fast, gripper())
    np.testing.assert_array_equal(model.gravity, [1, 2, 3])
    assert model.timestep == 0.5


def test_shapes_and_actuators_stay_with_their_links_and_joints():
    model = hs.world(PARTS["ground"], PARTS["arm"], PARTS["cube"], PARTS["gripper"])
    owners = [model.link_names[i] if i >= 0 else WORLD for i in model.geometry.links]
    assert owners == [WORLD, "arm/link1", "arm/link2", "toy/cube"]
    assert [model.joint_names[j] for j in model.actuators.joints] == ["left"]
    assert model.joint_names[model.topology.mimics[model.topology.joint("right")]] == "left"


def test_prefixes_go_before_every_name():
    model = hs.prefixed(gripper(), "robot1/")
    assert model.link_names == ("robot1/left", "robot1/right")
    assert model.joint_names == ("robot1/left", "robot1/right")
    assert model.actuators.names == ("robot1/close",)
    np.testing.assert_array_equal(model.links.mass, gripper().links.mass)


def test_names_are_taken_once():
    with pytest.raises(hs.ModelError, match=r"models 0 and 2 .* link called 'left'.*prefixed"):
        hs.world(gripper(), hs.ground(), gripper())


def test_a_world_can_be_made_of_traced_models():
    """So that a loss may build its world inside the function that is differentiated."""

    def total_mass(mass):
        arm = eqx.tree_at(lambda m: m.links.mass, PARTS["arm"], mass)
        return hs.world(arm, PARTS["cube"]).links.mass.sum()

    np.testing.assert_array_equal(jax.grad(total_mass)(np.array([1.0, 2.0])), [1, 1])
