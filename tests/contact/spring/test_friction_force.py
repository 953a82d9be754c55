"""The friction vector: true direction, odd, never driving, and smooth at rest."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hybridsim.contact.spring import BrownMcPhee, friction_force

from .laws import FRICTION, SLIDING, numbers

RNG = np.random.default_rng(3)
SIZES = np.geomspace(1e-30, 1e2, 33)
DIRECTIONS = RNG.normal(size=(33, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
VELOCITIES = SIZES[:, None] * DIRECTIONS
LOADS = RNG.uniform(0.1, 500, size=33)


def jacobian(law, velocity, load=70.0):
    one = numbers()
    return jax.jacfwd(lambda v: friction_force(law, jnp.array([load]), v[None], one)[0])(jnp.asarray(velocity))


@pytest.mark.parametrize("name", SLIDING)
def test_magnitude_and_direction(name):
    """Down to the slowest motion the force is -load ratio(|v|) v/|v|."""
    law, pair = SLIDING[name], numbers(33)
    force = friction_force(law, LOADS, VELOCITIES, pair)
    expected = -(LOADS * law.ratio(jnp.asarray(SIZES), pair))[:, None] * DIRECTIONS
    # Relative, entry by entry: the sizes range over thirty decades.
    np.testing.assert_allclose(force, expected, rtol=1e-13)


@pytest.mark.parametrize("name", FRICTION)
def test_odd(name):
    pair = numbers(33)
    forth = friction_force(FRICTION[name], LOADS, VELOCITIES, pair)
    back = friction_force(FRICTION[name], LOADS, -VELOCITIES, pair)
    np.testing.assert_array_equal(forth, -back)


@pytest.mark.parametrize("name", [*FRICTION, "brown of TDS"])
def test_exactly_zero_at_rest(name):
    law = FRICTION.get(name, BrownMcPhee(offset=1e-3))
    np.testing.assert_array_equal(friction_force(law, LOADS, np.zeros((33, 3)), numbers(33)), np.zeros((33, 3)))


@pytest.mark.parametrize("name", SLIDING)
def test_takes_power(name):
    power = np.sum(friction_force(SLIDING[name], LOADS, VELOCITIES, numbers(33)) * VELOCITIES, axis=1)
    assert power.max() < 0


@pytest.mark.parametrize("name", FRICTION)
def test_inside_the_cone(name):
    force = np.linalg.norm(friction_force(FRICTION[name], LOADS, VELOCITIES, numbers(33)), axis=1)
    assert np.all(force <= 0.5 * LOADS * (1 + 1e-14))


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
@pytest.mark.parametrize("name", FRICTION)
def test_derivative_at_rest(name, mode):
    """-load ratio'(0) I, with ratio'(0) by differences of a motion so slow that all laws are straight lines."""
    law, h = FRICTION[name], 1e-9
    slope = float(law.ratio(jnp.array([h]), numbers())[0]) / h
    one = numbers()
    found = mode(lambda v: friction_force(law, jnp.array([70.0]), v[None], one)[0])(jnp.zeros(3))
    np.testing.assert_allclose(found, -70 * slope * np.eye(3), rtol=3e-8)
    assert name == "frictionless" or slope > 0.1


@pytest.mark.parametrize("name", SLIDING)
def test_derivative_is_continuous_into_rest(name):
    """No seam where the law takes over from the straight line at about 3e-24 m/s."""
    at_rest = np.asarray(jacobian(SLIDING[name], np.zeros(3)))
    for speed in (1e-300, 1e-25, 2.9e-24, 3.3e-24, 3.4e-24, 1e-22, 1e-16):
        slow = jacobian(SLIDING[name], speed * DIRECTIONS[0])
        np.testing.assert_allclose(slow, at_rest, rtol=1e-12, atol=1e-12 * np.abs(at_rest).max(), err_msg=str(speed))


@pytest.mark.parametrize("name", SLIDING)
def test_derivative_of_sliding(name):
    """Against central differences, below and above the transition speed: along and across the motion."""
    one = numbers()
    for speed in (1e-3, 7e-3, 0.03, 0.4):
        velocity, h = speed * DIRECTIONS[1], 1e-5 * speed
        ends = (velocity + s * h * np.eye(3) for s in (1, -1))
        force = jax.vmap(lambda v: friction_force(SLIDING[name], jnp.array([70.0]), v[None], one)[0])
        ahead, behind = (np.asarray(force(end)) for end in ends)
        expected = ((ahead - behind) / (2 * h)).T
        found = np.asarray(jacobian(SLIDING[name], velocity))
        np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["coulomb", "hollars", "brown"])
def test_second_derivative_at_rest_is_zero(name):
    """As it is of every odd and smooth function."""
    one = numbers()
    force = lambda v: friction_force(SLIDING[name], jnp.array([70.0]), v[None], one)[0]  # noqa: E731
    for modes in (lambda f: jax.jacfwd(jax.jacrev(f)), lambda f: jax.jacrev(jax.jacfwd(f))):
        np.testing.assert_array_equal(modes(force)(jnp.zeros(3)), np.zeros((3, 3, 3)))
