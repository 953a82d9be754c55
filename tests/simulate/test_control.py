"""What drives a model: joint forces, wrenches on links, commands to actuators, policies."""

import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs

BARE = hs.chain(2, damping=0.3, stiffness=1.0)
STATE = (np.array([0.4, -0.7]), np.array([1.0, 0.5]))
STEPS = 20
FORCES = np.random.default_rng(0).normal(size=(STEPS, 2))


def driven() -> hs.Model:
    """One of the two joints has a motor with gear 3, and cannot push with more than 5 N m."""
    links = [hs.Link(name, 1.0, (0, 0, -0.5), 0.1) for name in ("upper", "lower")]
    joints = [
        hs.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
        hs.Joint("elbow", "revolute", "upper", "lower", position=(0, 0, -1), axis=(0, 1, 0), effort=5.0),
    ]
    return hs.build(links, joints, [hs.Actuator.motor("motor", "elbow", gear=3.0)], timestep=5e-3)


DRIVEN = driven()


def forces_at_joints(model, control, state=STATE) -> np.ndarray:
    """What the control adds to springs, dampers and friction."""
    total = hs.inverse_dynamics(model, *state, hs.acceleration(model, state, control))
    return np.asarray(total - hs.passive_forces(model, *state))


def test_an_array_is_the_joint_force_of_a_model_without_actuators():
    np.testing.assert_allclose(forces_at_joints(BARE, np.array([2.0, -1.0])), [2, -1], atol=1e-13)


def test_an_array_is_the_command_of_a_model_with_actuators():
    np.testing.assert_allclose(forces_at_joints(DRIVEN, np.array([0.5])), [0, 1.5], atol=1e-13)


def test_force_and_command_add_up_to_the_effort_limit():
    both = hs.Control(command=np.array([1.0]), force=np.array([100.0, 1.0]))
    np.testing.assert_allclose(forces_at_joints(DRIVEN, both), [100, 4], atol=1e-12)
    strong = hs.Control(command=np.array([1.0]), force=np.array([0.0, 4.0]))
    np.testing.assert_allclose(forces_at_joints(DRIVEN, strong), [0, 5], atol=1e-12)


def test_without_a_command_actuators_get_zero():
    servo = hs.build(
        [hs.Link("arm", 1.0, inertia=0.1)],
        [hs.Joint("hinge", "revolute", "world", "arm", spring_rest=0.7)],
        [hs.Actuator.position("servo", "hinge", kp=10.0, kv=2.0)],
    )
    state = (np.array([0.3]), np.array([0.5]))
    np.testing.assert_allclose(forces_at_joints(servo, None, state), [-10 * 0.3 - 2 * 0.5], rtol=1e-13)


def test_wrenches_push_links_by_name_or_by_row():
    """A force on a link's origin is J^T f at the joints, however it is written."""
    wrench = np.array([0.1, 0.2, -0.3, 1.0, -2.0, 3.0])
    expected = np.asarray(hs.jacobian(BARE, STATE[0], "link2")).T @ wrench
    for wrenches in ({"link2": wrench}, np.stack([np.zeros(6), wrench])):
        found = forces_at_joints(BARE, hs.Control(wrenches=wrenches))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_rows_of_controls_act_one_a_step():
    found = hs.rollout(BARE, STATE, FORCES, dt=1e-2)
    state = hs.State(*STATE)
    for k in range(STEPS):
        state = hs.step(BARE, state, FORCES[k], dt=1e-2)
        np.testing.assert_allclose(found.q[k + 1], state.q, rtol=1e-12)
        np.testing.assert_allclose(found.qd[k + 1], state.qd, rtol=1e-12)
    np.testing.assert_array_equal(found.q[0], STATE[0])
    np.testing.assert_allclose(found.t, 1e-2 * np.arange(STEPS + 1))


def test_a_control_with_a_time_axis_holds_forces_and_wrenches():
    wrenches = {"link1": np.random.default_rng(1).normal(size=(STEPS, 6))}
    found = hs.rollout(BARE, STATE, hs.Control(force=FORCES, wrenches=wrenches), dt=1e-2)
    state = hs.State(*STATE)
    for k in range(STEPS):
        state = hs.step(BARE, state, hs.Control(force=FORCES[k], wrenches={"link1": wrenches["link1"][k]}), dt=1e-2)
    np.testing.assert_allclose(found.q[-1], state.q, rtol=1e-12)


def test_a_policy_sees_time_and_state():
    def policy(t, state):
        return jnp.sin(3 * t) - 2 * state.q

    found = hs.rollout(BARE, STATE, policy, dt=1e-2, steps=STEPS)
    replayed = hs.rollout(BARE, STATE, np.sin(3 * found.t[:-1, None]) - 2 * found.q[:-1], dt=1e-2)
    np.testing.assert_allclose(found.q, replayed.q, rtol=1e-12)


def test_a_policy_may_return_a_control_or_nothing():
    free = hs.rollout(DRIVEN, STATE, lambda t, state: None, dt=1e-2, steps=STEPS)
    named = hs.rollout(DRIVEN, STATE, lambda t, state: hs.Control(command=jnp.zeros(1)), dt=1e-2, steps=STEPS)
    np.testing.assert_allclose(free.q, named.q, rtol=1e-13)


def test_the_models_own_time_step_is_used_where_none_is_named():
    own, named = hs.step(DRIVEN, STATE), hs.step(DRIVEN, STATE, dt=5e-3)
    np.testing.assert_allclose(own.q, named.q, rtol=1e-15)
    np.testing.assert_allclose(hs.rollout(DRIVEN, STATE, steps=3).t, [0, 5e-3, 10e-3, 15e-3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"how many steps\? give steps="),
        ({"controls": FORCES, "steps": 7}, r"one row for each of the 7 steps.*20"),
        ({"controls": np.zeros((STEPS, 3))}, r"force has shape \(3,\) at each step.*needs \(2,\)"),
        ({"controls": hs.Control(command=np.zeros((STEPS, 1)))}, r"command has shape \(1,\).*needs \(0,\)"),
        ({"controls": np.zeros(STEPS)}, r"force has shape \(\) at each step.*needs \(2,\)"),
        ({"controls": hs.Control(force=FORCES, wrenches={"link1": np.zeros((5, 6))})}, "one row for each"),
    ],
)
def test_controls_of_the_wrong_size_are_refused_in_words(arguments, message):
    with pytest.raises(ValueError, match=message):
        hs.rollout(BARE, STATE, **arguments)


def test_states_of_the_wrong_size_are_refused_in_words():
    with pytest.raises(ValueError, match=r"q has shape \(3,\), but this model needs \(2,\)"):
        hs.step(BARE, (np.zeros(3), np.zeros(2)))
    with pytest.raises(ValueError, match=r"velocity.* has shape \(3,\), but this model needs \(2,\)"):
        hs.step(BARE, (np.zeros(2), np.zeros(3)))


def test_a_wrench_on_a_link_that_is_not_there_names_those_that_are():
    with pytest.raises(KeyError, match=r"no link is called 'hand'.*link1, link2"):
        hs.step(BARE, STATE, hs.Control(wrenches={"hand": np.zeros(6)}))
