"""Derivatives of whole rollouts in which springs and impulses act together, in both modes, against differences."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import hybridsim as hs

from .scenes import DT, PUSH, approaching, pushed, resting_depth

STEPS = 60
MODEL = pushed(friction=0.3)
# Obliquely, a little above the ground and turning, so that both kinds of pairs act at once and nothing is symmetric.
Q, QD = approaching(MODEL, 1.0, gap=2e-3, depth=resting_depth())
QD[MODEL.v_of("root")] = 0.0, 0.0, 0.3, 0.1, 0.2, -0.05


def end(numbers, contact=PUSH):
    """The last state, of the first state and of friction and stiffness of each pair, masses."""
    q, qd, friction, stiffness, mass = numbers
    model = eqx.tree_at(
        lambda m: (m.contacts.friction, m.contacts.stiffness, m.links.mass), MODEL, (friction, jnp.exp(stiffness), mass)
    )
    path = hs.rollout(model, (q, qd), dt=DT, steps=STEPS, contact=contact)
    return jnp.concatenate([path.q[-1], path.qd[-1]])


NUMBERS = (
    Q,
    QD,
    np.array([0.25, 0.3]),
    np.log(np.asarray(MODEL.contacts.stiffness)),
    np.asarray(MODEL.links.mass),
)
FLAT, UNFLAT = ravel_pytree(NUMBERS)


def of_flat(x):
    return end(UNFLAT(x))


JACOBIAN = jax.jit(jax.jacfwd(of_flat))


def test_both_modes_against_differences():
    run = jax.jit(of_flat)
    path = hs.rollout(MODEL, (Q, QD), dt=DT, steps=STEPS, contact=PUSH, record=("contact.normal_force",))
    load = np.asarray(path.values["contact.normal_force"])
    assert (load[:, 0] > 0).sum() > 10, "impulses act"
    assert (load[:, 1:] > 0).any(1).all(), "springs act"

    x = np.asarray(FLAT)
    forward = np.asarray(JACOBIAN(x))
    reverse = np.asarray(jax.jit(jax.jacrev(of_flat))(x))
    assert reverse == pytest.approx(forward, rel=1e-7, abs=1e-8 * np.abs(forward).max())

    wrong, compared = [], 0
    for i in range(len(x)):
        slopes = []
        for h in (1e-5, 1e-6, 1e-7):
            up, down = (np.asarray(run(np.where(np.arange(len(x)) == i, x + s * h, x))) for s in (1, -1))
            slopes.append((up - down) / (2 * h))
        scale = max(1e-3, np.abs(slopes[1]).max())
        if max(np.abs(slopes[0] - slopes[1]).max(), np.abs(slopes[2] - slopes[1]).max()) > 1e-3 * scale:
            continue  # a kink: differences do not agree with each other
        compared += 1
        if np.abs(forward[:, i] - slopes[1]).max() > 1e-3 * scale:
            wrong.append((i, np.abs(forward[:, i] - slopes[1]).max(), scale))
    assert not wrong
    assert compared >= 0.8 * len(x)


def test_springs_and_impulses_both_matter():
    """Friction at the tip and on the ground, and the stiffness of the ground; that of a hard pair has no say."""
    jacobian = jax.vmap(UNFLAT)(JACOBIAN(np.asarray(FLAT)))
    friction, stiffness, mass = map(np.asarray, jacobian[2:])
    assert np.abs(friction).max(0).min() > 1e-6
    assert np.abs(stiffness[:, 1]).max() > 1e-6
    assert not stiffness[:, 0].any()
    assert np.abs(mass).max(0).min() > 1e-4


def test_native_code_and_xla_agree():
    x = np.asarray(FLAT)
    assert np.asarray(hs.native.jit(of_flat)(x)) == pytest.approx(np.asarray(jax.jit(of_flat)(x)), abs=1e-9)


def test_numbers_of_laws_are_leaves():
    """The exponent of separation, of the springs of one pair, differentiated through the rules."""

    def height(exponent):
        law = hs.HuntCrossley(separation_exponent=exponent)
        rules = hs.ContactByPair({("box", "ground"): hs.Springs(law, hs.Coulomb())}, None)
        assert len(jax.tree.leaves(rules)) == 1
        start = Q.copy()
        start[2] -= 2e-4
        return hs.rollout(MODEL, (start, QD), dt=DT, steps=30, contact=rules).q[-1][2]

    slope = float(jax.jit(jax.grad(height))(1.0))
    run = jax.jit(height)
    assert slope == pytest.approx(float(run(1 + 1e-5) - run(1 - 1e-5)) / 2e-5, rel=1e-5)
    assert slope != 0


def test_rules_pass_through_jit_as_an_argument():
    run = eqx.filter_jit(lambda contact, q, qd: hs.rollout(MODEL, (q, qd), dt=DT, steps=3, contact=contact).q[-1])
    again = hs.ContactByPair({("tip*", "box*"): hs.Impulses(), ("*", "ground"): PUSH.models[1]})
    assert hash(again) == hash(PUSH)
    assert np.array_equal(run(PUSH, Q, QD), run(again, Q, QD))
