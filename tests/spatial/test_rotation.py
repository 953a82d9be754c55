"""Quaternions and rotation matrices against SciPy, and their logarithm and exponential where they are singular."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hybridsim.spatial import (
    IDENTITY_QUATERNION,
    Transform,
    conjugate,
    cross,
    matrix_from_axis_angle,
    matrix_from_quaternion,
    multiply,
    quaternion_exp,
    quaternion_log,
    rotate,
    rotate_back,
    skew,
    unit,
)

RNG = np.random.default_rng(7)
QUATERNIONS = RNG.normal(size=(20, 4))
VECTORS = RNG.normal(size=(20, 3))


jacobians_of_exponential = jax.jit(lambda r: (jax.jacfwd(quaternion_exp)(r), jax.jacrev(quaternion_exp)(r)))
jacobians_of_logarithm = jax.jit(lambda q: (jax.jacfwd(quaternion_log)(q), jax.jacrev(quaternion_log)(q)))


def scipy(quaternions) -> Rotation:
    return Rotation.from_quat(quaternions, scalar_first=True)


def test_matrix_of_a_quaternion_of_any_length_is_scipys():
    np.testing.assert_allclose(matrix_from_quaternion(QUATERNIONS), scipy(QUATERNIONS).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(matrix_from_quaternion(1e3 * QUATERNIONS), scipy(QUATERNIONS).as_matrix(), atol=1e-14)


def test_product_turns_first_by_the_second():
    a, b = unit(QUATERNIONS), unit(QUATERNIONS[::-1])
    np.testing.assert_allclose(matrix_from_quaternion(multiply(a, b)), (scipy(a) * scipy(b)).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(multiply(a, conjugate(a)), np.tile(IDENTITY_QUATERNION, (20, 1)), atol=1e-15)


def test_exponential_and_logarithm_are_scipys():
    # Beyond a half turn too: there the logarithm is the shorter way.
    vectors = (
        VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True) * np.linspace(1e-9, 2 * np.pi - 1e-3, 20)[:, None]
    )
    quaternions = quaternion_exp(vectors)
    np.testing.assert_allclose(
        matrix_from_quaternion(quaternions), Rotation.from_rotvec(vectors).as_matrix(), atol=1e-14
    )
    np.testing.assert_allclose(quaternion_log(quaternions), Rotation.from_rotvec(vectors).as_rotvec(), atol=2e-14)
    np.testing.assert_allclose(quaternion_log(-3 * quaternions), quaternion_log(quaternions), atol=1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-200, 1e-9, 0.0199, 0.0201, 1.0, np.pi - 1e-6, np.pi])
def test_logarithm_undoes_the_exponential_to_the_last_digits(angle):
    vector = angle * np.array([2.0, -1.0, 2.0]) / 3
    np.testing.assert_allclose(quaternion_log(quaternion_exp(vector)), vector, rtol=4e-15, atol=1e-300)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.0199, 0.0201, 1.0, 3.0])
def test_derivative_of_the_exponential_is_exact_in_both_modes(size):
    """d exp(r) seen in the turning frame is the right Jacobian of rotations (Chirikjian), also at r = 0."""
    r = size * np.array([2.0, -1.0, 2.0]) / 3
    forward, reverse = jacobians_of_exponential(r)
    np.testing.assert_allclose(forward, reverse, atol=1e-15)
    turned = jax.vmap(lambda column: 2 * multiply(conjugate(quaternion_exp(r)), column), in_axes=1, out_axes=1)(forward)
    np.testing.assert_allclose(turned, np.vstack([np.zeros(3), _right_jacobian(r)]), atol=2e-14)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.0199, 0.0201, 1.0, 3.0])
def test_derivative_of_the_logarithm_inverts_that_of_the_exponential(size):
    r = size * np.array([2.0, -1.0, 2.0]) / 3
    forward, reverse = jacobians_of_logarithm(quaternion_exp(r))
    np.testing.assert_allclose(forward, reverse, atol=1e-13)
    np.testing.assert_allclose(forward @ jacobians_of_exponential(r)[0], np.eye(3), atol=1e-12)


def test_second_derivatives_at_the_identity_are_those_of_the_series():
    """exp(r) = (1 - r.r/8, r/2) + ..., log(w, v) = 2 v / w + ... up to second order."""
    by_r = jax.jit(jax.jacfwd(jax.jacrev(quaternion_exp)))(jnp.zeros(3))
    np.testing.assert_allclose(by_r[0], -np.eye(3) / 4, atol=1e-15)
    np.testing.assert_allclose(by_r[1:], 0, atol=1e-15)

    def series(q):
        return 2 * q[1:] / q[0]

    for mode in (lambda f: jax.jacfwd(jax.jacrev(f)), lambda f: jax.jacrev(jax.jacfwd(f))):
        found = jax.jit(mode(quaternion_log))(jnp.asarray(IDENTITY_QUATERNION))
        np.testing.assert_allclose(found, jax.jit(jax.hessian(series))(IDENTITY_QUATERNION), atol=1e-14)


def test_axis_and_angle_give_scipys_matrix():
    axes, angles = np.array(unit(VECTORS)), np.linspace(-7, 7, 20)
    expected = Rotation.from_rotvec(axes * angles[:, None]).as_matrix()
    np.testing.assert_allclose(matrix_from_axis_angle(axes, angles), expected, atol=1e-14)


def test_cross_skew_and_rotate_are_what_numpy_says():
    a, b, R = VECTORS, VECTORS[::-1], scipy(QUATERNIONS).as_matrix()
    np.testing.assert_allclose(cross(a, b), np.cross(a, b), atol=1e-15)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", skew(a), b), np.cross(a, b), atol=1e-15)
    np.testing.assert_allclose(rotate(R, a), scipy(QUATERNIONS).apply(a), atol=1e-14)
    np.testing.assert_allclose(rotate_back(R, rotate(R, a)), a, atol=1e-14)


def test_transforms_compose_apply_and_invert():
    R = scipy(QUATERNIONS).as_matrix()
    X_AB, X_BC = Transform(R, VECTORS), Transform(R[::-1], 2 * VECTORS[::-1])
    point = VECTORS + 1
    np.testing.assert_allclose((X_AB @ X_BC).apply(point), X_AB.apply(X_BC.apply(point)), atol=1e-13)
    np.testing.assert_allclose(X_AB.inverse().apply(X_AB.apply(point)), point, atol=1e-13)
    np.testing.assert_allclose(X_AB[3].apply(point[3]), R[3] @ point[3] + VECTORS[3], atol=1e-14)


def _right_jacobian(r: np.ndarray) -> np.ndarray:
    """1 - (1 - cos a)/a^2 r^ + (a - sin a)/a^3 r^ r^, by its series (converges for all a)."""
    hat = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    total, term = np.zeros((3, 3)), np.eye(3)
    for k in range(60):
        total = total + term
        term = -term @ hat / (k + 2)
    return total
