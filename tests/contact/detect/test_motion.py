"""Distances change as the velocities of the witnesses say, for every pair, and witnesses are what they claim to be."""

from functools import cache, partial

import jax
import numpy as np
import pytest

from contact.detect.cases import PAIRS, UPRIGHT, Transform, after, moved, rates, stack, touches, two, velocity

CASES = 60
STEP = 1e-6


def names(pair):
    return "-".join(pair)


@pytest.fixture(params=PAIRS, ids=names)
def pair(request):
    return request.param


def approach(pair, a, b, twist_a, twist_b):
    """The rate of the distance: by forward mode, by the velocities of the witnesses, and by central differences."""
    touch, change = jax.jvp(PAIRS[pair], (a, b), (rates(a, twist_a), rates(b, twist_b)))
    relative = velocity(a, twist_a, touch.on_a) - velocity(b, twist_b, touch.on_b)
    later = PAIRS[pair](after(a, twist_a, STEP), after(b, twist_b, STEP))
    before = PAIRS[pair](after(a, twist_a, -STEP), after(b, twist_b, -STEP))
    differences = (later.distance - before.distance) / (2 * STEP)
    return change.distance, (touch.normal * relative).sum(axis=-1), differences


def all_approaches(pair, cases, twists):
    return compiled_approach(pair)(*stack(cases), *twists)


@cache
def compiled_approach(pair):
    return jax.jit(jax.vmap(partial(approach, pair)))


def test_distance_follows_the_witnesses(pair):
    rng = np.random.default_rng(1)
    cases = [two(pair, rng) for _ in range(CASES)]
    twists = rng.normal(size=(2, CASES, 6))
    if pair in UPRIGHT:
        # Side by side, tilting included; the next test has the other arrangements.
        chosen = side_by_side(pair, cases)
        assert np.sum(chosen) >= 10
    else:
        chosen = np.full(CASES, True)
    derivative, kinematics, differences = (x[chosen] for x in all_approaches(pair, cases, twists))
    np.testing.assert_allclose(derivative, kinematics, rtol=0, atol=1e-10)
    np.testing.assert_allclose(derivative, differences, rtol=0, atol=1e-7)


def side_by_side(pair, cases) -> np.ndarray:
    axes = np.array([b.pose.rotation[:, 2] for _, b in cases])
    return np.abs(np.sum(touches(pair, cases).normal[:, 0] * axes, axis=-1)) < 1e-9


@pytest.mark.parametrize("pair", UPRIGHT, ids=names)
def test_upright_distance_follows_the_witnesses_while_axes_stay_parallel(pair):
    rng = np.random.default_rng(2)
    cases = [two(pair, rng) for _ in range(CASES)]
    assert 10 < np.sum(side_by_side(pair, cases)) < CASES - 10
    twists = rng.normal(size=(2, CASES, 6))
    axes = np.array([b.pose.rotation[:, 2] for _, b in cases])
    twists[:, :, :3] = rng.normal(size=(2, CASES, 1)) * axes
    derivative, kinematics, differences = all_approaches(pair, cases, twists)
    np.testing.assert_allclose(derivative, kinematics, rtol=0, atol=1e-10)
    np.testing.assert_allclose(derivative, differences, rtol=0, atol=1e-7)


def test_witnesses_are_the_distance_apart_along_a_unit_normal(pair):
    rng = np.random.default_rng(4)
    touch = touches(pair, [two(pair, rng) for _ in range(CASES)])
    np.testing.assert_allclose(np.linalg.norm(touch.normal, axis=-1), 1, atol=1e-12)
    np.testing.assert_allclose(touch.on_a - touch.on_b, touch.distance[..., None] * touch.normal, atol=1e-12)


def test_the_whole_scene_may_be_anywhere(pair):
    """A rigid motion of both shapes moves the witnesses with them."""
    rng = np.random.default_rng(5)
    cases = [two(pair, rng) for _ in range(CASES)]
    turn = after(cases[0][0], rng.normal(size=6), 1.0).pose.rotation @ cases[0][0].pose.rotation.T
    by = Transform(np.asarray(turn), rng.normal(size=3))
    here, there = touches(pair, cases), touches(pair, [(moved(a, by), moved(b, by)) for a, b in cases])
    np.testing.assert_allclose(there.distance, here.distance, atol=1e-9)
    np.testing.assert_allclose(there.on_a, by.apply(here.on_a), atol=1e-9)
    np.testing.assert_allclose(there.normal, here.normal @ by.rotation.T, atol=1e-9)
