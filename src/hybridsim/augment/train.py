"""Training by Adam, on native gradients, with proximal steps for what is to vanish exactly."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..model.checks import POSITIVE, check_kind
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
    """Mean loss over the examples of each step, without penalties; at the end the least one of each L-BFGS iteration."""
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
    finish: int = 0,
    decay: bool = True,
    seed: int = 0,
    backend: str = "native",
    progress: bool = False,
) -> Trained:
    """Minimise the mean of `loss(model, example)` over the examples, which `data` has along its first axes.

    Adam with a learning rate that fades like a cosine (unless `decay` is False). `penalty` pulls weights to zero. With a
    `batch_size` each step takes that many examples at random. A loss that is no longer finite starts again from the best
    point with half the learning rate. `finish` is a number of iterations of L-BFGS on all examples at the end: where the
    loss is smooth and all of it fits, it goes orders of magnitude further than Adam. `backend` is "native", or "xla" for
    jax.jit.
    """
    _check_options(steps, finish, learning_rate, penalty, batch_size)
    count_examples("data", data)
    flat = Flat(model, free)
    evaluate = _evaluator(flat, loss, backend)
    pulling = None if penalty is None else penalty.on(model, flat)
    rng = np.random.default_rng(seed)
    adam = Adam(flat.size, None if pulling is None else pulling.groups)
    theta, history, stopped = flat.vector(), [], False
    best, least, rate, halvings = theta, np.inf, learning_rate, 0
    if penalty is not None and finish:
        raise ValueError("L-BFGS knows no proximal steps: finish with it after pruning, without the penalty")

    def finishing(value: float) -> None:
        history.append(value)
        advance(value)

    with _progress(steps + finish, progress) as advance:
        try:
            for step in range(steps):
                value, gradient = evaluate(theta, _some(data, batch_size, rng))
                if not _finite(value, gradient):
                    if least == np.inf:
                        raise _nowhere(flat.model(best))
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
                objective = value if pulling is None else value + pulling.value(theta)
                if objective < least:
                    best, least = theta, objective
                now = rate * (0.5 * (1 + np.cos(np.pi * step / steps)) if decay else 1.0)
                if pulling is not None:
                    gradient = gradient + pulling.gradient(theta)
                theta, scale = adam.step(theta, gradient, now)
                if pulling is not None:
                    theta = pulling.shrink(theta, now / scale)
                advance(value)
            # Where the last step has led is not known yet.
            if steps and penalty is None and batch_size is None and evaluate(theta, data)[0] < least:
                best = theta
        except KeyboardInterrupt:
            stopped = True
        # With a penalty the last point is wanted: its zeros are exact, and those of the best one may not be yet. And
        # from few examples no one knows which point is the best.
        if not stopped and (penalty is not None or batch_size is not None):
            best = theta
        if finish and not stopped:
            best, least, stopped = descend(lambda theta: evaluate(theta, data), best, finish, finishing)
            if least == np.inf and not stopped:
                raise _nowhere(flat.model(best))
    return Trained(flat.model(best), np.array(history), stopped)


def _check_options(
    steps: int, finish: int, learning_rate: float, penalty: Penalty | None, batch_size: int | None
) -> None:
    batch = 1 if batch_size is None else batch_size
    for name, value, least in (("steps", steps, 0), ("finish", finish, 0), ("batch_size", batch, 1)):
        if not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"train: {name} is {value!r}, but must be a whole number, {least} or more")
    POSITIVE.check("train: learning_rate", learning_rate)
    if penalty is not None:
        check_kind("train: penalty", penalty, Penalty, "hs.Penalty(kappa)")


def count_examples(what: str, data: Any) -> int:
    """How many there are: one row of every array is one example."""
    shapes = [np.shape(leaf) for leaf in jax.tree.leaves(data)]
    counts = {shape[0] if shape else 0 for shape in shapes}
    if len(counts) != 1 or 0 in counts:
        found = ", ".join(map(str, shapes)) or "none"
        raise ValueError(
            f"{what} must be arrays with the examples along their first axes, equally many in each and at least one; the "
            f"shapes found are: {found}"
        )
    return counts.pop()


def _finite(value: float, gradient: np.ndarray) -> bool:
    return bool(np.isfinite(value) and np.all(np.isfinite(gradient)))


def _nowhere(model: Any) -> TrainingError:
    return TrainingError(
        "the loss of the model that is to be trained, or its gradient, is not finite: there is nowhere to begin; look for "
        "NaN in the data, and shorten the rollouts",
        model,
    )


@contextmanager
def _progress(total: int, shown: bool) -> Iterator[Callable[[float], None]]:
    """A bar with the time that is left, and the loss."""
    if not shown:
        yield lambda value: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task("training", total=total)
        yield lambda value: bar.update(task, advance=1, description=f"training, loss {value:.3g}")


def _some(data: Any, size: int | None, rng: np.random.Generator) -> Any:
    """That many examples at random; all where no size is given, or not so many are there."""
    count = count_examples("data", data)
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


def descend(
    evaluate: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    iterations: int,
    seen: Callable[[float], None],
) -> tuple[np.ndarray, float, bool]:
    """The best point of L-BFGS, its value, and whether it was interrupted. What is not finite is a wall from which it turns
    back."""
    best, least = start, np.inf

    def guarded(theta):
        nonlocal best, least
        value, gradient = evaluate(theta)
        if not _finite(value, gradient):
            return 1e300, np.zeros_like(theta)
        if value < least:
            best, least = theta.copy(), value
        return value, gradient

    from scipy.optimize import minimize

    options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-14}
    try:
        minimize(guarded, start, jac=True, method="L-BFGS-B", options=options, callback=lambda _: seen(least))
    except KeyboardInterrupt:
        return best, least, True
    return best, least, False


def _evaluator(flat: Flat, loss: Loss, backend: str) -> Callable[[np.ndarray, Any], tuple[float, np.ndarray]]:
    """Mean loss and gradient of a vector of free numbers over a batch of examples."""

    def of_example(free, example):
        return loss(flat.join(free), example)

    def mean(vector, batch):
        return jnp.mean(jax.vmap(of_example, in_axes=(None, 0))(flat.free(vector), batch))

    if backend == "xla":
        both = jax.jit(jax.value_and_grad(mean))
        return lambda theta, batch: _as_numbers(*both(theta, batch))
    if backend != "native":
        raise ValueError(f"backend is {backend!r}, but must be 'native' or 'xla'")
    from ..native import batch as in_batches

    of_each = in_batches(jax.value_and_grad(of_example), in_axes=(None, 0))

    def mean_of_each(theta, batch):
        values, gradients = of_each(flat.free(theta), batch)
        return _as_numbers(np.mean(values), flat.gather(gradients).mean(axis=0))

    return mean_of_each


def _as_numbers(value, gradient) -> tuple[float, np.ndarray]:
    return float(value), np.asarray(gradient)
