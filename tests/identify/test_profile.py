"""Profile likelihoods whose ends are known in closed form."""

from dataclasses import replace

import numpy as np
import pytest

from hybridsim.identify.profile import profile

ROOT = 1.959963984540054  # of the 95 % quantile of chi squared with one freedom


def test_quadratic():
    """Held at x, the other coordinate moves along; the ends are those of the marginal normal distribution."""
    A = np.array([[4.0, 1.5], [1.5, 1.0]])
    best = np.array([0.3, -2.0])

    def solve(index, value, start):
        x = np.array(start)
        x[index] = value
        other = 1 - index
        x[other] = best[other] - A[other, index] / A[other, other] * (value - best[index])
        return float(7.0 + 0.5 * (x - best) @ A @ (x - best)), x

    covariance = np.linalg.inv(A)
    for index in range(2):
        found = profile(solve, best, index, step=0.1, tolerance=1e-9)
        width = ROOT * np.sqrt(covariance[index, index])
        np.testing.assert_allclose([found.lower, found.upper], [best[index] - width, best[index] + width], rtol=1e-7)
        np.testing.assert_allclose(
            found.costs, 7.0 + 0.5 * (found.grid - best[index]) ** 2 / covariance[index, index], rtol=1e-12
        )
        assert np.all(np.diff(found.grid) > 0)
        assert found.better is None
    wider = profile(solve, best, 0, level=0.99, step=10.0, tolerance=1e-9)
    assert wider.upper == pytest.approx(best[0] + 2.5758293035489004 * np.sqrt(covariance[0, 0]), rel=1e-7)


def exponential(n: int, mean: float):
    """Minus the log likelihood of the rate of n exponential times of this mean: n (rate mean - log rate)."""

    def solve(index, value, start):
        cost = n * (value * mean - np.log(value)) if value > 0 else np.inf
        return cost, np.array([value])

    return solve


@pytest.mark.parametrize("step", [1e-3, 0.2, 50.0])
def test_exponential_times(step):
    """Both ends satisfy the equation, are not symmetric, and what is not finite beyond zero does no harm."""
    n, mean = 12, 0.5
    found = profile(exponential(n, mean), np.array([1 / mean]), 0, step=step, tolerance=1e-10)
    for end in (found.lower, found.upper):
        assert 2 * n * (end * mean - np.log(end * mean) - 1) == pytest.approx(ROOT**2, rel=1e-6)
    assert 0 < found.lower < 2 < found.upper
    assert found.upper - 2 > 2 - found.lower


def test_open_on_one_side():
    """A stiffness that is large enough cannot be told from a larger one: only 1 / stiffness shows."""

    def solve(index, value, start):
        return 0.5 * 4.0 * (np.exp(-value) - np.exp(-3.0)) ** 2, np.array([value])

    found = profile(solve, np.array([3.0]), 0, step=0.5, tolerance=1e-9)
    assert found.lower == pytest.approx(-np.log(ROOT / 2 + np.exp(-3.0)), abs=1e-7)
    assert found.upper == np.inf
    assert replace(found, name="joint/knee/stiffness").words() == (
        f"95% interval of joint/knee/stiffness: from {found.lower:.6g} and no upper end within bounds"
    )


def test_bounds_are_kept():
    tried = []

    def solve(index, value, start):
        tried.append(value)
        return 0.5 * value**2, np.array([value])

    found = profile(solve, np.array([0.0]), 0, lower=-1.0, upper=2.5)
    assert found.lower == -np.inf
    assert found.upper == pytest.approx(ROOT, rel=1e-3)
    assert min(tried) == -1.0
    assert max(tried) <= 2.5
    at_bound = profile(solve, np.array([0.0]), 0, lower=0.0)
    assert at_bound.lower == -np.inf
    assert "no lower end within bounds to 1.95996" in at_bound.words()


def test_starts_from_the_nearest_solution():
    """Where a solver goes only a little way, the chain of solutions must not be broken."""

    def solve(index, value, start):
        assert abs(value - start[index]) <= 1.0 + 1e-12
        return 0.5 * value**2, np.array([value])

    assert profile(solve, np.array([0.0]), 0, step=0.5).upper == pytest.approx(ROOT, rel=1e-3)


def test_a_better_fit_is_told():
    def solve(index, value, start):
        return 0.05 * (value**2 - 1) ** 2 + 0.1 * value, np.array([value])

    found = profile(solve, np.array([0.944]), 0, step=0.25)
    assert found.better is not None
    assert found.better[0] < 0
    assert solve(0, float(found.better[0]), found.better)[0] == pytest.approx(found.costs.min())
    assert "a better fit was found at -" in str(found)


def test_refusals():
    with pytest.raises(ValueError, match=r"best value 3.0 is not between the bounds -inf and 1.0"):
        profile(exponential(3, 1.0), np.array([3.0]), 0, upper=1.0)
    with pytest.raises(ValueError, match=r"cost at the best value -1.0 is inf"):
        profile(exponential(3, 1.0), np.array([-1.0]), 0)
