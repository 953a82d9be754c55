"""Networks act where a blueprint says, on what it says, and as it says: checked by calling them by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs

from .weights import shaken

DT = 0.01
CHAIN = hs.chain(2, damping=0.1)
START = hs.State(np.array([0.4, -0.7]), np.array([1.0, 0.5]))
BALL = hs.free_body(hs.solid("ball", 0.05, "sphere", 0.02))
FLYING = hs.State(np.array([0, 0, 5, 1, 0, 0, 0.0]), np.array([3.0, -2.0, 1.0, 20.0, 5.0, 9.0]))


def grafted(*augments, model=CHAIN, contact=None, seed=0, size=1.0) -> hs.Model:
    """With weights that are not those of the start."""
    return shaken(hs.Blueprint(*augments).graft(model, contact=contact), seed, size)


def network(model: hs.Model, i: int = 0):
    return model.augmentation.sites[i].network


def by_hand(model: hs.Model, *x, i: int = 0) -> np.ndarray:
    """What a network without memory answers."""
    given = np.concatenate([np.atleast_1d(part) for part in x])
    return np.asarray(network(model, i)(given, None)[0])


class Seen:
    """A user's function at the marks: what the variables are when a step goes on."""

    def __init__(self):
        self.values = {}

    def __call__(self, name, value):
        self.values[name] = value
        return value


def forces(model, q, qd, *, tau=None, name="joint.force", contact=None) -> np.ndarray:
    """A variable in one evaluation, outside of any jit."""
    seen = Seen()
    with jax.disable_jit():
        hs.acceleration(model, (np.asarray(q), np.asarray(qd)), tau, contact=contact, named=seen)
    return np.asarray(seen.values[name])


# The special cases of the papers


@pytest.mark.parametrize("network", [hs.MLP((8,)), hs.Linear(), hs.GRU(4), hs.LSTM(4)], ids=lambda n: type(n).__name__)
def test_until_they_are_trained_networks_leave_the_motion_as_it_is(network):
    hybrid = hs.Blueprint(
        hs.Augment("joint.force", ("joint.position", "joint.velocity"), network),
        hs.Augment("link.mass", "joint.velocity", network, mode="scale"),
        hs.Augment(("state.next_position", "state.next_velocity"), "joint.position[*]", network, apply="together"),
    ).graft(CHAIN)
    plain, same = (hs.rollout(model, START, dt=DT, steps=20) for model in (CHAIN, hybrid))
    np.testing.assert_allclose(same.q, plain.q, rtol=1e-12)
    np.testing.assert_allclose(same.qd, plain.qd, rtol=1e-12)
    # To the last bit where every operation is on its own: XLA may round two programs differently.
    with jax.disable_jit():
        plain, same = (hs.rollout(model, START, dt=DT, steps=2) for model in (CHAIN, hybrid))
    assert np.array_equal(plain.q, same.q)
    assert np.array_equal(plain.qd, same.qd)


def test_residual_physics_adds_to_the_next_state_what_the_network_says():
    hybrid = grafted(
        hs.Augment(
            ("state.next_position", "state.next_velocity"),
            ("joint.position[*]", "joint.velocity[*]"),
            apply="together",
        )
    )
    plain, moved = (hs.step(model, START, dt=DT, contact=None) for model in (CHAIN, hybrid))
    y = by_hand(hybrid, START.q, START.qd)
    assert np.abs(y).min() > 1e-3
    assert np.allclose(moved.q, plain.q + y[:2], atol=1e-14)
    assert np.allclose(moved.qd, plain.qd + y[2:], atol=1e-14)


def test_a_fully_learned_model_is_the_network_alone():
    hybrid = grafted(
        hs.Augment(
            ("state.next_position", "state.next_velocity"),
            ("joint.position[*]", "joint.velocity[*]", "joint.command[*]"),
            apply="together",
            mode="replace",
        ),
        size=0.2,
    )
    controls = np.random.default_rng(0).normal(size=(5, 2))
    motion = hs.rollout(hybrid, START, controls, dt=DT, contact=None)
    q, qd = START
    for i, control in enumerate(controls):
        y = by_hand(hybrid, q, qd, control)
        q, qd = y[:2], y[2:]
        assert np.allclose(motion.q[i + 1], q, atol=1e-13)
        assert np.allclose(motion.qd[i + 1], qd, atol=1e-13)


