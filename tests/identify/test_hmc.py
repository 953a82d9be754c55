"""Sampled posteriors against closed forms and quadrature; chains and what is said of them."""

import io
from typing import Any, cast

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, truncnorm

from hybridsim.identify.chains import Posterior, effective_size, split_rhat
from hybridsim.identify.hmc import Walls, sample

SCALES = np.array([1e-2, 1.0, 5.0])
COVARIANCE = SCALES[:, None] * np.array([[1.0, 0.9, -0.3], [0.9, 1.0, 0.1], [-0.3, 0.1, 1.0]]) * SCALES
CENTRE = np.array([0.3, -1.0, 2.0])


def gaussian(mean, covariance):
    precision = np.linalg.inv(covariance)

    def density(x):
        slope = (mean - x) @ precision
        return np.sum((x - mean) * slope, axis=1) / 2, slope

    return density


def around(mean, scales, chains=64):
    return mean + scales * np.random.default_rng(0).standard_normal((chains, len(scales)))


def error_in_deviations(posterior, mean, deviation):
    """Of the means, in units of what chance allows for."""
    return np.abs(posterior.mean - mean) / (deviation / np.sqrt(posterior.effective_size))


@pytest.mark.parametrize("known", [COVARIANCE, np.diag(SCALES**2)], ids=["covariance", "scales"])
def test_gaussian(known):
    found = sample(gaussian(CENTRE, COVARIANCE), around(CENTRE, SCALES), known, draws=150, warmup=200)
    deviation = np.sqrt(np.diag(COVARIANCE))
    assert found.converged, found.warnings
    assert found.draws.shape == (64, 150, 3)
    assert np.all(error_in_deviations(found, CENTRE, deviation) < 4)
    assert_allclose(found.deviation, deviation, rtol=0.05)
    assert_allclose(found.covariance / np.outer(SCALES, SCALES), COVARIANCE / np.outer(SCALES, SCALES), atol=0.06)
    ends = CENTRE[:, None] + deviation[:, None] * norm.ppf([0.05, 0.95])
    assert np.all(np.abs(found.intervals(0.9) - ends) < 0.08 * deviation[:, None])
    # Paths of a quarter of a period leave nearly independent draws behind.
    assert np.all(found.effective_size > 0.4 * 64 * 150)
    assert abs(found.acceptance - 0.9) < 0.05


def test_banana():
    """log p = -x^2/2 - ((y - x^2/2) / 0.7)^2 / 2, moments by quadrature."""

    def log_density(x, y):
        return -(x**2) / 2 - ((y - x**2 / 2) / 0.7) ** 2 / 2

    def density(points):
        x, y = points.T
        bend = (y - x**2 / 2) / 0.7**2
        return log_density(x, y), np.stack([-x + bend * x, -bend], axis=1)

    x, y = np.meshgrid(np.linspace(-7, 7, 1401), np.linspace(-4, 28, 1601), indexing="ij")
    weight = np.exp(log_density(x, y))
    weight /= weight.sum()
    mean = np.array([(weight * x).sum(), (weight * y).sum()])
    square = np.array([(weight * x**2).sum(), (weight * y**2).sum()])
    third = (weight * x**2 * y).sum()

    found = sample(density, around(np.zeros(2), np.ones(2), 128), draws=200, warmup=200)
    assert_allclose(found.mean, mean, atol=0.04)
    assert_allclose(np.mean(found.pooled**2, axis=0), square, rtol=0.08)
    assert_allclose(np.mean(found.pooled[:, 0] ** 2 * found.pooled[:, 1]), third, rtol=0.12)
    assert np.all(found.split_rhat < 1.02)


def test_bounds_cut_a_gaussian():
    exact = truncnorm(-0.5, 1.0, loc=1.0, scale=2.0)
    density = gaussian(np.array([1.0]), np.array([[4.0]]))
    lower, upper = np.array([0.0]), np.array([3.0])
    found = sample(density, np.full((64, 1), 0.5), np.eye(1), 150, 100, lower=lower, upper=upper)
    assert np.all((found.trace >= lower) & (found.trace <= upper))
    assert np.all(error_in_deviations(found, exact.mean(), exact.std()) < 4)
    assert_allclose(found.deviation, exact.std(), rtol=0.03)
    levels = np.array([0.05, 0.25, 0.75, 0.95])
    assert_allclose(found.quantiles(levels)[:, 0], exact.ppf(levels), atol=0.06)


