"""Training by Adam, on native gradients, with proximal steps for what is to vanish exactly."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from .flat import Flat, Free
from .sparsity import Penalty

Loss = Callable[[Any, Any], Any]
"""loss(model, example): one number."""


class TrainingError(FloatingPointError):
    """A loss that left finite numbers and did not come back; `best` is the model before that."""

    def __init__(self, message: str, best: Any):
        super().__init__(message)
        self.best = best


@dataclass(frozen=True)
class Trained:
    """What training leaves."""

    model: Any
    """With the least training objective that was met."""
    history: Float[np.ndarray, " steps"]
    """Mean loss over the examples of each step, without penalties."""
    stopped: bool = False
    """Whether it was interrupted (Ctrl-C): the model is the best until then."""


def networks(model: Any) -> Any:
    """The default of what is free: the networks of a model, or all of anything else."""
    return model.augmentation if hasattr(model, "augmentation") else model


def train(
    model: Any,
    loss: Loss,
    data: Any,
    steps: int = 1000,
    learning_rate: float = 1e-2,
    *,
    free: Free = networks,
    penalty: Penalty | None = None,
    batch_size: int | None = None,
    decay: bool = True,
    seed: int = 0,
    backend: str = "native",
    progress: bool = False,
) -> Trained:
    """Minimise the mean of `loss(model, example)` over the examples, which `data` has along its first axes.

    Adam with a learning rate that fades like a cosine (unless `decay` is False). `penalty` pulls weights to zero. With a
    `batch_size` each step takes that many examples at random. A loss that is no longer finite starts again from the best
    point with half the learning rate. `backend` is "native", or "xla" for jax.jit.
    """
    flat = Flat(model, free)
    evaluate = _evaluator(flat, loss, backend)
    penalty = None if penalty is None else penalty.on(model, flat)
    rng = np.random.default_rng(seed)
    adam = Adam(flat.size, None if penalty is None else penalty.groups)
    theta, history, stopped = flat.vector(), [], False
    best, least, rate, halvings = theta, np.inf, learning_rate, 0
    bar = Progress(TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), disable=not progress)
    task = bar.add_task("training", total=steps)
    with bar:
        try:
            for step in range(steps):
                value, gradient = evaluate(theta, _some(data, batch_size, rng))
                if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
                    theta, rate, halvings = best, rate / 2, halvings + 1
                    adam = Adam(flat.size, adam.groups)
                    if halvings > 8:
                        raise TrainingError(
                            f"the loss is {value} at step {step}, and still with a learning rate of {rate:g}; look at the "
                            "data, shorten the rollouts, or begin with a smaller learning rate",
                            flat.model(best),
                        )
                    continue
                history.append(value)
                objective = value if penalty is None else value + penalty.value(theta)
                if objective < least:
                    best, least = theta, objective
                now = rate * (0.5 * (1 + np.cos(np.pi * step / steps)) if decay else 1.0)
                if penalty is not None:
                    gradient = gradient + penalty.gradient(theta)
                theta, scale = adam.step(theta, gradient, now)
                if penalty is not None:
                    theta = penalty.shrink(theta, now / scale)
                bar.update(task, advance=1, description=f"training, loss {value:.3g}")
        except KeyboardInterrupt:
            stopped = True
    # With a penalty the last point is wanted: its zeros are exact, and those of the best one may not be yet.
    chosen = theta if penalty is not None and not stopped else best
    return Trained(flat.model(chosen), np.array(history), stopped)


def _some(data: Any, size: int | None, rng: np.random.Generator) -> Any:
    """That many examples at random; all where no size is given, or not so many are there."""
    count = len(jax.tree.leaves(data)[0])
    if size is None or size >= count:
        return data
    chosen = np.sort(rng.choice(count, size, replace=False))
    return jax.tree.map(lambda x: np.asarray(x)[chosen], data)


class Adam:
    """Kingma and Ba 2015. The numbers of a group share one scale, for which its proximal step is exact."""

    def __init__(self, size: int, groups: np.ndarray | None = None):
        self.groups = groups
        """Of each number its group; -1 for none."""
        self.mean, self.square, self.count = np.zeros(size), np.zeros(size), 0

    def step(self, theta: np.ndarray, gradient: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
        """The next point, and by what the rate was divided for each number."""
        self.count += 1
        squares = gradient**2
        if self.groups is not None:
            grouped = self.groups >= 0
            members = self.groups[grouped]
            means = np.bincount(members, squares[grouped]) / np.maximum(np.bincount(members), 1)
            squares[grouped] = means[members]
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.001 * (squares - self.square)
        scale = np.sqrt(self.square / (1 - 0.999**self.count)) + 1e-12
        return theta - rate * (self.mean / (1 - 0.9**self.count)) / scale, scale


def _evaluator(flat: Flat, loss: Loss, backend: str) -> Callable[[np.ndarray, Any], tuple[float, np.ndarray]]:
    """Mean loss and gradient of a vector of free numbers over a batch of examples."""

    def of_example(free, example):
        return loss(flat.join(free), example)

    if backend == "xla":

        def mean(vector, batch):
            return jnp.mean(jax.vmap(of_example, in_axes=(None, 0))(flat.free(vector), batch))

        both = jax.jit(jax.value_and_grad(mean))

        def evaluate(theta, batch):
            value, gradient = both(theta, batch)
            return float(value), np.asarray(gradient)

    elif backend == "native":
        from ..native import batch as in_batches

        of_each = in_batches(jax.value_and_grad(of_example), in_axes=(None, 0))

        def evaluate(theta, batch):
            values, gradients = of_each(flat.free(theta), batch)
            return float(np.mean(values)), flat.gather(gradients).mean(axis=0)

    else:
        raise ValueError(f"backend is {backend!r}, but must be 'native' or 'xla'")
    return evaluate
