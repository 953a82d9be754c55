"""Spatial vectors: identities of the cross operators, change of frame, indexing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hybridsim.spatial import (
    Transform,
    add_at,
    cross_force,
    cross_motion,
    matrix_from_quaternion,
    motion_to_parent,
    pick,
    quaternion_exp,
    rotate,
    shift_force,
    spatial,
)

RNG = np.random.default_rng(3)
V, M, F = RNG.normal(size=(3, 10, 6))
X_AB = Transform(matrix_from_quaternion(RNG.normal(size=(10, 4))), RNG.normal(size=(10, 3)))


def force_to_parent(X_AB, force_B):
    turned = spatial(rotate(X_AB.rotation, force_B[..., :3]), rotate(X_AB.rotation, force_B[..., 3:]))
    return shift_force(turned, X_AB.position)


def test_a_motion_does_not_change_itself():
    np.testing.assert_allclose(cross_motion(V, V), 0, atol=1e-15)


def test_cross_operators_are_dual():
    np.testing.assert_allclose(np.sum(cross_force(V, F) * M, -1), -np.sum(F * cross_motion(V, M), -1), atol=1e-13)


def test_cross_motion_satisfies_jacobis_identity():
    W = V[::-1]
    total = (
        cross_motion(V, cross_motion(M, W)) + cross_motion(M, cross_motion(W, V)) + cross_motion(W, cross_motion(V, M))
    )
    np.testing.assert_allclose(total, 0, atol=1e-13)


@pytest.mark.parametrize(
    ("operator", "carry"), [(cross_motion, motion_to_parent), (cross_force, force_to_parent)], ids=["motion", "force"]
)
def test_cross_is_the_rate_of_a_vector_that_is_carried_along(operator, carry):
    def carried(t):
        X = Transform(matrix_from_quaternion(quaternion_exp(t * V[..., :3])), t * V[..., 3:])
        return carry(X, jnp.asarray(M))

    rate = jax.jvp(carried, (0.0,), (1.0,))[1]
    np.testing.assert_allclose(rate, operator(V, M), atol=1e-14)


def test_power_is_the_same_in_every_frame():
    power = np.sum(motion_to_parent(X_AB, V) * force_to_parent(X_AB, F), -1)
    np.testing.assert_allclose(power, np.sum(V * F, -1), atol=1e-13)


def test_change_of_frame_keeps_the_cross_product():
    np.testing.assert_allclose(
        motion_to_parent(X_AB, cross_motion(V, M)),
        cross_motion(motion_to_parent(X_AB, V), motion_to_parent(X_AB, M)),
        atol=1e-13,
    )


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_pick_is_numpys_take_and_add_at_its_transpose(axis):
    x, index = RNG.normal(size=(4, 5, 3)), np.array([2, 0, 2])
    np.testing.assert_array_equal(pick(x, index, axis), np.take(x, index, axis))
    added = add_at(4, index, x[:3])
    expected = np.zeros((4, 5, 3))
    np.add.at(expected, index, x[:3])
    np.testing.assert_array_equal(added, expected)
    pulled = jax.vjp(lambda x: pick(x, index), jnp.asarray(x))[1](jnp.asarray(x[:3]))[0]
    np.testing.assert_array_equal(pulled, expected)
