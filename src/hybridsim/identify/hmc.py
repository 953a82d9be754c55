"""Hamiltonian Monte Carlo with many chains at once: draws from a density of which the logarithm and its gradient are known.

Neal, MCMC using Hamiltonian dynamics (2011); step size by dual averaging, Hoffman and Gelman, JMLR 15 (2014); bounds as walls from
which a path is mirrored, Afshar and Domke, NeurIPS 2015. With the covariance L L^T of the parameters, momenta p are counted so
that the kinetic energy is |p|^2 / 2 and the velocity L p: a covariance close to the posterior's makes all directions alike.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from .chains import Posterior, StepSize

LogDensity = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From points, (chains, n), to the log density at each up to a constant, (chains,), and its gradients, (chains, n)."""

_PATH = np.pi / 2
"""Mean length in time: after a quarter of a period a draw from a Gaussian has forgotten its start."""
_MOST_STEPS = 100
_MOST_HITS = 100
_ENERGY_LOST = 1000.0


@dataclass(frozen=True)
class Walls:
    """Bounds of the parameters."""

    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]

    def contain(self, x: np.ndarray) -> np.ndarray:
        return np.all((x >= self.lower) & (x <= self.upper), axis=1)

    def drift(self, x: np.ndarray, p: np.ndarray, factor: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Straight flight for a time, mirrored at walls. A mirror keeps |p| and volume, as Monte Carlo requires."""
        p, left, each = p.copy(), np.full(len(x), time), np.arange(len(x))
        hit = np.ones(len(x), bool)
        for _ in range(_MOST_HITS):
            v = p @ factor.T
            until = np.where(v == 0, np.inf, np.where(v < 0, self.lower - x, self.upper - x) / v)
            wall = np.argmin(until, axis=1)
            flight = np.minimum(until[each, wall], left)
            hit = until[each, wall] < left
            x = np.clip(x + flight[:, None] * v, self.lower, self.upper)
            if not np.any(hit):
                return x, p
            left = left - flight
            # The wall x_i = constant has the normal L^T e_i, row i of L, where the kinetic energy is |p|^2 / 2.
            normal = factor[wall[hit]]
            along = np.sum(p[hit] * normal, axis=1) / np.sum(normal**2, axis=1)
            p[hit] -= 2 * along[:, None] * normal
            x[hit, wall[hit]] = np.where(v[hit, wall[hit]] < 0, self.lower[wall[hit]], self.upper[wall[hit]])
        x[hit] = np.nan
        return x, p


@dataclass(frozen=True)
class _Points:
    """Where the chains are."""

    x: np.ndarray
    value: np.ndarray
    slope: np.ndarray

    @classmethod
    def at(cls, density: LogDensity, x: np.ndarray) -> "_Points":
        return cls(x, *density(x))

    def where(self, chosen: np.ndarray, other: "_Points") -> "_Points":
        """Self where chosen, the other elsewhere."""
        rows = chosen[:, None]
        return _Points(
            np.where(rows, self.x, other.x),
            np.where(chosen, self.value, other.value),
            np.where(rows, self.slope, other.slope),
        )


@dataclass(frozen=True)
class _Proposal:
    points: _Points
    probability: np.ndarray
    """Of accepting it."""
    diverged: np.ndarray
    outside: np.ndarray


def _proposal(
    density: LogDensity, start: _Points, p: np.ndarray, factor: np.ndarray, walls: Walls, step: float, steps: int
) -> _Proposal:
    """Where leapfrog leads; a chain that diverges or leaves the density's support stops and is rejected."""
    energy = np.sum(p**2, axis=1) / 2 - start.value
    now, error = start, np.zeros(len(p))
    diverged, outside = np.zeros(len(p), bool), np.zeros(len(p), bool)
    for _ in range(steps):
        x, half = walls.drift(now.x, p + step / 2 * now.slope @ factor, factor, step)
        trial = _Points.at(density, x)
        p_trial = half + step / 2 * trial.slope @ factor
        error_trial = np.sum(p_trial**2, axis=1) / 2 - trial.value - energy
        going = ~(diverged | outside)
        outside |= going & ~np.isfinite(error_trial)
        diverged |= going & (error_trial > _ENERGY_LOST) & ~outside
        going = ~(diverged | outside)
        now = trial.where(going, now)
        p, error = np.where(going[:, None], p_trial, p), np.where(going, error_trial, error)
        if not np.any(going):
            break
    probability = np.where(diverged | outside, 0.0, np.exp(np.minimum(-error, 0.0)))
    return _Proposal(now, probability, diverged, outside)


def sample(
    density: LogDensity,
    start: Float[np.ndarray, "chains n"] | Posterior,
    covariance: Float[np.ndarray, "n n"] | None = None,
    draws: int = 500,
    warmup: int = 300,
    seed: int = 0,
    lower: Float[np.ndarray, " n"] | None = None,
    upper: Float[np.ndarray, " n"] | None = None,
    acceptance: float = 0.9,
    seen: Callable[[Posterior], None] = lambda posterior: None,
) -> Posterior:
    """So many draws of every chain, after a warm-up that tunes the step and improves the covariance.

    Where the density is -inf or NaN nothing is drawn. Given what an interrupted call returned or `seen` was told, it goes on as
    if it had never stopped, or beyond, to as many draws as are asked for now; covariance, warm-up and seed are those of before.
    """
    posterior = start if isinstance(start, Posterior) else _begun(start, covariance, warmup, seed)
    chains, done, n = posterior.trace.shape
    walls = Walls(np.full(n, -np.inf) if lower is None else lower, np.full(n, np.inf) if upper is None else upper)
    coming = max(0, posterior.warmup + draws - done)
    # Room for all that comes; a posterior sees the part that is filled, which never changes again.
    trace = np.concatenate([posterior.trace, np.empty((chains, coming, n))], axis=1)
    acceptances = np.concatenate([posterior.acceptances, np.empty(coming)])
    posterior = replace(posterior, stopped=False)
    try:
        with np.errstate(all="ignore"):  # What is not finite is rejected.
            now = _checked(density, posterior.positions, walls)
            for _ in range(coming):
                now, posterior = _iteration(density, now, posterior, walls, acceptance, trace, acceptances)
                seen(posterior)
    except KeyboardInterrupt:
        return replace(posterior, stopped=True)
    return posterior


def _begun(start: np.ndarray, covariance: np.ndarray | None, warmup: int, seed: int) -> Posterior:
    chains, n = start.shape
    factor = np.eye(n) if covariance is None else np.linalg.cholesky(covariance)
    return Posterior(np.empty((chains, 0, n)), warmup, np.empty(0), start, factor, StepSize.begin(n**-0.25), seed)


def _checked(density: LogDensity, x: np.ndarray, walls: Walls) -> _Points:
    points = _Points.at(density, x)
    finite = np.isfinite(points.value) & np.all(np.isfinite(points.slope), axis=1)
    for good, where in ((walls.contain(x), "outside of the bounds"), (finite, "where the density is not finite")):
        if not np.all(good):
            chain = int(np.argmin(good))
            raise ValueError(
                f"{np.sum(~good)} of {len(x)} chains start {where}, such as chain {chain} at {x[chain]}; start elsewhere"
            )
    return points


def _iteration(
    density: LogDensity,
    now: _Points,
    before: Posterior,
    walls: Walls,
    wanted: float,
    trace: np.ndarray,
    acceptances: np.ndarray,
) -> tuple[_Points, Posterior]:
    """One draw of every chain, written into the trace."""
    i = before.trace.shape[1]
    tuning = i < before.warmup
    # A generator for each iteration: seed and iteration are all that has to be remembered of chance.
    rng = np.random.default_rng([before.seed, i])
    # Paths of random length, because one of fixed length may always come back to where it began; steps of random length, because
    # a chain in a narrow place may need smaller ones than are good elsewhere.
    length = _PATH * rng.uniform(0.5, 1.5)
    longest = np.exp(before.step.log_step if tuning else before.step.log_average)
    step = float(min(longest * rng.uniform(0.4, 1.0), length))
    steps = min(int(np.ceil(length / step)), _MOST_STEPS)
    p = rng.standard_normal(now.x.shape)
    proposal = _proposal(density, now, p, before.factor, walls, step, steps)
    now = proposal.points.where(rng.uniform(size=len(p)) < proposal.probability, now)
    trace[:, i], acceptances[i] = now.x, np.mean(proposal.probability)
    # A smaller step would not keep a path inside of the support; only where all left it, the step may be the reason.
    inside = proposal.probability[~proposal.outside]
    reached = float(np.mean(inside)) if len(inside) else 0.0
    after = replace(before, trace=trace[:, : i + 1], acceptances=acceptances[: i + 1], positions=now.x)
    if not tuning:
        lost, outside = int(np.sum(proposal.diverged)), int(np.sum(proposal.outside))
        return now, replace(after, divergences=before.divergences + lost, outside=before.outside + outside)
    return now, _tuned(replace(after, step=before.step.updated(reached, wanted)))


def _tuned(posterior: Posterior) -> Posterior:
    """At half and at seven eighths of the warm-up, the covariance from the latest half of the draws of all chains."""
    i, warmup = posterior.trace.shape[1], posterior.warmup
    latest = posterior.trace[:, i // 2 :].reshape(-1, posterior.factor.shape[0])
    count, n = latest.shape
    if i not in (warmup // 2, warmup * 7 // 8) or count < 2:
        return posterior
    found = np.cov(latest, rowvar=False).reshape(n, n)
    # What was known before counts as n draws, so that few draws, or chains that stand still, give no singular matrix.
    covariance = (count * found + n * posterior.factor @ posterior.factor.T) / (count + n)
    step = StepSize.begin(float(np.exp(posterior.step.log_average)))
    return replace(posterior, factor=np.linalg.cholesky(covariance), step=step)
