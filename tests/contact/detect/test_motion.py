"""Distances change as the velocities of the witnesses say, and witnesses are what they claim to be, for every pair."""

import jax
import numpy as np
import pytest

from contact.detect.cases import CONVEX, PAIRS, UPRIGHT, marked
from contact.detect.evaluate import RANDOM, approach, compiled, evaluated, random_ones
from hybridsim.contact.detect.convex import convex

STEP = 1e-5
SINGLE = pytest.param(np.float32, marks=pytest.mark.slow)


@pytest.fixture(params=marked(PAIRS))
def pair(request):
    return request.param


def corner(box, points) -> np.ndarray:
    """Whether points are corners of their boxes."""
    local = np.einsum("cji,cpj->cpi", box.pose.rotation, points - box.pose.position[:, None])
    return np.all(np.abs(np.abs(local) - box.size[:, None]) < 1e-9, axis=-1)


def sliding(pair, result) -> np.ndarray:
    """Points of neither body.

    Where outlines cross at faces that are not parallel; on a capsule's axis, where it enters and leaves, the middle of
    the part inside a box, and places not in use. Of any two convex shapes, all but the deepest point.
    """
    touch = result.touch
    if pair in CONVEX:
        return np.broadcast_to(np.arange(touch.distance.shape[1]) < touch.distance.shape[1] - 1, touch.distance.shape)
    if pair == ("capsule", "box"):
        radius, length = result.a.size[:, :1], result.a.size[:, 1:2]
        moves = (touch.distance > radius + length) | (touch.distance < -radius)
        return np.where(np.arange(5) == 4, moves, np.arange(5) >= 2)
    if pair == ("box", "box"):
        of_a, of_b = (
            np.any(np.abs(np.einsum("cji,cpj->cpi", box.pose.rotation, touch.normal)) > 1 - 1e-12, axis=-1)
            for box in (result.a, result.b)
        )
        return (of_b & ~corner(result.a, touch.on_a)) | (of_a & ~corner(result.b, touch.on_b))
    return np.full(touch.distance.shape, False)


def test_distance_follows_the_witnesses(pair):
    result = random_ones(pair)
    valid = ~sliding(pair, result)
    assert np.mean(valid) > (0.1 if pair in CONVEX else 0.4)
    if pair in UPRIGHT:
        # While shapes stand on each other or are past each other's ends, they must stay parallel; else they may tilt.
        sideways = np.abs(np.sum(result.touch.normal[:, 0] * result.b.pose.rotation[:, :, 2], axis=-1)) < 1e-9
        assert 10 < np.sum(sideways[RANDOM // 2 :]) < RANDOM // 2 - 5
        valid = (sideways | (np.arange(RANDOM) < RANDOM // 2))[:, None] & valid
    np.testing.assert_allclose(result.change.distance[valid], approach(result)[valid], rtol=0, atol=1e-10)


def fourth_order(later, before, much_later, much_before):
    return (8 * (later - before) - (much_later - much_before)) / (12 * STEP)


def without_jumps(result, near) -> np.ndarray:
    """Cases in which shapes that are deep in each other do not part in another direction a hundred-thousandth second later."""
    normals = np.stack([result.touch.normal, *(touch.normal for touch in near)])
    return np.all(np.abs(normals - normals[0]) < 100 * STEP, axis=(0, 2, 3))


def counting(pair, result) -> np.ndarray:
    """Points of convex shapes that are in use: the distance of others is larger by four times the size of the shapes."""
    size_a, size_b = (
        jax.vmap(lambda placed, kind=kind: convex(kind, placed).size)(x)
        for kind, x in zip(pair, (result.a, result.b), strict=True)
    )
    return np.asarray(
        result.touch.distance - result.touch.distance.min(axis=1, keepdims=True) < 2 * (size_a + size_b)[:, None]
    )


def test_distance_changes_as_differences_say(pair):
    result = random_ones(pair)
    times = (STEP, -STEP, 2 * STEP, -2 * STEP)
    near = [compiled(pair)(result, time) for time in times]
    difference = jax.tree.map(fourth_order, *near)
    counts, error = np.full(result.touch.distance.shape, True), 1e-8
    if pair in CONVEX:
        smooth = without_jumps(result, near)
        assert np.mean(smooth) > 0.96
        counts, error = counting(pair, result) & smooth[:, None], 1e-7
    np.testing.assert_allclose(result.change.distance[counts], difference.distance[counts], rtol=0, atol=error)
    np.testing.assert_allclose(result.change.on_a[counts], difference.on_a[counts], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(result.change.normal[counts], difference.normal[counts], rtol=1e-6, atol=1e-6)


def test_both_modes_agree(pair):
    result = random_ones(pair)
    np.testing.assert_allclose(result.by_gradient, result.by_change, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("precision", [np.float64, SINGLE])
def test_everything_is_finite_and_keeps_its_precision(pair, precision):
    for leaf in jax.tree.leaves(evaluated(pair, precision)):
        assert leaf.dtype == precision
        assert np.all(np.isfinite(leaf)), np.argwhere(~np.isfinite(leaf))


@pytest.mark.parametrize(
    ("precision", "error"), [(np.float64, 1e-14), pytest.param(np.float32, 1e-6, marks=pytest.mark.slow)]
)
def test_witnesses_are_the_distance_apart_along_a_unit_normal(pair, precision, error):
    touch = evaluated(pair, precision).touch
    np.testing.assert_allclose(np.linalg.norm(touch.normal, axis=-1), 1, atol=error)
    np.testing.assert_allclose(touch.on_a - touch.on_b, touch.distance[..., None] * touch.normal, atol=10 * error)
