"""The search finds what SciPy finds, with bounds, with numbers of each window's own, and through bad trials."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from hybridsim.identify.levenberg_marquardt import Linearised, Point, search

RNG = np.random.default_rng(0)
T = np.linspace(0, 3, 30)
NO_BOUNDS = np.full(2, -np.inf), np.full(2, np.inf)


def decays(z, s):
    """Windows of a decaying wave: rate and frequency are shared, size and phase are each window's own."""
    rate, frequency = z
    size, phase = s[:, :1], s[:, 1:]
    wave, slope = np.sin(frequency * T + phase), np.cos(frequency * T + phase)
    fall = np.exp(-rate * T)
    J = np.stack([-T * size * fall * wave, size * fall * T * slope], axis=-1)
    K = np.stack([fall * wave, size * fall * slope], axis=-1)
    return size * fall * wave, J, K


TRUTH = np.array([0.4, 3.0]), np.stack([RNG.uniform(0.5, 2, 6), RNG.uniform(-0.5, 0.5, 6)], axis=1)
DATA = decays(*TRUTH)[0] + 0.01 * RNG.standard_normal((6, 30))


def evaluate(z, s):
    y, J, K = decays(z, s)
    return Linearised(y - DATA, J, K)


def begin():
    return Point(np.array([1.0, 2.5]), np.tile([1.0, 0.0], (6, 1)), np.inf)


def scipys(lower, upper):
    start = np.concatenate([np.clip(begin().z, lower, upper), begin().s.ravel()])
    wide = np.full(12, np.inf)
    bounds = np.concatenate([lower, -wide]), np.concatenate([upper, wide])

    def residuals(x):
        return evaluate(x[:2], x[2:].reshape(6, 2)).r.ravel()

    return least_squares(residuals, start, bounds=bounds, xtol=1e-14, ftol=1e-14, gtol=1e-14)


def test_it_finds_the_least_squares_of_all_numbers_together():
    point, at = search(evaluate, begin(), *NO_BOUNDS)
    found = scipys(*NO_BOUNDS)
    np.testing.assert_allclose(point.z, found.x[:2], rtol=1e-7)
    np.testing.assert_allclose(point.s.ravel(), found.x[2:], rtol=1e-6, atol=1e-8)
    assert point.cost == pytest.approx(found.cost, rel=1e-10)
    assert at.cost == point.cost
    assert point.done


def test_bounds_hold_and_the_rest_is_the_best_there():
    lower, upper = np.array([0.6, -np.inf]), np.array([np.inf, np.inf])
    start = Point(np.array([1.0, 2.5]), begin().s, np.inf)
    point, _ = search(evaluate, start, lower, upper)
    found = scipys(lower, upper)
    assert point.z[0] == 0.6
    np.testing.assert_allclose(point.z, found.x[:2], rtol=1e-4)
    assert point.cost <= found.cost * (1 + 1e-6)


def test_it_never_goes_up_and_says_where_it_is():
    costs = []
    search(evaluate, begin(), *NO_BOUNDS, seen=lambda point: costs.append(point.cost))
    assert len(costs) > 3
    assert np.all(np.diff(costs) < 0)


def test_it_goes_on_where_it_stopped():
    whole, _ = search(evaluate, begin(), *NO_BOUNDS)
    part, _ = search(evaluate, begin(), *NO_BOUNDS, iterations=3)
    assert part.done == "out of iterations"
    rest, _ = search(evaluate, part, *NO_BOUNDS)
    np.testing.assert_array_equal(rest.z, whole.z)
    assert rest.iteration == whole.iteration


def test_windows_may_have_nothing_of_their_own():
    def line(z, s):
        return Linearised(
            (z[0] * T + z[1] - 2 * T - 1)[None], np.stack([T, np.ones_like(T)], -1)[None], np.zeros((1, 30, 0))
        )

    point, _ = search(line, Point(np.zeros(2), np.zeros((1, 0)), np.inf), *NO_BOUNDS)
    np.testing.assert_allclose(point.z, [2, 1], rtol=1e-9)


def test_trials_that_are_not_finite_are_worse():
    def wall(z, s):
        found = evaluate(z, s)
        return Linearised(np.full_like(found.r, np.nan), found.J, found.K) if z[0] > 1.2 or z[1] > 3.3 else found

    point, _ = search(wall, begin(), *NO_BOUNDS)
    np.testing.assert_allclose(point.z, TRUTH[0], rtol=0.02)


def test_a_start_that_is_not_finite_is_an_error():
    bad = Point(np.array([np.nan, 1.0]), begin().s, np.inf)
    with pytest.raises(FloatingPointError, match="at the start are not finite"):
        search(evaluate, bad, *NO_BOUNDS)


def test_a_parameter_without_effect_stays_where_it_is():
    def deaf(z, s):
        found = evaluate(z[:2], s)
        return Linearised(found.r, np.concatenate([found.J, np.zeros((6, 30, 1))], axis=-1), found.K)

    start = Point(np.array([1.0, 2.5, 7.0]), begin().s, np.inf)
    point, _ = search(deaf, start, np.full(3, -np.inf), np.full(3, np.inf))
    assert point.z[2] == 7
    np.testing.assert_allclose(point.z[:2], scipys(*NO_BOUNDS).x[:2], rtol=1e-6)
