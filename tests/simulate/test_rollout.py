"""Rollouts under JAX's transformations, their memory in reverse mode, and what they say when they diverge."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs

MODEL = hs.chain(2, damping=0.1)
STATE = (np.array([0.4, -0.7]), np.array([1.0, 0.5]))


def final_angle(model, q, qd=STATE[1], **options):
    return hs.rollout(model, (q, qd), dt=1e-2, steps=30, **options).q[-1]


def test_a_rollout_can_be_jitted_mapped_and_differentiated_together():
    """A batch of gradients is the gradients one by one, over states and over models."""

    def loss(mass, q):
        model = eqx.tree_at(lambda m: m.links.mass, MODEL, mass)
        return jnp.sum(final_angle(model, q) ** 2)

    gradient = jax.value_and_grad(loss, argnums=(0, 1))
    masses, starts = np.array([[1.0, 1.0], [0.5, 2.0]]), np.array([[0.4, -0.7], [1.0, 0.2]])
    batch = jax.jit(jax.vmap(gradient))(masses, starts)
    alone = jax.jit(gradient)
    for i in range(2):
        one = alone(masses[i], starts[i])
        jax.tree.map(lambda x, y, i=i: np.testing.assert_allclose(x[i], y, rtol=1e-11, atol=1e-13), batch, one)


def test_checkpoints_change_neither_values_nor_gradients():
    def loss(q, checkpoint):
        return jnp.sum(final_angle(MODEL, q, checkpoint=checkpoint) ** 2)

    with_, without = (jax.jit(jax.value_and_grad(loss), static_argnums=1)(STATE[0], flag) for flag in (True, False))
    np.testing.assert_allclose(with_[0], without[0], rtol=1e-14)
    np.testing.assert_allclose(with_[1], without[1], rtol=1e-12)


def residual_numbers(model: hs.Model, steps: int, checkpoint: bool) -> int:
    """How many numbers the forward pass of a gradient keeps for the backward pass."""

    def forward(model, q, qd):
        roll = lambda *args: hs.rollout(args[0], args[1:], dt=1e-3, steps=steps, checkpoint=checkpoint).q  # noqa: E731
        return jax.vjp(roll, model, q, qd)[1]

    kept = jax.eval_shape(forward, jax.tree.map(jnp.asarray, model), *model.rest())
    return sum(int(np.prod(x.shape)) for x in jax.tree.leaves(kept))


@pytest.mark.parametrize(
    "model", [hs.chain(1), hs.chain(5), hs.chain(2, base="free")], ids=["hinge", "five hinges", "free"]
)
def test_memory_of_a_gradient_grows_with_steps_times_state_and_factors_only(model):
    growth = (residual_numbers(model, 60, True) - residual_numbers(model, 20, True)) / 40
    # The state, a factor of the mass matrix (seven numbers a freedom), accelerations, sine and cosine of every
    # hinge, and a number or two such as the time.
    hinges = sum(kind.name == "revolute" for kind in model.topology.kinds)
    kept = model.nq + model.nv + 8 * model.nv + 2 * hinges
    assert kept <= growth <= kept + 2
    assert (residual_numbers(model, 60, False) - residual_numbers(model, 20, False)) / 40 > 4 * growth


def two_arms() -> hs.Model:
    """A calm arm, and one so strongly damped that explicit steps of it diverge."""
    return hs.world(hs.prefixed(hs.chain(2), "calm/"), hs.prefixed(hs.chain(2, damping=1e5), "stiff/"))


def test_a_diverging_rollout_names_step_joint_and_fix_when_asked():
    model = two_arms()
    state = (model.rest()[0] + 0.3, model.rest()[1])
    with pytest.raises(hs.DivergedError) as caught:
        hs.rollout(model, state, dt=1e-2, steps=300, contact=None, check=True)
    silent = hs.rollout(model, state, dt=1e-2, steps=300, contact=None)
    bad = ~np.isfinite(np.asarray(silent.q)).all(1) | ~np.isfinite(np.asarray(silent.qd)).all(1)
    first = int(np.argmax(bad))
    message = str(caught.value)
    assert f"after step {first} (t = {0.01 * first:g} s)" in message
    assert "stiff/joint" in message
    assert "calm/" not in message
    assert "smaller dt" in message
    assert "ImplicitDamping" in message


def test_a_rollout_that_stays_finite_passes_the_check():
    checked = hs.rollout(MODEL, STATE, dt=1e-2, steps=30, check=True)
    np.testing.assert_array_equal(checked.q, hs.rollout(MODEL, STATE, dt=1e-2, steps=30).q)


def test_a_state_that_is_not_finite_is_step_zero():
    with pytest.raises(hs.DivergedError, match=r"step 0 .*joint2"):
        hs.rollout(MODEL, (np.array([0.0, np.nan]), STATE[1]), dt=1e-2, steps=30, check=True)


def test_the_check_cannot_be_traced_and_says_so():
    with pytest.raises(ValueError, match="check=True needs numbers"):
        jax.jit(lambda q: final_angle(MODEL, q, check=True))(STATE[0])


def test_states_can_be_picked_by_time():
    trajectory = hs.rollout(MODEL, STATE, dt=1e-2, steps=30)
    q, qd = trajectory[5]
    np.testing.assert_array_equal(q, trajectory.q[5])
    np.testing.assert_array_equal(qd, trajectory.qd[5])
    assert trajectory[3:6].q.shape == (3, 2)


def test_numbers_keep_their_precision():
    """float32 states stay float32 when the whole model is."""
    single = jax.tree.map(lambda x: np.asarray(x, dtype=np.float32), MODEL)
    state = tuple(np.asarray(x, dtype=np.float32) for x in STATE)
    found = hs.rollout(single, state, dt=np.float32(1e-2), steps=30)
    assert found.q.dtype == found.qd.dtype == np.float32
    np.testing.assert_allclose(found.q, hs.rollout(MODEL, STATE, dt=1e-2, steps=30).q, atol=1e-4)


def test_no_steps_is_a_rollout_too():
    assert hs.rollout(MODEL, STATE, dt=1e-2, steps=0).q.shape == (1, 2)


def test_a_negative_number_of_steps_is_refused():
    with pytest.raises(ValueError, match="steps is -3"):
        hs.rollout(hs.chain(1), hs.chain(1).rest(), steps=-3)


def test_one_name_may_be_recorded_as_it_is():
    made = hs.rollout(hs.chain(1), hs.chain(1).rest(), steps=2, record="joint.force")
    assert made.values["joint.force"].shape == (2, 1)


@pytest.mark.parametrize("kind", ["free", "spherical"])
@pytest.mark.parametrize("length", [0.0, 0.7, 1.002])
def test_a_start_whose_quaternion_is_not_unit_is_refused(kind, length):
    """Zero has no direction, and gave NaN; the others are most often a column too few or in the wrong place."""
    model = hs.build([hs.solid("ball", 1.0, "sphere", 0.1)], [hs.Joint("root", kind, "world", "ball")])
    q, qd = model.rest()
    q[-4:] *= length
    with pytest.raises(
        ValueError, match=rf"joint 'root': the quaternion of its start is .*, of length {length:g}; give"
    ):
        hs.rollout(model, (q, qd), dt=1e-3, steps=1)
    q, qd = model.rest()
    q[-4:] *= 1 + 5e-4
    assert abs(np.linalg.norm(hs.rollout(model, (q, qd), dt=1e-3, steps=1).q[-1, -4:]) - 1) < 1e-12
