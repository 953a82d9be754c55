"""Mixtures against closed forms: densities, derivatives, and the posteriors that a fit has to find."""

import io
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from scipy.stats import multivariate_normal

from hybridsim.identify.mixture import Evidence, ExpectedLoss, FittedMixture, Mixture, fit_mixture

TWO = Mixture(
    weights=np.array([0.3, 0.7]),
    means=np.array([[-2.0, 0.0], [2.0, 1.0]]),
    factors=np.array([[[0.5, 0.0], [0.2, 0.3]], [[0.3, 0.0], [-0.3, 0.6]]]),
)


def gaussian_loss(mean, covariance):
    """-log of a Gaussian density, up to a constant."""
    precision = np.linalg.inv(covariance)

    def loss(theta):
        slope = (theta - mean) @ precision
        return np.sum((theta - mean) * slope, axis=1) / 2, slope

    return loss


def curved_loss(theta):
    """Something smooth that is not quadratic."""
    return np.sum(np.cos(theta) + theta**4 / 10, axis=1), -np.sin(theta) + 0.4 * theta**3


def loss_of(mixture):
    """-log of a mixture's density; its gradient by central differences."""

    def loss(theta):
        steps = 1e-5 * np.eye(theta.shape[1])
        slope = [(mixture.log_density(theta + h) - mixture.log_density(theta - h)) / 2e-5 for h in steps]
        return -mixture.log_density(theta), -np.stack(slope, axis=1)

    return loss


def wide(kernels, n, seed=0):
    means = np.random.default_rng(seed).standard_normal((kernels, n))
    return Mixture.independent(np.full(kernels, 1 / kernels), means, np.ones((kernels, n)))


def test_density_is_that_of_scipy():
    theta = np.random.default_rng(0).normal(size=(20, 2))
    parts = [multivariate_normal(m, L @ L.T).pdf(theta) for m, L in zip(TWO.means, TWO.factors, strict=True)]
    assert_allclose(TWO.log_density(theta), np.log(0.3 * parts[0] + 0.7 * parts[1]), rtol=1e-12)


def test_moments_are_those_of_samples():
    drawn = TWO.sample(np.random.default_rng(0), 200_000)
    assert_allclose(TWO.mean, drawn.mean(axis=0), atol=0.02)
    assert_allclose(TWO.covariance, np.cov(drawn, rowvar=False), atol=0.03)
    assert_allclose(TWO.deviation, drawn.std(axis=0), rtol=0.01)
    first = drawn[drawn[:, 0] < 0]
    assert_allclose(TWO.deviations[0], first.std(axis=0), rtol=0.02)


def nudged(mixture, field, index, amount):
    """One number changed: of the logarithms of the weights, of the means or of the factors."""
    if field == "log_weights":
        logs = np.log(mixture.weights)
        logs[index] += amount
        return replace(mixture, weights=softmax(logs))
    changed = getattr(mixture, field).copy()
    changed[index] += amount
    return replace(mixture, **{field: changed})


NUMBERS = [
    *(("log_weights", (k,)) for k in range(2)),
    *(("means", (k, i)) for k in range(2) for i in range(2)),
    *(("factors", (k, i, j)) for k in range(2) for i in range(2) for j in range(i + 1)),
]


@pytest.mark.parametrize(("field", "index"), NUMBERS)
def test_slopes_of_the_expected_loss_are_finite_differences(field, index):
    def at(mixture):
        return ExpectedLoss().slopes(mixture, curved_loss, 7, np.random.default_rng(3))

    numeric = (at(nudged(TWO, field, index, 1e-6)).value - at(nudged(TWO, field, index, -1e-6)).value) / 2e-6
    assert_allclose(getattr(at(TWO), field)[index], numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("field", "index"), NUMBERS)
