"""Safe functions keep their digits at the singularity: value, first and second derivative, both modes."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from hybridsim.spatial.numerics import SMALL_SQUARED, angle_over_sine, cos_of, safe_norm, sin_over, tanh_over, unit

# At zero, far below, at both sides of the switch from series to formula, and far above it.
POINTS = [0.0, 1e-300, 1e-16, 1e-8, 0.999 * SMALL_SQUARED, 1.001 * SMALL_SQUARED, 1e-2, 1.0, 6.0]

# Of value, first and second derivative: the formula's derivatives lose digits to cancellation where it takes over
# from the series, by eps / x and eps / x^2 with x = SMALL_SQUARED.
LOSS = (4e-16, 1e-11, 1e-6)


def _sin_over(x):
    return mpmath.mpf(1) if x == 0 else mpmath.sin(mpmath.sqrt(x)) / mpmath.sqrt(x)


def _cos_of(x):
    return mpmath.cos(mpmath.sqrt(x))


def _tanh_over(x):
    return mpmath.mpf(1) if x == 0 else mpmath.tanh(mpmath.sqrt(x)) / mpmath.sqrt(x)


def exact(function, x: float, order: int) -> float:
    """A derivative of a function that is analytic around x, in sixty digits: Cauchy's formula on a circle."""
    with mpmath.workdps(60):
        turns = [mpmath.expjpi(mpmath.mpf(2 * k) / 64) for k in range(64)]
        mean = sum(function(x + turn / 10) * turn ** (-order) for turn in turns) / 64
        return float(mpmath.re(mean) * mpmath.factorial(order) * 10**order)


def derivatives(function):
    """Value, first and second derivative, by every composition of forward and reverse mode."""
    fwd, rev = jax.jacfwd, jax.jacrev
    seconds = (fwd(fwd(function)), rev(fwd(function)), fwd(rev(function)), rev(rev(function)))
    return jax.jit(lambda x: ([function(x)], [fwd(function)(x), rev(function)(x)], [f(x) for f in seconds]))


@pytest.mark.parametrize(
    ("function", "truth"),
    [(sin_over, _sin_over), (cos_of, _cos_of), (tanh_over, _tanh_over)],
    ids=["sin_over", "cos_of", "tanh_over"],
)
def test_functions_of_a_squared_angle_are_exact_with_two_derivatives(function, truth):
    compiled = derivatives(function)
    for x in POINTS:
        for order, tolerance in enumerate(LOSS):
            for found in compiled(x)[order]:
                assert found == pytest.approx(exact(truth, x, order), rel=tolerance), (x, order)


def test_angle_over_sine_is_exact_with_two_derivatives():
    """As a function of the angle, through sine and cosine: a/sin(a)."""
    compiled = derivatives(lambda a: angle_over_sine(jnp.sin(a), jnp.cos(a)))
    for angle in (0.0, 1e-160, 1e-8, 0.00999, 0.01001, 0.3, np.pi / 2):
        for order, tolerance in enumerate(LOSS):
            truth = exact(lambda a: a / mpmath.sin(a), angle, order)
            for found in compiled(angle)[order]:
                assert found == pytest.approx(truth, rel=tolerance, abs=1e-14), (angle, order)


@pytest.mark.parametrize("x", [np.zeros(3), np.array([0.0, 1e-200, 0.0]), np.array([3.0, -4.0, 12.0])])
def test_norm_and_unit_have_finite_derivatives_in_both_modes(x):
    for function in (safe_norm, unit):
        _, first, second = derivatives(function)(x)
        assert np.all(np.isfinite(first[0]))
        np.testing.assert_allclose(first[0], first[1], rtol=1e-15)
        assert np.all(np.isfinite(second))


def test_norm_is_the_norm_and_has_slope_zero_at_zero():
    x = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(safe_norm(x), np.linalg.norm(x, axis=-1), rtol=1e-15)
    assert safe_norm(np.zeros(3)) == 0
    np.testing.assert_array_equal(jax.grad(safe_norm)(np.zeros(3)), 0)


def test_unit_has_length_one_and_leaves_zero_alone():
    x = np.random.default_rng(0).normal(size=(5, 4))
    np.testing.assert_allclose(np.linalg.norm(unit(x), axis=-1), 1, rtol=1e-15)
    np.testing.assert_allclose(unit(1e-150 * x), unit(x), rtol=1e-15)
    np.testing.assert_array_equal(unit(np.zeros(3)), 0)
