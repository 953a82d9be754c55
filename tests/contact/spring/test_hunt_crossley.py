"""The normal force: its formula, its onsets, no adhesion unless asked for, damping that takes energy."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from hybridsim.contact.spring import ExponentialOnset, HuntCrossley, RationalOnset, SigmoidOnset

from .laws import NORMAL, ONSETS, numbers

DEPTHS = [-2.0, -1e-3, -1e-9, 0.0, 1e-9, 1e-4, 3e-3, 0.02, 0.3]
SPEEDS = [-7.0, -1.0, -0.2, 0.0, 1e-3, 0.5, 3.0]
GRID = [(x, xd) for x in DEPTHS for xd in SPEEDS]
POINTS = tuple(jnp.array(GRID).T)


def tds(x, xd, k, d, n, factor=lambda x: 1.0, spring=None, velocity_exponent=1.0):
    """The papers' engine in hard contact, on Python's numbers, with its smoothing's depth turned to height."""
    if spring is None and x <= 0:
        return 0.0
    xn = x**n if x > 0 else 0.0
    xdn = xd if xd >= 0 else -(abs(xd) ** velocity_exponent)
    return d * xn * xdn * factor(-x) + k * (xn if spring is None else spring(-x))


@pytest.mark.parametrize("n", [1.0, 1.5, 2.0, 2.7])
def test_formula(n):
    """With adhesion it is the formula; without, its positive part."""
    pair = numbers(len(GRID), exponent=n, stiffness=3e4, dissipation=2e4)
    expected = np.array([tds(x, xd, 3e4, 2e4, n) for x, xd in GRID])
    assert expected.min() < 0
    np.testing.assert_allclose(HuntCrossley(adhesion=True)(*POINTS, pair), expected, rtol=1e-14)
    np.testing.assert_allclose(HuntCrossley()(*POINTS, pair), np.maximum(expected, 0), rtol=1e-14)


SMOOTHED = {
    "SIGMOID": (SigmoidOnset(40.0), {"factor": lambda h: 1 / (1 + math.exp(40 * h))}),
    "TANH": (SigmoidOnset(40.0), {"factor": lambda h: 0.5 * math.tanh(-0.5 * h * 40) + 0.5}),
    "ABS": (RationalOnset(40.0), {"factor": lambda h: 0.5 * (-h * 40) / (1 + abs(h * 40)) + 0.5}),
    "normal": (ExponentialOnset(40.0), {"spring": lambda h: math.exp(-40 * h)}),
}


@pytest.mark.parametrize("name", SMOOTHED)
def test_smoothed_onset(name):
    onset, formula = SMOOTHED[name]
    expected = [tds(x, xd, 5e4, 5e4, 1.5, **formula) for x, xd in GRID]
    np.testing.assert_allclose(HuntCrossley(onset, adhesion=True)(*POINTS, numbers(len(GRID))), expected, rtol=1e-12)


def test_rebound_of_tds():
    expected = [tds(x, xd, 5e4, 5e4, 1.5, velocity_exponent=1 / 20) for x, xd in GRID]
    np.testing.assert_allclose(NORMAL["as in TDS"](*POINTS, numbers(len(GRID))), expected, rtol=1e-13)


@pytest.mark.parametrize("name", [name for name in NORMAL if "exponential" not in name])
def test_nothing_where_bodies_are_apart(name):
    apart = np.asarray(POINTS[0]) <= 0
    force = np.asarray(NORMAL[name](*POINTS, numbers(len(GRID))))
    np.testing.assert_array_equal(force[apart], 0)
    assert np.all(force[~apart & (np.asarray(POINTS[1]) >= 0)] > 0)


def test_exponential_spring_reaches_into_the_air():
    force = HuntCrossley(ExponentialOnset(100.0))(jnp.array([-0.05, 0.0]), jnp.zeros(2), numbers(2, stiffness=7.0))
    np.testing.assert_allclose(force, [7 * math.exp(-5), 7], rtol=1e-14)


@pytest.mark.parametrize("name", ONSETS)
def test_pushes_never_pulls(name):
    assert HuntCrossley(ONSETS[name])(*POINTS, numbers(len(GRID))).min() >= 0


def test_adhesion_begins_at_speed_k_over_d():
    pair = numbers(2, stiffness=30.0, dissipation=60.0)
    force = HuntCrossley(adhesion=True)(jnp.full(2, 0.01), jnp.array([-0.499, -0.501]), pair)
    assert force[0] > 0 > force[1]


@pytest.mark.parametrize("name", NORMAL)
def test_damping_takes_energy(name):
    """The force less that of the same depth at rest works against the motion, or not at all."""
    law, pair = NORMAL[name], numbers(len(GRID))
    damping = np.asarray(law(*POINTS, pair) - law(POINTS[0], jnp.zeros(len(GRID)), pair))
    power = -damping * np.asarray(POINTS[1])
    assert power.max() <= 0
    assert power.min() < 0


@pytest.mark.parametrize("name", NORMAL)
def test_stiffens_with_depth_and_approach(name):
    law, one = NORMAL[name], numbers(500)
    depth = jnp.linspace(-0.01, 0.1, 500)
    for speed in (0.0, 0.4, 3.0):
        assert np.all(np.diff(law(depth, jnp.full(500, speed), one)) >= 0)
    assert np.all(np.diff(law(jnp.full(500, 0.02), jnp.linspace(-3, 3, 500), one)) >= 0)