def test_a_replaced_orientation_stays_a_rotation():
    hybrid = grafted(hs.Augment("state.next_position", "joint.velocity", mode="replace"), model=BALL)
    q = hs.step(hybrid, FLYING, dt=DT, contact=None).q
    y = by_hand(hybrid, FLYING.qd)
    assert np.allclose(q, np.concatenate([y[:3], y[3:] / np.linalg.norm(y[3:])]))


DRIVEN = hs.build(
    [hs.solid("upper", 1.0, "capsule", (0.02, 0.2), (0, 0, -0.2)), hs.solid("hand", 0.5, "capsule", (0.02, 0.2))],
    [
        hs.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
        hs.Joint("elbow", "revolute", "upper", "hand", position=(0, 0, -0.4), axis=(0, 1, 0)),
    ],
    actuators=[hs.Actuator.motor("m_elbow", "elbow", gear=2.0), hs.Actuator.motor("m_shoulder", "shoulder")],
)


def test_an_actuator_network_with_a_history_is_a_ring_buffer():
    hybrid = grafted(
        hs.Augment(
            "joint.actuation",
            ("actuator.command", hs.history("actuator.command", 2, every=2), hs.history("joint.velocity", 1)),
            mode="replace",
        ),
        model=DRIVEN,
    )
    commands = np.random.default_rng(0).normal(size=(9, 2))
    motion = hs.rollout(hybrid, START, commands, dt=DT, contact=None, record=("joint.actuation",))
    buffer = [commands[0]] * 4
    last = START.qd
    for command, qd, found in zip(commands, motion.qd, motion.values["joint.actuation"], strict=False):
        for joint, actuator in ((0, 1), (1, 0)):
            past = [buffer[-2][actuator], buffer[-4][actuator]]
            y = by_hand(hybrid, command[actuator], past, last[joint], i=joint)
            assert np.allclose(found[joint], y, atol=1e-12)
        buffer, last = [*buffer[1:], command], qd


def test_the_papers_passive_force():
    """Ajay et al. and NeuralSim: a torque of every joint from its own position and velocity."""
    hybrid = grafted(hs.Augment("joint.passive_force", ("joint.position", "joint.velocity")))
    found = forces(hybrid, *START, name="joint.passive_force")
    y = np.array([by_hand(hybrid, START.q[i], START.qd[i], i=i)[0] for i in range(2)])
    assert np.allclose(found, forces(CHAIN, *START, name="joint.passive_force") + y)


BOX = hs.world(hs.free_body(hs.solid("box", 1.0, "box", (0.1, 0.1, 0.1))), hs.ground())
SLIDING = hs.State(np.array([0, 0, 0.098, 1, 0, 0, 0.0]), np.array([0.1, 0.2, 0.3, 0.6, -0.4, -0.1]))


def test_a_contact_network_acts_on_every_point():
    inputs = ("contact.sliding_velocity", "contact.normal_force", "link.velocity[box]")
    hybrid = grafted(
        hs.Augment("contact.friction_force", inputs, entities="box*/ground"), model=BOX, contact=hs.Springs()
    )
    record = ("contact.sliding_velocity", "contact.normal_force", "contact.friction_force", "joint.acceleration")
    now, before = (
        {name: x[0] for name, x in hs.rollout(m, SLIDING, steps=1, contact=hs.Springs(), record=record).values.items()}
        for m in (hybrid, BOX)
    )
    twist = hs.jacobian(BOX, SLIDING.q, "box") @ SLIDING.qd
    y = [
        by_hand(hybrid, slide, load, twist)
        for slide, load in zip(now["contact.sliding_velocity"], now["contact.normal_force"], strict=True)
    ]
    assert len(hybrid.augmentation.sites) == 1
    assert np.allclose(now["contact.friction_force"], before["contact.friction_force"] + np.array(y), atol=1e-12)
    pushed = now["joint.acceleration"] - before["joint.acceleration"]
    assert np.allclose(pushed[3:], np.sum(y, axis=0), atol=1e-10)


