"""The search finds what SciPy finds, with bounds, with numbers of each window's own, and through bad trials."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.optimize import least_squares

from hybridsim.identify.levenberg_marquardt import Point, search
from hybridsim.identify.normal import Normal

RNG = np.random.default_rng(0)
T = np.linspace(0, 3, 30)
INF = np.full(2, np.inf)


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


@dataclass
class Decays:
    """With limits, and a region without finite values."""

    lower: np.ndarray = field(default_factory=lambda: -INF)
    upper: np.ndarray = field(default_factory=lambda: INF)
    wall: float = np.inf

    def bounds(self):
        return self.lower, self.upper

    def residuals(self, z, s):
        return decays(z, s)[0] - DATA

    def cost(self, z, s):
        return np.inf if z[1] > self.wall else 0.5 * float(np.sum(self.residuals(z, s) ** 2))

    def normal(self, z, s):
        y, J, K = decays(z, s)
        r, Kt = y - DATA, K.transpose(0, 2, 1)
        A, g = np.einsum("wnp,wnq->pq", J, J), np.einsum("wnp,wn->p", J, r)
        return Normal(self.cost(z, s), A, g, (Kt @ J).transpose(0, 2, 1), Kt @ K, (Kt @ r[..., None])[..., 0])


def begin(z=(1.0, 2.5)):
    return Point(np.array(z), np.tile([1.0, 0.0], (6, 1)))


def scipys(problem):
    start = np.concatenate([np.clip(begin().z, *problem.bounds()), begin().s.ravel()])
    wide = np.full(12, np.inf)
    bounds = np.concatenate([problem.lower, -wide]), np.concatenate([problem.upper, wide])

    def residuals(x):
        return problem.residuals(x[:2], x[2:].reshape(6, 2)).ravel()

    return least_squares(residuals, start, bounds=bounds, xtol=1e-14, ftol=1e-14, gtol=1e-14)


@pytest.mark.parametrize("lower", [-INF, np.array([0.6, -np.inf])], ids=["free", "at a bound"])
def test_it_finds_the_least_squares_of_all_numbers_together(lower):
    problem = Decays(lower)
    point = search(problem, begin(), tolerance=1e-12)
    found = scipys(problem)
    np.testing.assert_allclose(point.z, found.x[:2], rtol=1e-6)
    np.testing.assert_allclose(point.s.ravel(), found.x[2:], rtol=1e-5, atol=1e-7)
    assert point.cost == pytest.approx(found.cost, rel=1e-10)
    assert point.done


def test_a_wall_of_infinite_cost_is_gone_around():
    free, walled = search(Decays(), begin()), search(Decays(wall=3.05), begin((1.0, 3.04)))
    np.testing.assert_allclose(walled.z, free.z, rtol=1e-4)


def test_what_is_held_stays_and_the_rest_is_the_best_for_it():
    held = search(Decays(), begin((1.0, 3.1)), held=(1,))
    assert held.z[1] == 3.1
    bound = Decays(np.array([-np.inf, 3.1]), np.array([np.inf, 3.1]))
    np.testing.assert_allclose(held.z[0], search(bound, begin((1.0, 3.1))).z[0], rtol=1e-5)


def test_it_goes_on_from_any_point_to_the_same_end():
    seen: list[Point] = []
    whole = search(Decays(), begin(), seen=seen.append)
    for point in seen[:-1]:
        again = search(Decays(), point)
        np.testing.assert_array_equal(again.z, whole.z)
        np.testing.assert_array_equal(again.s, whole.s)
        assert again.iteration == whole.iteration
    costs = [point.cost for point in seen]
    assert costs == sorted(costs, reverse=True)


def test_nothing_to_begin_with_is_an_error():
    with pytest.raises(FloatingPointError, match="not finite"):
        search(Decays(wall=2.0), begin())


def test_joined_windows_are_solved_as_one_system():
    """Blocks between windows: against a dense matrix."""
    rng = np.random.default_rng(1)
    J, K = rng.standard_normal((3, 10, 2)), rng.standard_normal((3, 10, 2))
    L = rng.standard_normal((2, 5, 4))
    r, jump = rng.standard_normal((3, 10)), rng.standard_normal((2, 5))
    dense = np.zeros((40, 8))
    for w in range(3):
        dense[10 * w : 10 * w + 10, :2], dense[10 * w : 10 * w + 10, 2 + 2 * w : 4 + 2 * w] = J[w], K[w]
    for k in range(2):
        dense[30 + 5 * k : 35 + 5 * k, 2 + 2 * k : 6 + 2 * k] = L[k]
    right = np.concatenate([r.ravel(), jump.ravel()])
    H, g = dense.T @ dense, dense.T @ right
    blocks = [H[2 + 2 * w : 4 + 2 * w, 2 + 2 * w : 4 + 2 * w] for w in range(3)]
    B = np.stack([H[:2, 2 + 2 * w : 4 + 2 * w] for w in range(3)])
    E = {(k, k + 1): H[2 + 2 * k : 4 + 2 * k, 4 + 2 * k : 6 + 2 * k] for k in range(2)}
    normal = Normal(1.0, H[:2, :2], g[:2], B, np.stack(blocks), g[2:].reshape(3, 2), E)
    dz, ds, promised = normal.step(0.0, np.zeros(2, bool))
    full = -np.linalg.solve(H, g)
    np.testing.assert_allclose(np.concatenate([dz, ds.ravel()]), full, rtol=1e-9)
    assert promised == pytest.approx(-0.5 * g @ full, rel=1e-9)
    np.testing.assert_allclose(np.linalg.inv(normal.of_parameters()[0]), np.linalg.inv(H)[:2, :2], rtol=1e-6)
