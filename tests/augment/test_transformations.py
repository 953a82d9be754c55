"""JAX's transformations and native code of hybrid models: the derivative, batches, compilation, both precisions."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from gradients.check import leaves

from .test_blueprint import CHAIN, START, grafted

AUGMENTS = {
    "MLP": hs.Augment("joint.force", ("joint.position", "joint.velocity"), hs.MLP((4,), "tanh"), apply="together"),
    "GRU": hs.Augment("joint.force", "joint.velocity", hs.GRU(3), apply="shared"),
    "history": hs.Augment(
        "joint.force", hs.history("joint.acceleration", 2, every=2), hs.MLP((4,), "tanh"), apply="shared"
    ),
}
MIXED = grafted(*AUGMENTS.values(), size=0.2)


def loss(free: dict, checkpoint: bool = True):
    """Of the networks and the start."""
    model = replace(MIXED, augmentation=free["networks"])
    motion = hs.rollout(model, free["start"], dt=0.05, steps=6, contact=None, checkpoint=checkpoint)
    return jnp.sum(jnp.sin(motion.q) + 0.1 * motion.qd**2)


def test_the_derivative_is_that_of_finite_differences_however_it_is_computed():
    free = jax.tree.map(jnp.asarray, {"networks": MIXED.augmentation, "start": START})
    value_and_grad = jax.jit(jax.value_and_grad(loss))
    value, slopes = value_and_grad(free)
    rng = np.random.default_rng(0)
    for leaf, slope in leaves(slopes).items():
        if leaf.endswith(("shift", "scale", "gain")):
            assert not np.any(slope)
            continue
        direction = rng.normal(size=slope.shape)

        def along(h, leaf=leaf, direction=direction):
            named = leaves(free)
            moved = [x + h * direction if other == leaf else x for other, x in named.items()]
            return float(value_and_grad(jax.tree.unflatten(jax.tree.structure(free), moved))[0])

        h = 1e-4
        difference = (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h)
        assert np.isclose(np.sum(slope * direction), difference, rtol=1e-6, atol=1e-8), leaf

    kept = jax.jit(jax.value_and_grad(lambda x: loss(x, checkpoint=False)))(free)
    assert np.isclose(kept[0], value, rtol=1e-13)
    for a, b in zip(jax.tree.leaves(kept[1]), jax.tree.leaves(slopes), strict=True):
        assert np.allclose(a, b, rtol=1e-9, atol=1e-11)

    native_value, native_slopes = hs.native.value_and_grad(loss)(free)
    assert np.isclose(native_value, value, rtol=1e-12)
    for a, b in zip(jax.tree.leaves(native_slopes), jax.tree.leaves(slopes), strict=True):
        assert np.allclose(a, b, rtol=1e-9, atol=1e-9)


def run(model, q, qd):
    motion = hs.rollout(model, (q, qd), dt=0.05, steps=6, contact=None)
    return motion.q, motion.qd


def test_batches_and_native_code_agree_with_one_by_one():
    rng = np.random.default_rng(0)
    q, qd = rng.normal(size=(2, 5, 2))
    one = jax.jit(run)
    expected = [np.stack(x) for x in zip(*(one(MIXED, *start) for start in zip(q, qd, strict=True)), strict=True)]
    for found in (
        jax.vmap(run, in_axes=(None, 0, 0))(MIXED, q, qd),
        hs.native.batch(run, in_axes=(None, 0, 0))(MIXED, q, qd),
    ):
        for a, b in zip(found, expected, strict=True):
            assert np.allclose(a, b, rtol=1e-9, atol=1e-9)
    for a, b in zip(hs.native.jit(run)(MIXED, q[0], qd[0]), expected, strict=True):
        assert np.allclose(a, b[0], rtol=1e-9, atol=1e-9)


def test_many_sets_of_weights_at_once():
    hybrids = [grafted(AUGMENTS["GRU"], seed=seed, size=0.3) for seed in range(3)]
    stacked = jax.tree.map(lambda *x: np.stack(x), *(h.augmentation for h in hybrids))

    def end(networks):
        return run(replace(CHAIN, augmentation=networks), *START)[0][-1]

    together = jax.vmap(end)(stacked)
    assert np.allclose(together, [end(h.augmentation) for h in hybrids], atol=1e-13)


@pytest.mark.slow
def test_native_code_of_poses_and_contact():
    """Links' poses choose the largest entry of a quaternion, and contact networks act on rows."""
    rod = hs.world(hs.free_body(hs.solid("rod", 1.0, "capsule", (0.1, 0.2))), hs.ground())
    inputs = ("contact.sliding_velocity", "contact.normal_force", "link.pose[rod]")
    hybrid = grafted(hs.Augment("contact.friction_force", inputs), model=rod, contact=hs.Springs(), size=0.1)
    assert hybrid.augmentation.sites[0].plan.rows == 2
    start = np.array([0, 0, 0.15, 0.1, 0.7, 0.1, 0.7]), np.array([0.1, 0.2, 0.3, 0.6, -0.4, -0.1])

    def end(model, q, qd):
        return hs.rollout(model, (q, qd), dt=1e-3, steps=5, contact=hs.Springs()).q[-1]

    assert np.allclose(hs.native.jit(end)(hybrid, *start), jax.jit(end)(hybrid, *start), rtol=1e-9, atol=1e-9)


def test_single_precision_stays_single():
    with jax.enable_x64(False):
        hybrid = grafted(*AUGMENTS.values(), hs.Augment("link.external_force", "link.pose"), size=0.1)
        motion = hs.rollout(hybrid, START, dt=0.05, steps=3, contact=None)
        state = hs.step(hybrid, motion.end, dt=0.05, contact=None)
        assert {x.dtype.name for x in jax.tree.leaves((motion, state))} == {"float32", "bool"}
        assert np.all(np.isfinite(motion.q))
