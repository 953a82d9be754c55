"""Draws of several Markov chains: what they say of each parameter, and whether there are enough of them.

Vehtari, Gelman, Simpson, Carpenter, Bürkner: Rank-normalization, folding, and localization, Bayesian Analysis 16 (2021).
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class StepSize:
    """Dual averaging (Hoffman and Gelman 2014, equation 6): finds the step at which a wanted share of proposals is accepted."""

    centre: float
    """mu, to which the logarithm of the step is drawn."""
    log_step: float
    log_average: float
    error: float = 0.0
    """Running mean of wanted minus actual acceptance."""
    count: int = 0

    @classmethod
    def begin(cls, step: float) -> "StepSize":
        return cls(float(np.log(10 * step)), float(np.log(step)), float(np.log(step)))

    def updated(self, acceptance: float, wanted: float) -> "StepSize":
        count = self.count + 1
        error = self.error + (wanted - acceptance - self.error) / (count + 10)
        log_step = self.centre - np.sqrt(count) / 0.05 * error
        log_average = self.log_average + count**-0.75 * (log_step - self.log_average)
        return StepSize(self.centre, float(log_step), float(log_average), error, count)


@dataclass(frozen=True)
class Posterior:
    """What the chains visited; also all that is needed to go on."""

    trace: Float[np.ndarray, "chains iterations n"]
    """Every position, those of the warm-up first."""
    warmup: int
    """How many iterations of each chain only served to tune."""
    acceptances: Float[np.ndarray, " iterations"]
    """Mean probability of acceptance in each iteration."""
    positions: Float[np.ndarray, "chains n"]
    """Where the chains are now."""
    factor: Float[np.ndarray, "n n"]
    """Cholesky factor of the covariance by which the parameters are scaled."""
    step: StepSize
    seed: int
    divergences: int = 0
    """Proposals after the warm-up that were lost because the integrator no longer kept the energy."""
    outside: int = 0
    """Proposals after the warm-up that were lost because the density there was zero or not a number."""
    stopped: bool = False
    """Whether it was interrupted."""

    @property
    def draws(self) -> Float[np.ndarray, "chains draws n"]:
        return self.trace[:, self.warmup :]

    @property
    def pooled(self) -> Float[np.ndarray, "all n"]:
        return self.draws.reshape(-1, self.trace.shape[2])

    @property
    def mean(self) -> Float[np.ndarray, " n"]:
        return np.mean(self.pooled, axis=0)

    @property
    def covariance(self) -> Float[np.ndarray, "n n"]:
        return np.cov(self.pooled, rowvar=False).reshape(self.factor.shape)

    @property
    def deviation(self) -> Float[np.ndarray, " n"]:
        return np.std(self.pooled, axis=0, ddof=1)

    def quantiles(self, levels: Float[np.ndarray, " levels"]) -> Float[np.ndarray, "levels n"]:
        return np.quantile(self.pooled, levels, axis=0)

    def intervals(self, level: float = 0.95) -> Float[np.ndarray, "n 2"]:
        """For each parameter the two ends between which it lies with this probability, as much left out below as above."""
        return self.quantiles(np.array([(1 - level) / 2, (1 + level) / 2])).T

    @property
    def acceptance(self) -> float:
        return float(np.mean(self.acceptances[self.warmup :]))

    @property
    def split_rhat(self) -> Float[np.ndarray, " n"]:
        return split_rhat(self.draws)

    @property
    def effective_size(self) -> Float[np.ndarray, " n"]:
        return effective_size(self.draws)

    @property
    def converged(self) -> bool:
        return not self.warnings

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against trusting the draws, and what to do about it."""
        chains, count, _ = self.draws.shape
        if count < 4:
            return (f"only {count} draws after the warm-up: go on sampling",)
        found = []
        rhat, size = self.split_rhat, self.effective_size
        if not np.all(rhat < 1.01):
            worst = int(np.argmax(rhat))
            found.append(
                f"the chains disagree: split R-hat of parameter {worst} is {rhat[worst]:.3f}, above 1.01: draw more; "
                "if that does not help there are several modes, or parameters that the data do not determine"
            )
        if not np.all(size > 400):
            worst = int(np.argmin(size))
            found.append(
                f"few independent draws: {size[worst]:.0f} of parameter {worst}, not 400: draw more, or give a better covariance"
            )
        if self.divergences:
            found.append(
                f"{self.divergences} of {chains * count} proposals diverged, so narrow places of the density may be missing: "
                "raise the wanted acceptance, or count the parameters otherwise (their logarithms)"
            )
        return tuple(found)

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it, for np.savez."""
        step = {f"step_{f.name}": np.array(getattr(self.step, f.name)) for f in fields(StepSize)}
        return step | {f.name: np.asarray(getattr(self, f.name)) for f in fields(Posterior) if f.name != "step"}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "Posterior":
        step = StepSize(**{f.name: arrays[f"step_{f.name}"].item() for f in fields(StepSize)})
        single = {name: arrays[name].item() for name in ("warmup", "seed", "divergences", "outside", "stopped")}
        return cls(
            step=step, **{name: arrays[name] for name in ("trace", "acceptances", "positions", "factor")}, **single
        )


def split_rhat(draws: Float[np.ndarray, "chains draws n"]) -> Float[np.ndarray, " n"]:
    """Root of the variance of all draws over that within half chains (Vehtari et al. 2021, equations 1 to 4); 1 if they agree."""
    within, total = _variances(_halves(draws))
    return np.sqrt(np.divide(total, within, out=np.full_like(total, np.inf), where=within > 0))


def effective_size(draws: Float[np.ndarray, "chains draws n"]) -> Float[np.ndarray, " n"]:
    """How many independent draws would give the mean as precisely (Vehtari et al. 2021, equations 10 to 13)."""
    halves = _halves(draws)
    chains, count, n = halves.shape
    within, total = _variances(halves)
    centred = halves - np.mean(halves, axis=1, keepdims=True)
    spectrum = np.abs(np.fft.rfft(centred, 2 * count, axis=1)) ** 2
    covariance = np.mean(np.fft.irfft(spectrum, axis=1)[:, :count], axis=0) / (count - 1)
    size = np.zeros(n)
    for i in np.flatnonzero(within > 0):
        correlation = 1 - (within[i] - covariance[:, i]) / total[i]
        correlation[0] = 1.0
        # Geyer's initial monotone sequence: sums of neighbours, as far as they are positive, made to fall.
        pairs = correlation[: count // 2 * 2].reshape(-1, 2).sum(axis=1)
        positive = pairs[: np.argmax(pairs < 0)] if np.any(pairs < 0) else pairs
        time = -1 + 2 * np.sum(np.minimum.accumulate(positive))
        size[i] = chains * count / max(time, 1 / np.log10(chains * count))
    return size


def _halves(draws: np.ndarray) -> np.ndarray:
    chains, count, n = draws.shape
    if count < 4:
        raise ValueError(f"each chain has {count} draws; at least 4 are needed to compare its halves")
    return draws[:, : count // 2 * 2].reshape(2 * chains, count // 2, n)


def _variances(halves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Within the chains, and of their union."""
    count = halves.shape[1]
    within = np.mean(np.var(halves, axis=1, ddof=1), axis=0)
    between = np.var(np.mean(halves, axis=1), axis=0, ddof=1)
    return within, (count - 1) / count * within + between
