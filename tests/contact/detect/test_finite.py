"""No value or derivative is ever NaN or infinite, and reverse mode agrees with forward mode, in awkward places too."""

from functools import cache, partial

import jax
import numpy as np
import pytest

from contact.detect.cases import PAIRS, rates, stack, two
from contact.detect.nasty import arrangements


def modes(pair, a, b, twists, weights):
    """Touch, its derivative along a motion, its gradient, and the two numbers that both of these give."""
    tangents = rates(a, twists[0]), rates(b, twists[1])
    touch, change = jax.jvp(PAIRS[pair], (a, b), tangents)
    gradient = jax.vjp(PAIRS[pair], a, b)[1](weights)
    return touch, change, gradient, inner(weights, change), inner(gradient, tangents)


def inner(x, y):
    return sum((p * q).sum() for p, q in zip(jax.tree.leaves(x), jax.tree.leaves(y), strict=True))


@cache
def evaluated(pair, precision):
    rng = np.random.default_rng(0)
    cases = [*arrangements(pair), *(two(pair, rng) for _ in range(20))]
    a, b = stack(cases)
    twists = rng.normal(size=(len(cases), 2, 6))
    weights = jax.tree.map(lambda x: rng.normal(size=x.shape), jax.eval_shape(jax.vmap(PAIRS[pair]), a, b))
    numbers = jax.tree.map(lambda x: x.astype(precision), (a, b, twists, weights))
    return jax.jit(jax.vmap(partial(modes, pair)))(*numbers)


@pytest.fixture(params=PAIRS, ids="-".join)
def pair(request):
    return request.param


@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_everything_is_finite_and_keeps_its_precision(pair, precision):
    for leaf in jax.tree.leaves(evaluated(pair, precision)):
        assert leaf.dtype == precision
        assert np.all(np.isfinite(leaf)), np.argwhere(~np.isfinite(leaf))


def test_both_modes_agree(pair):
    _, change, _, forward, backward = evaluated(pair, np.float64)
    # Near a singularity the derivatives are as large as one over the distance from it.
    scale = 1 + sum(np.abs(x).reshape(len(forward), -1).sum(axis=1) for x in jax.tree.leaves(change))
    assert np.all(np.abs(forward - backward) < 1e-10 * scale)


def test_witnesses_are_the_distance_apart_along_a_unit_normal(pair):
    touch = evaluated(pair, np.float64)[0]
    np.testing.assert_allclose(np.linalg.norm(touch.normal, axis=-1), 1, atol=1e-12)
    np.testing.assert_allclose(touch.on_a - touch.on_b, touch.distance[..., None] * touch.normal, atol=1e-12)
