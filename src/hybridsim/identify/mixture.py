"""A Gaussian mixture over parameters, fitted to a loss by its gradient; more may be observed between rounds.

After Heiden, Millard, Sukhatme: Real2Sim Transfer using Differentiable Physics (2020), section IV. A kernel k has a weight
phi_k, a mean mu_k and a covariance L_k L_k^T. There are two objectives to choose from:

- `ExpectedLoss`, the paper's: the mean loss of samples of the mixture. Nothing keeps the kernels wide, so they shrink to points.
- `Evidence`, the default: the mean loss plus the mean of log q, where q is the mixture's density. Where the loss is the
  negative log of a posterior, its minimum is the mixture closest to that posterior, and the deviations mean what they say.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

Loss = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From samples of the parameters, (samples, n), to the loss of each, (samples,), and its gradients, (samples, n)."""


@dataclass(frozen=True)
class Mixture:
    """Sum of Gaussian kernels."""

    weights: Float[np.ndarray, " kernels"]
    means: Float[np.ndarray, "kernels n"]
    factors: Float[np.ndarray, "kernels n n"]
    """L_k, lower triangular with positive diagonal: the covariance of kernel k is L_k L_k^T."""

    def __post_init__(self):
        if np.any(self.weights <= 0) or abs(np.sum(self.weights) - 1) > 1e-9:
            raise ValueError(f"the weights of a mixture are positive and sum to 1; found {self.weights}")
        if not np.all(np.einsum("kii->ki", self.factors) > 0) or np.any(np.triu(self.factors, 1)):
            raise ValueError(
                f"factors are lower triangular with positive diagonals; found {self.factors}; "
                "Mixture.independent makes them from deviations, np.linalg.cholesky from covariances"
            )

    @classmethod
    def independent(
        cls,
        weights: Float[np.ndarray, " kernels"],
        means: Float[np.ndarray, "kernels n"],
        deviations: Float[np.ndarray, "kernels n"],
    ) -> "Mixture":
        """Kernels whose parameters are not correlated, as in the paper."""
        return cls(weights, means, deviations[:, :, None] * np.eye(means.shape[1]))

    @property
    def deviations(self) -> Float[np.ndarray, "kernels n"]:
        """Standard deviation of each parameter within each kernel."""
        return np.sqrt(np.sum(self.factors**2, axis=2))

    @property
    def mean(self) -> Float[np.ndarray, " n"]:
        return self.weights @ self.means

    @property
    def covariance(self) -> Float[np.ndarray, "n n"]:
        """Of the whole: within kernels and between their means."""
        apart = self.means - self.mean
        within = self.factors @ self.factors.transpose(0, 2, 1)
        return np.einsum("k,kij->ij", self.weights, within + apart[:, :, None] * apart[:, None, :])

    @property
    def deviation(self) -> Float[np.ndarray, " n"]:
        """Standard deviation of each parameter under the whole mixture."""
        return np.sqrt(np.diag(self.covariance))

    def sample(self, rng: np.random.Generator, count: int) -> Float[np.ndarray, "count n"]:
        kernel = rng.choice(len(self.weights), count, p=self.weights)
        noise = rng.standard_normal((count, self.means.shape[1]))
        return self.means[kernel] + np.einsum("sij,sj->si", self.factors[kernel], noise)

    def log_density(self, theta: Float[np.ndarray, "samples n"]) -> Float[np.ndarray, " samples"]:
        return self._log_density_and_slope(theta)[0]

    def _log_density_and_slope(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        whitened = np.linalg.solve(self.factors, (theta - self.means[:, None]).transpose(0, 2, 1))
        height = np.sum(np.log(np.einsum("kii->ki", self.factors)), axis=1) + theta.shape[1] / 2 * np.log(2 * np.pi)
        joint = np.log(self.weights)[:, None] - height[:, None] - np.sum(whitened**2, axis=1) / 2
        back = np.linalg.solve(self.factors.transpose(0, 2, 1), whitened)
        return np.logaddexp.reduce(joint, axis=0), -np.einsum("ks,kis->si", _softmax(joint), back)


@dataclass(frozen=True)
class Slopes:
    """An objective, estimated from samples, and its derivatives."""

    value: float
    log_weights: Float[np.ndarray, " kernels"]
    means: Float[np.ndarray, "kernels n"]
    factors: Float[np.ndarray, "kernels n n"]


@dataclass(frozen=True)
class ExpectedLoss:
    """The paper's objective, E[loss(theta)], by Gumbel-softmax: theta = sum_k gamma_k (mu_k + L_k e_k)."""

    temperature: float = 2 / 3
    """lambda: the smaller, the closer is gamma to the choice of one kernel, and the noisier are the derivatives."""

    def slopes(self, mixture: Mixture, loss: Loss, samples: int, rng: np.random.Generator) -> Slopes:
        noise = rng.standard_normal((len(mixture.weights), samples, mixture.means.shape[1]))
        gumbel = rng.gumbel(size=(len(mixture.weights), samples))
        gamma = _softmax((np.log(mixture.weights)[:, None] + gumbel) / self.temperature)
        points = _points(mixture, noise)
        theta = np.einsum("ks,ksi->si", gamma, points)
        values, gradients, finite = _evaluated(loss, theta)
        share = finite / np.sum(finite)
        # d gamma_k / d log phi_j = gamma_k (delta_kj - gamma_j) / lambda; summed over k with the kernels' points x_k,
        # d theta / d log phi_j = gamma_j (x_j - theta) / lambda.
        log_weights = np.einsum("s,ks,si,ksi->k", share, gamma, gradients, points - theta) / self.temperature
        pull = np.einsum("s,ks,si->ksi", share, gamma, gradients)
        return Slopes(float(share @ values), log_weights, np.sum(pull, axis=1), _of_factors(pull, noise))

    def units(self, history: tuple[Mixture, ...]) -> np.ndarray:
        """Means are moved in units of the start, because the kernels shrink before the means arrive."""
        return history[0].factors


@dataclass(frozen=True)
class Evidence:
    """E[loss(theta) + log q(theta)]: the negative evidence lower bound, from samples of every kernel.

    The expectation over kernels is their weighted sum, so nothing is relaxed: samples between two kernels, which Gumbel-softmax
    makes, belong to no density that could be written down, and shift the weights. The derivative of log q with respect
    to the mixture at a fixed theta has mean zero and is left out (Roeder, Wu, Duvenaud: Sticking the Landing, 2017); then the
    derivatives have no noise at all where q is the posterior.
    """

    def slopes(self, mixture: Mixture, loss: Loss, samples: int, rng: np.random.Generator) -> Slopes:
        kernels, n = mixture.means.shape
        noise = rng.standard_normal((kernels, max(1, samples // kernels), n))
        theta = _points(mixture, noise).reshape(-1, n)
        values, gradients, finite = _evaluated(loss, theta)
        log_q, slope_q = mixture._log_density_and_slope(theta)
        finite = finite.reshape(noise.shape[:2])
        share = finite / np.maximum(np.sum(finite, axis=1, keepdims=True), 1)
        of_kernel = np.sum(share * (values + log_q).reshape(share.shape), axis=1)
        value = mixture.weights @ of_kernel
        pull = (mixture.weights[:, None] * share)[:, :, None] * (gradients + slope_q).reshape(noise.shape)
        log_weights = mixture.weights * (of_kernel - value)
        return Slopes(float(value), log_weights, np.sum(pull, axis=1), _of_factors(pull, noise))

    def units(self, history: tuple[Mixture, ...]) -> np.ndarray:
        """Means are moved in units of their own kernel: however narrow the posterior is, steps fit it."""
        return history[-1].factors


def _softmax(logits: np.ndarray) -> np.ndarray:
    """Along the first axis."""
    powers = np.exp(logits - logits.max(axis=0))
    return powers / powers.sum(axis=0)


def _points(mixture: Mixture, noise: np.ndarray) -> np.ndarray:
    return mixture.means[:, None] + np.einsum("kij,ksj->ksi", mixture.factors, noise)


def _of_factors(pull: np.ndarray, noise: np.ndarray) -> np.ndarray:
    return np.tril(np.einsum("ksi,ksj->kij", pull, noise))


def _evaluated(loss: Loss, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, gradients, and which samples count: a sample whose loss is not finite tells nothing."""
    values, gradients = loss(theta)
    finite = np.isfinite(values) & np.all(np.isfinite(gradients), axis=1)
    if not np.any(finite):
        raise FloatingPointError(
            f"the loss is finite at none of {len(theta)} samples of the mixture; begin with smaller deviations or elsewhere"
        )
    return np.where(finite, values, 0.0), np.where(finite[:, None], gradients, 0.0), finite


@dataclass(frozen=True)
class FittedMixture:
    """Where a fit stands; all that is needed to go on."""

    history: tuple[Mixture, ...]
    """From the start on, one for each epoch."""
    losses: tuple[float, ...]
    """The objective of every mixture but the last."""
    first: Float[np.ndarray, "kernels numbers"]
    """Adam's running mean of the derivatives."""
    second: Float[np.ndarray, "kernels numbers"]
    """Adam's running mean of their squares."""
    seed: int
    stopped: bool = False
    """Whether it was interrupted."""

    @property
    def mixture(self) -> Mixture:
        return self.history[-1]

    @classmethod
    def begin(cls, start: Mixture, seed: int) -> "FittedMixture":
        kernels, n = start.means.shape
        moments = np.zeros((kernels, 1 + n + n * n))
        return cls((start,), (), moments, moments, seed)

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it, for np.savez."""
        stacked = {name: np.stack([getattr(m, name) for m in self.history]) for name in _FIELDS}
        return stacked | {
            "losses": np.array(self.losses, dtype=float),
            "first": self.first,
            "second": self.second,
            "seed": np.array(self.seed),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "FittedMixture":
        history = tuple(Mixture(*each) for each in zip(*(arrays[name] for name in _FIELDS), strict=True))
        losses = tuple(map(float, arrays["losses"]))
        return cls(history, losses, arrays["first"], arrays["second"], int(arrays["seed"]))


_FIELDS = ("weights", "means", "factors")


def fit_mixture(
    loss: Loss,
    start: Mixture | FittedMixture,
    epochs: int = 300,
    samples: int = 64,
    learning_rate: float = 0.2,
    objective: ExpectedLoss | Evidence = Evidence(),
    correlated: bool = True,
    seed: int = 0,
    seen: Callable[[FittedMixture], None] = lambda fit: None,
) -> FittedMixture:
    """So many epochs of Adam, each on new samples of the mixture.

    Given what an earlier call returned, it goes on from there (the seed is that of the first call): with the same loss as if it
    had never stopped, with a new one as more is observed. `samples` is how often the loss is evaluated in an epoch. With
    `correlated=False` the kernels keep to the axes, as in the paper; then correlated parameters get too small deviations.
    """
    fit = start if isinstance(start, FittedMixture) else FittedMixture.begin(start, seed)
    fit = replace(fit, stopped=False)
    try:
        for _ in range(epochs):
            # A generator for each epoch: seed and epoch are all that has to be remembered of chance.
            rng = np.random.default_rng([fit.seed, len(fit.losses)])
            slopes = objective.slopes(fit.mixture, loss, samples, rng)
            fit = _updated(fit, slopes, objective.units(fit.history), learning_rate, correlated)
            seen(fit)
    except KeyboardInterrupt:
        return replace(fit, stopped=True)
    return fit


def _updated(
    fit: FittedMixture, slopes: Slopes, units: np.ndarray, learning_rate: float, correlated: bool
) -> FittedMixture:
    """One step of Adam (Kingma and Ba 2015, algorithm 1) in coordinates in which steps of all parameters are alike.

    log phi <- log phi + a,  mu <- mu + U b,  L <- L C with C lower triangular, its diagonal exp(c_ii), below it c_ij.
    """
    old = fit.mixture
    kernels, n = old.means.shape
    means = np.einsum("kji,kj->ki", units, slopes.means)
    factors = np.einsum("kji,kjl->kil", old.factors, slopes.factors) * (np.tri(n) if correlated else np.eye(n))
    gradient = np.concatenate([slopes.log_weights[:, None], means, factors.reshape(kernels, n * n)], axis=1)
    # The derivatives fall by orders of magnitude as kernels shrink; with Adam's usual memory of 1000 epochs they would seem zero.
    keep, epoch = 0.8, len(fit.losses) + 1
    first = keep * fit.first + (1 - keep) * gradient
    second = keep * fit.second + (1 - keep) * gradient**2
    # Weights and factors learn slower: a kernel that shrinks as fast as it moves comes to rest before it arrives.
    pace = learning_rate * np.concatenate([[0.2], np.ones(n), np.full(n * n, 0.2)])
    grown = 1 - keep**epoch
    step = -pace * (first / grown) / (np.sqrt(second / grown) + 1e-12)
    change = step[:, 1 + n :].reshape(kernels, n, n)
    diagonal = np.exp(np.einsum("kii->ki", change))[:, :, None] * np.eye(n)
    new = Mixture(
        weights=_softmax(np.maximum(np.log(_softmax(np.log(old.weights) + step[:, 0])), -30.0)),
        means=old.means + np.einsum("kij,kj->ki", units, step[:, 1 : 1 + n]),
        factors=old.factors @ (np.tril(change, -1) + diagonal),
    )
    return replace(fit, history=(*fit.history, new), losses=(*fit.losses, slopes.value), first=first, second=second)
