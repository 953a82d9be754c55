"""Parameters as a Gaussian mixture that is fitted online, while samples of a motion arrive.

Heiden, Millard, Sukhatme: Real2Sim Transfer using Differentiable Physics (2020), section IV. First only the first samples of every
window are known, then more. What few samples leave open, the kernels show; more samples make them narrow.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from ..contact import Contact
from ..data.log import Trajectory
from ..model import Model
from ..simulate import Integrator, SemiImplicitEuler
from .free import Free
from .losses import Huber, Loss
from .measured import Compare
from .mixture import Evidence, ExpectedLoss, FittedMixture, Mixture, fit_mixture
from .parameters import Parameters
from .prepare import prepare
from .problem import Problem


@dataclass(frozen=True)
class MixtureEstimate:
    """The mixture at the start and after every epoch. Arrays are in the units of the parameters."""

    names: tuple[str, ...]
    observed: Int[np.ndarray, " epochs"]
    """How many samples of each window were known in each epoch."""
    losses: Float[np.ndarray, " epochs"]
    """The objective, estimated from the samples of each epoch."""
    weights: Float[np.ndarray, "states kernels"]
    means: Float[np.ndarray, "states kernels size"]
    deviations: Float[np.ndarray, "states kernels size"]
    """Of each kernel, to first order."""
    fitted: FittedMixture = field(repr=False)
    """In the coordinates of the search; to go on from."""
    parameters: Parameters = field(repr=False)

    def sample(self, count: int, seed: int = 0) -> Float[np.ndarray, "count size"]:
        """Parameters drawn from the last mixture, such as for domain randomisation."""
        lower, upper = self.parameters.bounds()
        drawn = np.clip(self.fitted.mixture.sample(np.random.default_rng(seed), count), lower, upper)
        return np.array([self.parameters.values(z) for z in drawn])

    def moments(self, epoch: int = -1) -> tuple[Float[np.ndarray, " size"], Float[np.ndarray, " size"]]:
        """Mean and standard deviation of each parameter under the whole mixture after so many epochs."""
        weights, means, deviations = self.weights[epoch], self.means[epoch], self.deviations[epoch]
        mean = weights @ means
        return mean, np.sqrt(weights @ (deviations**2 + (means - mean) ** 2))

    @property
    def mean(self) -> Float[np.ndarray, " size"]:
        """At the end."""
        return self.moments()[0]

    @property
    def deviation(self) -> Float[np.ndarray, " size"]:
        """At the end."""
        return self.moments()[1]


def estimate_mixture(
    model: Model,
    logs: Trajectory | Sequence[Trajectory],
    free: str | Free | Sequence[str | Free],
    arriving: Sequence[int],
    *,
    window: float,
    compare: Compare,
    kernels: int = 3,
    epochs: int = 80,
    samples: int = 64,
    learning_rate: float = 0.2,
    objective: Literal["evidence", "paper"] = "evidence",
    loss: Loss = Huber(3.0),
    stride: float | None = None,
    dt: float | None = None,
    substeps: int = 1,
    integrator: Integrator = SemiImplicitEuler(),
    contact: Contact | Literal["auto"] | None = "auto",
    start: MixtureEstimate | None = None,
    seed: int = 0,
    seen: Callable[[int, float], None] = lambda observed, loss: None,
) -> MixtureEstimate:
    """A mixture of Gaussian kernels over the free parameters, after so many `epochs` with each number of samples `arriving`.

    Windows begin as measured. `compare` says how large the noise is, {"position": 1e-3}: the "evidence" weighs it against
    the width of the kernels, which so become those of the posterior; the objective of the "paper" has no such weight, and
    its kernels shrink for ever. Kernels begin at random between the bounds, which everything free needs; `start`, an earlier
    estimate, goes on instead. `samples` of the mixture are simulated in every epoch. Ctrl-C returns the estimate until then.
    """
    if not isinstance(compare, Mapping):
        raise ValueError(f"compare is {compare!r}; a mixture needs to know the noise: {{'position': 1e-3}}")
    options = {"window": window, "stride": stride, "dt": dt, "substeps": substeps, "compare": compare}
    options |= {"start": "measured", "loss": loss, "integrator": integrator, "contact": contact}
    problem = prepare(model, logs, free, **options)
    _check_samples(arriving, problem.data.steps)
    fitted = FittedMixture.begin(_anywhere(problem, kernels, seed), seed) if start is None else start.fitted
    observed = [] if start is None else start.observed.tolist()
    method = Evidence() if objective == "evidence" else ExpectedLoss()
    for count in arriving:
        known = problem.with_data(problem.data.shortened(int(count)))
        fitted = fit_mixture(
            _loss(known),
            fitted,
            epochs,
            samples,
            learning_rate,
            method,
            correlated=objective == "evidence",
            seen=lambda fit, count=count: seen(int(count), fit.losses[-1]),
        )
        observed += [int(count)] * (len(fitted.losses) - len(observed))
        if fitted.stopped:
            break
    return _estimate(problem.parameters, fitted, np.array(observed, dtype=int))


def _check_samples(arriving: Sequence[int], most: int) -> None:
    if not len(arriving) or min(arriving) < 1 or max(arriving) > most:
        raise ValueError(f"samples arriving are {list(arriving)}; give numbers from 1 to the {most} steps of a window")


def _anywhere(problem: Problem, kernels: int, seed: int) -> Mixture:
    """Kernels of equal weight at random between the bounds, together about as wide as these are apart."""
    lower, upper = problem.bounds()
    for name, a, b in zip(problem.parameters.names, lower, upper, strict=True):
        if not (np.isfinite(a) and np.isfinite(b)):
            raise ValueError(f"a mixture needs bounds, but {name} has none: hs.Free({name!r}, lower=..., upper=...)")
    rng = np.random.default_rng([seed, kernels])
    means = rng.uniform(lower + 0.2 * (upper - lower), upper - 0.2 * (upper - lower), (kernels, problem.size))
    return Mixture.independent(np.full(kernels, 1 / kernels), means, np.tile((upper - lower) / 8, (kernels, 1)))


def _loss(problem: Problem) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The cost at many points; beyond a bound that of the bound, and more with the square of the distance."""
    lower, upper = problem.bounds()
    flank = 0.02 * (upper - lower)

    def loss(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inside = np.clip(z, lower, upper)
        costs, slopes, _ = problem.gradients(inside, np.zeros((len(z), len(problem.data), 0)))
        beyond = (z - inside) / flank
        return costs + 0.5 * np.sum(beyond**2, axis=1), np.where(beyond == 0, slopes, beyond / flank)

    return loss


def _estimate(parameters: Parameters, fitted: FittedMixture, observed: np.ndarray) -> MixtureEstimate:
    lower, upper = parameters.bounds()
    inside = [np.clip(mixture.means, lower, upper) for mixture in fitted.history]
    means = np.array([[parameters.values(z) for z in rows] for rows in inside])
    slopes = np.array([[parameters.slopes(z) for z in rows] for rows in inside])
    spread = np.einsum("ekij,ekjl->ekil", slopes, np.array([mixture.factors for mixture in fitted.history]))
    deviations = np.sqrt(np.sum(spread**2, axis=-1))
    weights = np.array([mixture.weights for mixture in fitted.history])
    losses = np.array(fitted.losses, dtype=float)
    return MixtureEstimate(parameters.names, observed, losses, weights, means, deviations, fitted, parameters)