def test_slopes_of_the_evidence_are_finite_differences_at_a_fixed_density(field, index):
    def value(mixture):
        def loss(theta):
            values, slopes = curved_loss(theta)
            return values + TWO.log_density(theta) - mixture.log_density(theta), slopes

        return Evidence().slopes(mixture, loss, 14, np.random.default_rng(3)).value

    numeric = (value(nudged(TWO, field, index, 1e-6)) - value(nudged(TWO, field, index, -1e-6))) / 2e-6
    analytic = Evidence().slopes(TWO, curved_loss, 14, np.random.default_rng(3))
    assert_allclose(getattr(analytic, field)[index], numeric, rtol=1e-6, atol=1e-8)


def test_slopes_of_the_evidence_are_those_of_the_divergence_of_gaussians():
    """KL(N(mu, L L^T), N(m, C)): by mu C^-1 (mu - m), by L the lower triangle of C^-1 L - L^-T."""
    mean, covariance = np.array([0.5, -1.0]), np.array([[1.0, 0.6], [0.6, 2.0]])
    one = Mixture(np.ones(1), np.zeros((1, 2)), np.array([[[0.8, 0.0], [0.3, 1.1]]]))
    found = Evidence().slopes(one, gaussian_loss(mean, covariance), 400_000, np.random.default_rng(0))
    precision, L = np.linalg.inv(covariance), one.factors[0]
    assert_allclose(found.means[0], precision @ -mean, atol=0.01)
    assert_allclose(found.factors[0], np.tril(precision @ L - np.linalg.inv(L).T), atol=0.01)


SCALES = np.array([1e-3, 1.0, 0.1])
COVARIANCE = SCALES[:, None] * np.array([[1.0, 0.8, -0.3], [0.8, 1.0, 0.1], [-0.3, 0.1, 1.0]]) * SCALES
CENTRE = np.array([0.3, -1.0, 2.0])


@pytest.mark.parametrize("kernels", [1, 3])
def test_evidence_finds_a_gaussian_posterior(kernels):
    """Correlated, with deviations between 1e-3 and 1, from a start that knows none of this."""
    found = fit_mixture(gaussian_loss(CENTRE, COVARIANCE), wide(kernels, 3)).mixture
    deviation = np.sqrt(np.diag(COVARIANCE))
    assert np.all(np.abs(found.mean - CENTRE) < 0.1 * deviation)
    assert_allclose(found.deviation, deviation, rtol=0.05)
    assert_allclose(
        found.covariance / np.outer(deviation, deviation), COVARIANCE / np.outer(deviation, deviation), atol=0.08
    )


def test_kernels_along_the_axes_take_correlated_parameters_for_better_known_than_they_are():
    """Known of mean-field posteriors: each deviation is that with all other parameters held."""
    found = fit_mixture(gaussian_loss(CENTRE, COVARIANCE), wide(1, 3), correlated=False).mixture
    assert_allclose(found.deviation, 1 / np.sqrt(np.diag(np.linalg.inv(COVARIANCE))), rtol=0.05)


def test_evidence_holds_both_modes_with_their_weights():
    start = Mixture.independent(np.array([0.5, 0.5]), np.array([[-1.0, 0.5], [1.0, 0.0]]), np.ones((2, 2)))
    found = fit_mixture(loss_of(TWO), start).mixture
    assert_allclose(found.weights, TWO.weights, atol=0.03)
    assert_allclose(found.means, TWO.means, atol=0.05)
    assert_allclose(found.deviations, TWO.deviations, rtol=0.1)


def huber_of_offset(theta):
    """The three numbers are 1, 2, 3; Huber's loss of each."""
    apart = theta - np.array([1.0, 2.0, 3.0])
    near = np.abs(apart) < 0.5
    values = np.where(near, apart**2 / 2, 0.5 * (np.abs(apart) - 0.25))
    return np.sum(values, axis=1), np.clip(apart, -0.5, 0.5)


