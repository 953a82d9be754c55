"""How sure a fit is, beyond the curvature at its end: samples of the posterior, and profiles of the likelihood."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from .blas import one_thread
from .chains import Posterior
from .hmc import sample
from .levenberg_marquardt import Point, search
from .profile import Profile, profile
from .result import Fit


@dataclass(frozen=True)
class Samples:
    """Draws of the parameters, in their units, of several chains."""

    names: tuple[str, ...]
    values: Float[np.ndarray, "chains draws size"]
    chains: Posterior
    """In search coordinates, with the windows' own numbers; says whether the chains agree."""

    @property
    def mean(self) -> Float[np.ndarray, " size"]:
        return self.values.mean(axis=(0, 1))

    @property
    def deviation(self) -> Float[np.ndarray, " size"]:
        return self.values.reshape(-1, len(self.names)).std(axis=0)

    def intervals(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Between which a share `level` of the draws lies, the same share on both sides."""
        ends = np.quantile(self.values.reshape(-1, len(self.names)), [(1 - level) / 2, (1 + level) / 2], axis=0)
        return {name: (float(a), float(b)) for name, a, b in zip(self.names, *ends, strict=True)}


@one_thread
def sample_posterior(fit: Fit, draws: int = 300, warmup: int = 200, chains: int = 8, seed: int = 0) -> Samples:
    """Hamiltonian Monte Carlo around a fit, on native gradients, all chains at once.

    Noise of unknown level is taken as that of the residuals. Starts of windows are drawn along with the parameters.
    """
    problem, point = _live(fit)
    z, s = point.z, point.s
    level = _level(fit)
    problem = problem.scaled(1 / level)
    normal = problem.normal(z, s)
    n, own = problem.size, s.size
    whole = np.zeros((n + own, n + own))
    whole[:n, :n] = normal.A
    m = problem.own
    for w in range(len(s)):
        rows = slice(n + w * m, n + (w + 1) * m)
        whole[:n, rows], whole[rows, :n], whole[rows, rows] = normal.B[w], normal.B[w].T, normal.C[w]
    scale = np.sqrt(np.maximum(np.diag(whole), 1e-12))
    values, vectors = np.linalg.eigh(whole / np.outer(scale, scale))
    covariance = (vectors / np.maximum(values, 1e-10)) @ vectors.T / np.outer(scale, scale)
    rng = np.random.default_rng([seed, 1])
    lower, upper = problem.bounds()
    free = np.full(own, np.inf)
    first = np.concatenate([z, s.ravel()])
    spread = np.linalg.cholesky((covariance + covariance.T) / 2 + 1e-14 * np.diag(np.diag(covariance)))
    start = first + rng.standard_normal((chains, n + own)) @ spread.T
    start[:, :n] = np.clip(start[:, :n], lower, upper)

    def density(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        costs, by_z, by_s = problem.gradients(points[:, :n], points[:, n:].reshape(len(points), *s.shape))
        return -costs, -np.concatenate([by_z, by_s.reshape(len(points), own)], axis=1)

    ends = np.concatenate([lower, -free]), np.concatenate([upper, free])
    found = sample(density, start, covariance, draws, warmup, seed, *ends)
    physical = np.array([[problem.parameters.values(row[:n]) for row in chain] for chain in found.draws])
    return Samples(problem.parameters.names, physical, found)


@one_thread
def profile_likelihood(fit: Fit, name: str, level: float = 0.95, iterations: int = 30) -> Profile:
    """The interval of one parameter in which the cost, everything else fitted anew, stays within what noise explains.

    Wider than the Gauss-Newton interval where the cost is no parabola. Ends and grid are in the parameter's unit.
    """
    problem, point = _live(fit)
    names = problem.parameters.names
    if name not in names:
        raise KeyError(f"no parameter {name!r} was fitted; there are: {', '.join(names)}")
    index, size = names.index(name), problem.size
    problem = problem.scaled(1 / _level(fit))
    lower, upper = problem.bounds()

    def solve(index: int, value: float, start: np.ndarray) -> tuple[float, np.ndarray]:
        z = start[:size].copy()
        z[index] = value
        try:
            held = Point(z, start[size:].reshape(point.s.shape))
            ended = search(problem, held, iterations, held=(index,))
        except FloatingPointError:
            return np.inf, start
        return ended.cost, np.concatenate([ended.z, ended.s.ravel()])

    best = np.concatenate([point.z, point.s.ravel()])
    normal = problem.normal(point.z, point.s).of_parameters()[0]
    step = float(np.sqrt(np.linalg.pinv(normal)[index, index]))
    found = profile(solve, best, index, level, lower=lower[index], upper=upper[index], step=step)

    def physical(value: float) -> float:
        return float(problem.parameters.values(np.where(np.arange(size) == index, value, point.z))[index])

    ends = {end: physical(getattr(found, end)) for end in ("best", "lower", "upper")}
    return replace(found, name=name, grid=np.array([physical(v) for v in found.grid]), **ends)


def _live(fit: Fit):
    if fit.problem is None or fit.point is None:
        raise ValueError("this fit was loaded from a folder, without its logs; fit again, then ask how sure it is")
    return fit.problem, fit.point


def _level(fit: Fit) -> float:
    """By which residuals are divided to have the variance 1."""
    return max(fit.noise, 1e-300) if fit.estimated_noise else 1.0