def test_drag_on_a_golf_ball():
    hybrid = grafted(hs.Augment("link.external_force", "link.velocity"), model=BALL)
    plain, pushed = (hs.acceleration(model, FLYING) for model in (BALL, hybrid))
    y = by_hand(hybrid, FLYING.qd)
    assert np.allclose(pushed - plain, y / np.repeat([0.4 * 0.05 * 0.02**2, 0.05], 3))


# How networks are applied, and how they change a value


@pytest.mark.parametrize("mode", ["add", "scale", "replace"])
@pytest.mark.parametrize("apply", ["each", "shared", "together"])
def test_application_and_mode(apply, mode):
    hybrid = grafted(hs.Augment("joint.force", ("joint.velocity", "joint.position"), apply=apply, mode=mode))
    assert len(hybrid.augmentation.sites) == (2 if apply == "each" else 1)
    x = [(qd, q) for q, qd in zip(*START, strict=True)]
    if apply == "together":
        y = by_hand(hybrid, START.qd, START.q)
    else:
        y = np.array([by_hand(hybrid, *x[i], i=i if apply == "each" else 0)[0] for i in range(2)])
    tau = np.array([0.3, -0.2])
    plain = forces(CHAIN, *START, tau=tau)
    expected = {"add": plain + y, "scale": plain * (1 + y), "replace": y}[mode]
    assert np.allclose(forces(hybrid, *START, tau=tau), expected, atol=1e-13)


@pytest.mark.parametrize("mode", ["add", "scale", "replace"])
def test_only_the_entities_that_are_meant(mode):
    hybrid = grafted(hs.Augment("joint.force", "joint.velocity", entities="joint2", mode=mode))
    plain = forces(CHAIN, *START)
    y = by_hand(hybrid, START.qd[1])[0]
    expected = {"add": plain[1] + y, "scale": plain[1] * (1 + y), "replace": y}[mode]
    assert np.allclose(forces(hybrid, *START), [plain[0], expected])


def test_networks_of_several_grafts_act_one_after_another():
    """What a network changes it sees as physics alone would have it; what others changed, as they left it."""
    first = grafted(hs.Augment("joint.passive_force", "joint.position", apply="together"))
    more = (
        hs.Augment("joint.passive_force", "joint.passive_force", apply="together", mode="scale"),
        hs.Augment("joint.force", "joint.passive_force", apply="together"),
    )
    hybrid = shaken(hs.Blueprint(*more).graft(first), seed=5)
    plain = forces(CHAIN, *START, name="joint.passive_force")
    passive = (plain + by_hand(hybrid, START.q)) * (1 + by_hand(hybrid, plain, i=1))
    assert np.allclose(forces(hybrid, *START, name="joint.passive_force"), passive)
    assert np.allclose(forces(hybrid, *START), passive + by_hand(hybrid, passive, i=2))


def test_inputs_from_elsewhere_constants_turns_and_time():
    inputs = (
        "link.velocity[hand]",
        hs.cyclic("joint.position"),
        hs.constant("load", {"shoulder": (1.5, 2.5), "*": (3.5, 4.5)}),
        "world.gravity",
        "world.time",
        "joint.position[*]",
        "actuator.command",
        "link.mass",
    )
    hybrid = grafted(hs.Augment("joint.force", inputs, mode="replace"), model=DRIVEN, size=0.3)
    command = np.array([0.3, -0.6])
    force = np.asarray(hs.rollout(hybrid, START, command[None], dt=DT, contact=None, record=("joint.force",),
                                  start_time=0.7).values["joint.force"][0])  # fmt: skip
    hand = hs.jacobian(DRIVEN, START.q, "hand") @ START.qd
    for i, (load, u, mass) in enumerate((((1.5, 2.5), -0.6, 1.0), ((3.5, 4.5), 0.3, 0.5))):
        turn = [np.sin(START.q[i]), np.cos(START.q[i])]
        assert np.allclose(force[i], by_hand(hybrid, hand, turn, load, [0, 0, -9.81], 0.7, START.q, u, mass, i=i))


