"""A bounded network stays within its limit and keeps its direction."""

import equinox as eqx
import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment import Bounded, Odd

from .scenes import FLYING, SMOOTH, answers, graft

LIMIT = 0.8
X = 3 * np.random.default_rng(0).standard_normal((100, 6))


def built(network, seed=0, size=1.0):
    return graft(FLYING, "joint.force", "joint.velocity", network, seed=seed, size=size)


@pytest.mark.parametrize("network", [SMOOTH, hs.GRU(3), Odd(SMOOTH, "joint.velocity")], ids=repr)
def test_the_limit_holds(network):
    for seed in range(3):
        sizes = np.linalg.norm(answers(built(Bounded(network, LIMIT), seed, 10.0), X), axis=1)
        assert sizes.max() <= LIMIT * (1 + 1e-14)
        assert sizes.max() > 0.9 * LIMIT
    assert np.linalg.norm(answers(built(network, size=10.0), X), axis=1).max() > 2 * LIMIT


def test_the_direction_stays_and_small_values_too():
    bounded, free = answers(built(Bounded(SMOOTH, LIMIT)), X), answers(built(SMOOTH), X)
    along = np.sum(bounded * free, axis=1)
    assert along == pytest.approx(np.linalg.norm(bounded, axis=1) * np.linalg.norm(free, axis=1))
    size = np.linalg.norm(free, axis=1, keepdims=True)
    assert bounded == pytest.approx(LIMIT * np.tanh(size / LIMIT) * free / size)
    assert answers(built(Bounded(SMOOTH, 1e9)), X) == pytest.approx(free, rel=1e-12)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-9, 0.99e-2 * LIMIT, 1.01e-2 * LIMIT])
def test_value_and_derivative_where_the_formula_is_zero_by_zero(size):
    """Bounded of the identity, next to the derivative of limit tanh(a/limit)."""
    hybrid = built(Bounded(hs.Linear(bias=False), LIMIT))
    network = hybrid.augmentation.sites[0].network
    identity = eqx.tree_at(
        lambda n: (n.network.network.first.weight, n.network.network.gain), network, (np.eye(6), 1.0)
    )
    x = size * np.eye(6)[0]
    slope = jax.jacobian(lambda x: identity(x, None)[0])(x)
    expected = np.diag([1 - np.tanh(size / LIMIT) ** 2] + 5 * [np.tanh(size / LIMIT) / (size / LIMIT) if size else 1.0])
    assert slope == pytest.approx(expected, rel=1e-13)
    assert identity(x, None)[0][0] == pytest.approx(LIMIT * np.tanh(size / LIMIT), rel=1e-13)


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan")])
def test_a_limit_is_positive(limit):
    with pytest.raises(ValueError, match="must be positive"):
        Bounded(SMOOTH, limit)
