"""Steps with structures: derivatives against finite differences, native code against XLA."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment import ActionReaction, Bounded, Conservative, Dissipative, Even, Invariant, Odd, ZeroAtRest

from .scenes import BALL_JOINT, CHAIN, FLOATING, FLYING, SMOOTH, graft, states

V, BOTH = "joint.velocity", ("joint.position", "joint.velocity")
CASES = {
    "Dissipative": (CHAIN, "joint.force", BOTH, Dissipative(SMOOTH), {"apply": "together"}),
    "Conservative": (BALL_JOINT, "joint.force", "joint.position", Conservative(SMOOTH), {}),
    "Bounded": (CHAIN, "joint.force", BOTH, Bounded(hs.GRU(3), 0.5), {"apply": "shared"}),
    "Odd": (CHAIN, "joint.force", BOTH, Odd(SMOOTH, V), {}),
    "Even": (CHAIN, "joint.force", BOTH, Even(SMOOTH, V), {}),
    "ZeroAtRest": (CHAIN, "joint.force", BOTH, ZeroAtRest(SMOOTH), {}),
    "ActionReaction": (FLOATING, "link.external_force", "link.velocity", ActionReaction(SMOOTH), {"apply": "together"}),
    "Invariant": (FLYING, "link.external_force", ("link.velocity", "link.position"), Invariant(SMOOTH, "vertical"), {}),
}


def loss(networks, model, q, qd):
    hybrid = eqx.tree_at(lambda m: m.augmentation, model, networks, is_leaf=lambda x: x is None)
    after = hs.step(hybrid, (q, qd), dt=0.01, contact=None)
    return jnp.sum(jnp.sin(3 * after.q)) + jnp.sum(jnp.cos(2 * after.qd))


_gradient = hs.native.jit(jax.value_and_grad(loss))


QUICK = ("Dissipative", "Conservative", "Even")


@pytest.mark.parametrize("case", [pytest.param(c, marks=() if c in QUICK else pytest.mark.slow) for c in CASES])
def test_gradients_and_native_code(case):
    model, output, inputs, network, options = CASES[case]
    networks = graft(model, output, inputs, network, **options).augmentation
    (q, *_), (qd, *_) = states(model, 1)
    arguments = networks, model, q, qd
    value, slopes = eqx.filter_jit(jax.value_and_grad(loss))(*arguments)
    native_value, native_slopes = _gradient(*arguments)
    assert native_value == pytest.approx(float(value), rel=1e-13)
    for ours, theirs in zip(jax.tree.leaves(native_slopes), jax.tree.leaves(slopes), strict=True):
        assert np.asarray(ours) == pytest.approx(np.asarray(theirs), rel=1e-9, abs=1e-13)

    rng = np.random.default_rng(0)
    direction = jax.tree.map(lambda w: rng.standard_normal(np.shape(w)), networks)
    # Shifts and scales are not trained: no derivative reaches them.
    direction = jax.tree.map(lambda d, s: d * (np.asarray(s) != 0), direction, slopes)
    along = sum(float(np.sum(a * b)) for a, b in zip(jax.tree.leaves(direction), jax.tree.leaves(slopes), strict=True))
    values = [
        float(_gradient(jax.tree.map(lambda w, d, h=h: w + h * d, networks, direction), *arguments[1:])[0])
        for h in (-2e-5, 2e-5)
    ]
    assert (values[1] - values[0]) / 4e-5 == pytest.approx(along, rel=1e-6)
    assert abs(along) > 1e-6