def test_what_belongs_to_what():
    """A link's joint, an actuator's joint; labels say whose an input is. What all share is looked at once."""
    augments = (
        hs.Augment("link.external_force", "joint.velocity", apply="shared"),
        hs.Augment("actuator.force", ("joint.velocity", "world.gravity"), apply="together"),
        hs.Augment("joint.force", ("link.velocity", "actuator.command"), entities="elbow"),
    )
    hybrid = grafted(*augments, model=DRIVEN)
    labels = [[block.label for block in site.plan.signature.inputs] for site in hybrid.augmentation.sites]
    assert labels == [
        ["joint.velocity"],
        ["joint.velocity[elbow]", "joint.velocity[shoulder]", "world.gravity"],
        ["link.velocity[hand]", "actuator.command[m_elbow]"],
    ]
    y = by_hand(hybrid, START.qd[[1, 0]], [0, 0, -9.81], i=1)
    found = forces(hybrid, *START, tau=np.array([0.1, 0.2]), name="actuator.force")
    assert np.allclose(found, np.array([0.1, 0.2]) + y)


def test_networks_without_inputs_are_numbers_to_be_found():
    hybrid = grafted(hs.Augment("joint.force", ()))
    assert np.allclose(forces(hybrid, *START) - forces(CHAIN, *START), [by_hand(hybrid, [], i=i)[0] for i in range(2)])


def test_a_network_at_a_parameter():
    """A mass that depends on the angle: the same motion as a model with that mass."""
    hybrid = grafted(hs.Augment("link.mass", "joint.position", entities="link2", mode="replace", network=hs.MLP((4,))))
    mass = abs(by_hand(hybrid, START.q[1])[0]) + 0.1
    heavy = eqx.tree_at(lambda m: m.augmentation.sites[0].network.last.bias, hybrid, replace_fn=lambda b: b * 0 + mass)
    heavy = eqx.tree_at(lambda m: m.augmentation.sites[0].network.last.weight, heavy, replace_fn=lambda w: w * 0)
    other = eqx.tree_at(lambda m: m.links.mass, CHAIN, np.array([1.0, mass]))
    assert np.allclose(hs.step(heavy, START, dt=DT).qd, hs.step(other, START, dt=DT).qd, atol=1e-14)


# Modules of one's own


class Cubic(eqx.Module):
    gain: jax.Array

    def __call__(self, x):
        return self.gain * jnp.sum(x**3, keepdims=True)


class Leaky(eqx.Module):
    rate: jax.Array

    def memory(self):
        return jnp.full(1, 0.5)

    def __call__(self, x, memory):
        memory = memory + self.rate * (x - memory)
        return 2 * memory, memory


def test_a_module_of_ones_own():
    hybrid = hs.Blueprint(hs.Augment("joint.force", "joint.velocity", Cubic(jnp.asarray(0.3)))).graft(CHAIN)
    assert np.allclose(forces(hybrid, *START), forces(CHAIN, *START) + 0.3 * START.qd**3)


def test_a_function_that_makes_a_module():
    def make(inputs, outputs, seed):
        assert (inputs, outputs) == (2, 2)
        return eqx.nn.Linear(inputs, outputs, key=jax.random.key(seed))

    augment = hs.Augment("joint.force", "joint.velocity", make, apply="together")
    hybrid = hs.Blueprint(augment).graft(CHAIN)
    assert np.allclose(forces(hybrid, *START), forces(CHAIN, *START) + network(hybrid).module(START.qd))


def test_a_module_of_ones_own_with_memory():
    hybrid = hs.Blueprint(hs.Augment("joint.force", "joint.velocity", Leaky(jnp.asarray(0.2)))).graft(CHAIN)
    names = ("joint.force", "joint.passive_force")
    motion = hs.rollout(hybrid, START, dt=DT, steps=4, contact=None, record=names)
    memory = np.full(2, 0.5)
    for i in range(4):
        memory = memory + 0.2 * (motion.qd[i] - memory)
        assert np.allclose(motion.values["joint.force"][i] - motion.values["joint.passive_force"][i], 2 * memory)


def test_a_constant_may_be_an_array():
    assert hs.constant("load", np.array([1.5, 2.5])) == hs.constant("load", (1.5, 2.5))