def test_bounds_cut_a_correlated_gaussian():
    """Both positive: E[x] = (1 + r) / (2 sqrt(2 pi) P) with P = 1/4 + arcsin(r) / (2 pi); E[xy] = r + sqrt(1 - r^2) / (2 pi P)."""
    r = -0.7
    covariance = np.array([[1.0, r], [r, 1.0]])
    P = 0.25 + np.arcsin(r) / (2 * np.pi)
    found = sample(gaussian(np.zeros(2), covariance), np.ones((128, 2)), covariance, 200, 100, lower=np.zeros(2))
    assert np.min(found.trace) >= 0
    assert_allclose(found.mean, (1 + r) / (2 * np.sqrt(2 * np.pi) * P), atol=0.015)
    assert_allclose(np.mean(np.prod(found.pooled, axis=1)), r + np.sqrt(1 - r**2) / (2 * np.pi * P), atol=0.01)


def test_flight_between_walls_keeps_energy_and_can_be_flown_back():
    rng = np.random.default_rng(0)
    walls = Walls(np.array([-1.0, -np.inf, 0.0]), np.array([1.0, 2.0, 0.1]))
    x = rng.uniform([-1, -3, 0], [1, 2, 0.1], (50, 3))
    p = rng.standard_normal((50, 3))
    factor = np.array([[1.0, 0, 0], [0.5, 0.7, 0], [-0.4, 0.3, 0.2]])
    there, turned = walls.drift(x, p, factor, 3.0)
    assert np.all((there >= walls.lower) & (there <= walls.upper))
    assert np.any(np.abs(turned - p) > 0.1, axis=1).sum() > 30
    assert_allclose(np.sum(turned**2, axis=1), np.sum(p**2, axis=1))
    back, _ = walls.drift(there, -turned, factor, 3.0)
    assert_allclose(back, x, atol=1e-9)


def test_where_the_density_is_not_a_number_nothing_is_drawn():
    """A Gaussian on the unit disc: E[r^2] = 2 (1 - 1.5 exp(-1/2)) / (1 - exp(-1/2))."""

    def density(x):
        square = np.sum(x**2, axis=1)
        lost = square > 1
        return np.where(lost, np.nan, -square / 2), np.where(lost[:, None], np.nan, -x)

    found = sample(density, np.zeros((64, 2)), draws=200, warmup=100)
    square = np.sum(found.pooled**2, axis=1)
    assert square.max() <= 1
    assert_allclose(square.mean(), 2 * (1 - 1.5 * np.exp(-0.5)) / (1 - np.exp(-0.5)), atol=0.015)
    assert found.outside > 1000
    assert found.divergences == 0


def test_modes_that_no_chain_leaves_are_reported():
    def density(x):
        near = np.where(x[:, 0] > 0, 8.0, -8.0)[:, None]
        return -np.sum((x - near) ** 2, axis=1) / 2, near - x

    found = sample(density, np.array([[-8.0], [8.0]] * 4), np.eye(1), draws=60, warmup=60)
    assert not found.converged
    assert "the chains disagree: split R-hat of parameter 0" in found.warnings[0]


def test_divergences_are_counted_and_reported():
    """A funnel: exp(y / 2) is the deviation of x, so no step fits everywhere."""

    def density(points):
        x, y = points.T
        inverse = np.exp(-np.clip(y, -300, 300))
        return -(x**2) * inverse / 2 - y / 2 - y**2 / 18, np.stack(
            [-x * inverse, x**2 * inverse / 2 - 0.5 - y / 9], axis=1
        )

    found = sample(density, around(np.zeros(2), np.ones(2)), draws=50, warmup=100, acceptance=0.6)
    assert found.divergences > 0
    assert any("diverged" in warning for warning in found.warnings)


