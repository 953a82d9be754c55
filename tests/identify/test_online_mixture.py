"""The mixture that samples leave, against the fit to the same samples, whose posterior is a Gaussian."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import hybridsim as hs
from hybridsim.identify.online_mixture import MixtureEstimate, estimate_mixture

NOISE = 0.01
FREE = [hs.Free("joint/joint1/damping", 0.01, 2.0, scale="log"), hs.Free("link/link1/com.z", -0.9, -0.2)]
TRUTH = np.array([0.4, -0.5])


def recording() -> hs.Trajectory:
    """A pendulum, let go from a known angle."""
    made = hs.rollout(hs.chain(1, damping=TRUTH[0]), (np.ones(1), np.zeros(1)), dt=0.02, steps=60, contact=None)
    noise = NOISE * np.random.default_rng(1).standard_normal(made.q.shape)
    noise[0] = 0
    return hs.Trajectory(0.02 * np.arange(61), np.asarray(made.q) + noise, np.asarray(made.qd), run="let go")


def estimate(arriving, **options) -> MixtureEstimate:
    given = {"window": 1.2, "compare": {"position": NOISE}, "contact": None, "kernels": 2, "loss": hs.Squares()}
    return estimate_mixture(hs.chain(1, damping=0.1), recording(), FREE, arriving, **{**given, **options})


@pytest.fixture(scope="module")
def found() -> MixtureEstimate:
    return estimate((10, 60), epochs=120)


def test_the_mixture_ends_as_the_posterior(found):
    fit = hs.fit(
        hs.chain(1, damping=0.1),
        recording(),
        FREE,
        window=1.2,
        compare={"position": NOISE},
        start="measured",
        contact=None,
    )
    deviation = np.array([e.deviation for e in fit.parameters])
    assert_allclose((found.mean - [e.value for e in fit.parameters]) / deviation, 0, atol=0.3)
    assert_allclose(found.deviation / deviation, 1, atol=0.15)


def test_samples_make_it_narrow_around_the_truth(found):
    mean, early = found.moments(120)
    assert_array_equal(found.observed, [10] * 120 + [60] * 120)
    assert np.all(np.abs(mean - TRUTH) < 3 * early)
    assert np.all(found.deviation < 0.3 * early)
    assert np.all(np.abs(found.mean - TRUTH) < 3 * found.deviation)


def test_draws_are_of_the_mixture(found):
    draws = found.sample(4000)
    assert_allclose(draws.mean(axis=0), found.mean, atol=0.05 * found.deviation.max())
    assert_allclose(draws.std(axis=0) / found.deviation, 1, atol=0.05)


def test_an_earlier_estimate_goes_on():
    whole = estimate((10, 60), epochs=5)
    later = estimate((60,), epochs=5, start=estimate((10,), epochs=5))
    assert_array_equal(later.means, whole.means)
    assert_array_equal(later.observed, whole.observed)


def test_kernels_of_the_papers_objective_shrink_below_the_posterior(found):
    shrunk = estimate((60,), epochs=300, objective="paper")
    assert np.all(shrunk.deviations[-1].min(axis=0) < 0.7 * found.deviation)


def test_ctrl_c_returns_the_estimate_until_then():
    def stop(observed, loss):
        if observed == 60:
            raise KeyboardInterrupt

    found = estimate((10, 60), epochs=3, seen=stop)
    assert found.observed.tolist() == [10, 10, 10, 60]
    assert len(found.means) == 5


def test_what_is_missing_is_said():
    with pytest.raises(ValueError, match="needs to know the noise"):
        estimate((10,), compare="position")
    with pytest.raises(ValueError, match="from 1 to the 60 steps"):
        estimate((10, 61))
    with pytest.raises(ValueError, match="a mixture needs bounds, but link/link1/com"):
        estimate_mixture(
            hs.chain(1), recording(), "link/link1/com.z", (10,), window=1.2, compare={"position": NOISE}, contact=None
        )