def test_expected_loss_shrinks_to_the_truth_as_in_the_paper():
    """Figure 2: three kernels, at the truth after about 120 epochs, variance ever smaller."""
    means = np.random.default_rng(0).uniform(1.0, 4.0, (3, 3))
    start = Mixture.independent(np.full(3, 1 / 3), means, np.full((3, 3), 0.5))
    fit = fit_mixture(huber_of_offset, start, epochs=240, objective=ExpectedLoss(), correlated=False)
    assert_allclose(fit.history[120].mean, [1.0, 2.0, 3.0], atol=0.05)
    spread = [np.max(fit.history[epoch].deviation) for epoch in (0, 60, 120, 180, 240)]
    assert np.all(np.diff(spread) < 0)
    assert spread[-1] < 0.02
    assert len(fit.history) == 241
    assert fit.losses[-1] < 0.01 * fit.losses[0]


def test_online_each_round_gives_the_posterior_of_what_was_observed_so_far():
    """A line through noisy points, as they arrive: covariance (A^T A)^-1 s^2."""
    rng, noise = np.random.default_rng(1), 0.2
    A = np.stack([np.ones(200), rng.uniform(-1, 2, 200)], axis=1)
    y = A @ np.array([0.5, -1.0]) + noise * rng.standard_normal(200)
    fit = FittedMixture.begin(wide(1, 2), seed=0)
    for count in (5, 50, 200):
        covariance = np.linalg.inv(A[:count].T @ A[:count]) * noise**2
        best = np.linalg.lstsq(A[:count], y[:count])[0]
        fit = fit_mixture(gaussian_loss(best, covariance), fit, epochs=100)
        assert_allclose(fit.mixture.deviation, np.sqrt(np.diag(covariance)), rtol=0.05)
        assert np.all(np.abs(fit.mixture.mean - best) < 0.1 * fit.mixture.deviation)
    assert len(fit.losses) == 300


def test_an_interrupted_fit_that_was_saved_goes_on_as_if_nothing_had_happened():
    loss = gaussian_loss(CENTRE, COVARIANCE)
    whole = fit_mixture(loss, wide(2, 3), epochs=30, seed=5)
    told = []

    def interrupted(theta):
        if len(told) == 12:
            raise KeyboardInterrupt
        return loss(theta)

    part = fit_mixture(interrupted, wide(2, 3), epochs=30, seed=5, seen=told.append)
    assert part.stopped
    assert len(part.losses) == 12
    file = io.BytesIO()
    np.savez(file, **cast(dict[str, Any], part.arrays()))
    file.seek(0)
    with np.load(file) as arrays:
        resumed = fit_mixture(loss, FittedMixture.from_arrays(arrays), epochs=18)
    assert not resumed.stopped
    assert resumed.losses == whole.losses
    for name in ("weights", "means", "factors"):
        assert_array_equal(getattr(resumed.mixture, name), getattr(whole.mixture, name))
    other = fit_mixture(loss, wide(2, 3), epochs=30, seed=6)
    assert not np.array_equal(other.mixture.means, whole.mixture.means)


def test_samples_without_a_finite_loss_are_left_out():
    def holed(theta):
        values, slopes = gaussian_loss(np.array([3.0]), np.eye(1) * 0.01)(theta)
        lost = theta[:, 0] < 0
        return np.where(lost, np.nan, values), np.where(lost[:, None], np.inf, slopes)

    for objective in (Evidence(), ExpectedLoss()):
        found = fit_mixture(holed, wide(2, 1), objective=objective, epochs=150).mixture
        assert_allclose(found.mean, [3.0], atol=0.02)
    with pytest.raises(FloatingPointError, match="finite at none of 64 samples"):
        fit_mixture(lambda theta: (np.full(len(theta), np.nan), theta), wide(2, 1))


def test_mixtures_that_are_none_are_refused():
    with pytest.raises(ValueError, match="sum to 1"):
        replace(TWO, weights=np.array([0.3, 0.3]))
    with pytest.raises(ValueError, match=r"np\.linalg\.cholesky"):
        replace(TWO, factors=TWO.factors.transpose(0, 2, 1))
    with pytest.raises(ValueError, match="positive diagonals"):
        replace(TWO, factors=-TWO.factors)