def test_an_interrupted_run_that_was_saved_goes_on_as_if_nothing_had_happened():
    density = gaussian(CENTRE, COVARIANCE)
    start = around(CENTRE, SCALES, 4)
    whole = sample(density, start, COVARIANCE, draws=20, warmup=40, seed=3)
    for moment in (
        0,
        11,
        30,
        47,
    ):  # Before the first draw, while tuning, after the covariance was found anew, while drawing.
        told, calls = [], []

        def interrupted(x, told=told, calls=calls, moment=moment):
            calls.append(x)
            if len(told) == moment and len(calls) > 1:
                raise KeyboardInterrupt
            return density(x)

        part = sample(interrupted, start, COVARIANCE, draws=20, warmup=40, seed=3, seen=told.append)
        assert part.stopped
        assert part.trace.shape[1] == moment
        file = io.BytesIO()
        np.savez(file, **cast(dict[str, Any], part.arrays()))
        file.seek(0)
        with np.load(file) as arrays:
            resumed = sample(density, Posterior.from_arrays(arrays), draws=20)
        assert not resumed.stopped
        assert_array_equal(resumed.trace, whole.trace)
        assert resumed.step == whole.step
    assert not part.converged
    assert not np.array_equal(sample(density, start, COVARIANCE, draws=20, warmup=40, seed=4).trace, whole.trace)


def test_more_draws_can_be_added():
    density, start = gaussian(np.zeros(1), np.eye(1)), np.zeros((4, 1))
    short = sample(density, start, draws=10, warmup=20)
    assert_array_equal(sample(density, short, draws=30).trace, sample(density, start, draws=30, warmup=20).trace)
    assert_array_equal(sample(density, short, draws=5).trace, short.trace)


def test_starts_that_cannot_be_are_refused():
    density = gaussian(np.zeros(1), np.eye(1))
    with pytest.raises(ValueError, match="1 of 2 chains start outside of the bounds, such as chain 1"):
        sample(density, np.array([[1.0], [-1.0]]), lower=np.zeros(1))
    with pytest.raises(ValueError, match="not finite, such as chain 0"):
        sample(lambda x: (np.full(len(x), -np.inf), x), np.zeros((2, 1)))


@pytest.mark.parametrize("warmup", [0, 1, 2, 5])
def test_one_chain_with_hardly_any_warmup_runs_and_says_what_it_lacks(warmup):
    found = sample(gaussian(np.zeros(2), np.eye(2)), np.zeros((1, 2)), draws=10, warmup=warmup)
    assert found.draws.shape == (1, 10, 2)
    assert "few independent draws" in found.warnings[-1]
    assert (
        "go on sampling"
        in sample(gaussian(np.zeros(2), np.eye(2)), np.zeros((1, 2)), draws=3, warmup=warmup).warnings[0]
    )


def autoregressive(correlation, chains, count):
    rng = np.random.default_rng(0)
    x = np.empty((chains, count, 1))
    x[:, 0] = rng.standard_normal((chains, 1))
    for i in range(1, count):
        x[:, i] = correlation * x[:, i - 1] + np.sqrt(1 - correlation**2) * rng.standard_normal((chains, 1))
    return x


@pytest.mark.parametrize("correlation", [-0.4, 0.0, 0.5, 0.9])
def test_effective_size_of_an_autoregressive_process(correlation):
    """N (1 - r) / (1 + r)."""
    draws = autoregressive(correlation, 20, 2000)
    assert_allclose(effective_size(draws), 40_000 * (1 - correlation) / (1 + correlation), rtol=0.15)
    assert_allclose(split_rhat(draws), 1.0, atol=0.01)


def test_split_rhat_sees_what_is_wrong():
    draws = autoregressive(0.0, 4, 1000)
    apart = draws + np.array([0.0, 0.0, 1.0, 1.0])[:, None, None]
    # Within 1; the means of the eight halves are 0 and 1, four each: variance 2/7.
    assert_allclose(split_rhat(apart), np.sqrt(1 + 2 / 7), rtol=0.02)
    trend = draws + np.linspace(-2, 2, 1000)[:, None]
    assert split_rhat(trend)[0] > 1.2
    assert split_rhat(np.ones((2, 10, 1)))[0] == np.inf
    assert effective_size(np.ones((2, 10, 1)))[0] == 0
    with pytest.raises(ValueError, match="at least 4"):
        split_rhat(draws[:, :3])
