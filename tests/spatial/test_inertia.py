"""Inertias against clouds of point masses, and the parametrisation in which every vector is a body."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import hybridsim as hs
from hybridsim.spatial import Inertia, Transform, from_log_cholesky, six, tensor, to_log_cholesky

RNG = np.random.default_rng(11)
TEN_NUMBERS = st.lists(st.floats(-6, 6), min_size=10, max_size=10).map(np.array)


def cloud(rng=RNG, points: int = 12):
    """Masses and places of points."""
    return rng.uniform(0.1, 1, size=points), rng.normal(size=3) + rng.normal(size=(points, 3))


def numbers(masses, points):
    """(mass, centre of mass, six numbers about it), straight from the definitions."""
    com = masses @ points / masses.sum()
    return masses.sum(), com, six(second_moment(masses, points - com))


def second_moment(masses, points):
    return sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))


def body(masses, points) -> Inertia:
    mass, com, inertia = numbers(masses, points)
    return Inertia.about_centre(jnp.asarray(mass), jnp.asarray(com), inertia)


def assert_same(a: Inertia, b: Inertia):
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-13), a, b)


def test_inertia_about_the_origin_is_that_of_the_points():
    masses, points = cloud()
    found = body(masses, points)
    np.testing.assert_allclose(found.moment, masses @ points, rtol=1e-13)
    np.testing.assert_allclose(found.tensor, second_moment(masses, points), rtol=1e-12, atol=1e-13)


def test_seen_from_another_frame_it_is_that_of_the_moved_points():
    masses, points = cloud()
    turn, offset = Rotation.random(rng=RNG), RNG.normal(size=3)
    moved = body(masses, points).seen_from(Transform(turn.as_matrix(), offset))
    assert_same(moved, body(masses, turn.apply(points) + offset))


def test_inertias_add_like_clouds():
    (m1, p1), (m2, p2) = cloud(), cloud()
    assert_same(body(m1, p1) + body(m2, p2), body(np.concatenate([m1, m2]), np.concatenate([p1, p2])))


def test_matrix_is_symmetric_positive_definite_and_gives_the_kinetic_energy():
    masses, points = cloud()
    matrix = np.asarray(body(masses, points).matrix())
    np.testing.assert_array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > 0
    w, v = RNG.normal(size=(2, 3))
    velocities = v + np.cross(w, points)
    twist = np.concatenate([w, v])
    np.testing.assert_allclose(twist @ matrix @ twist, masses @ np.sum(velocities**2, axis=1), rtol=1e-13)


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit, hs.native.jit], ids=["plain", "jit", "native"])
def test_inertia_is_symmetric_to_the_last_bit(transform):
    """However its products are rounded or fused."""
    mass, com, inertia = (np.array(x) for x in zip(*(numbers(*cloud()) for _ in range(50)), strict=True))
    turn = Rotation.random(50, rng=RNG).as_matrix()

    def matrices(mass, com, inertia, turn):
        body = Inertia.about_centre(mass, com, inertia)
        moved = body.seen_from(Transform(turn, com))
        return body.matrix(), moved.matrix(), (body + moved).matrix()

    for found in transform(matrices)(mass, com, inertia, turn):
        np.testing.assert_array_equal(found, np.swapaxes(found, -1, -2))


def test_six_numbers_and_tensor_are_inverse():
    values = RNG.normal(size=(4, 6))
    np.testing.assert_array_equal(six(tensor(values)), values)
    np.testing.assert_array_equal(tensor(values), np.swapaxes(tensor(values), -1, -2))


@given(TEN_NUMBERS)
def test_every_ten_numbers_are_a_physical_body(theta):
    mass, com, inertia = from_log_cholesky(theta)
    assert mass > 0
    assert np.all(np.isfinite(com))
    small, middle, large = np.linalg.eigvalsh(tensor(inertia))
    rounding = 1e-12 * large
    assert small >= -rounding
    assert small + middle >= large - rounding
    # And a model can be built from it.
    hs.free_body(hs.Link("body", float(mass), np.asarray(com), np.asarray(inertia)))


@given(st.lists(st.floats(-2, 2), min_size=10, max_size=10).map(np.array))
def test_numbers_come_back_from_the_body(theta):
    np.testing.assert_allclose(to_log_cholesky(*from_log_cholesky(theta)), theta, rtol=1e-8, atol=1e-8)


def test_a_body_comes_back_from_its_numbers():
    clouds = [cloud() for _ in range(20)]
    mass, com, inertia = (np.array(x) for x in zip(*(numbers(*c) for c in clouds), strict=True))
    back = from_log_cholesky(to_log_cholesky(mass, com, inertia))
    for found, expected in zip(back, (mass, com, inertia), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


def test_first_number_scales_all_masses():
    theta = RNG.normal(size=10)
    light, heavy = from_log_cholesky(theta), from_log_cholesky(theta + np.log(3) / 2 * np.eye(10)[0])
    np.testing.assert_allclose(heavy[0], 3 * light[0], rtol=1e-13)
    np.testing.assert_allclose(heavy[1], light[1], rtol=1e-13)
    np.testing.assert_allclose(heavy[2], 3 * light[2], rtol=1e-12)


def test_parametrisation_is_regular():
    """Its Jacobian has full rank, in both modes the same: an optimiser can go everywhere."""
    theta = RNG.normal(size=10)

    def flat(theta):
        mass, com, inertia = from_log_cholesky(theta)
        return jnp.concatenate([mass[None], com, inertia])

    forward, reverse = jax.jit(lambda theta: (jax.jacfwd(flat)(theta), jax.jacrev(flat)(theta)))(theta)
    np.testing.assert_allclose(forward, reverse, rtol=1e-12, atol=1e-14)
    assert np.linalg.matrix_rank(forward) == 10
