"""Discovery: which inputs, and which networks, the data ask for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..model import Model
from .acting import Networks
from .prune import blueprint_of, prune
from .sparsity import Penalty
from .train import Loss, train


@dataclass(frozen=True)
class Point:
    """One strength of the penalty: what was left, trained again without it."""

    kappa: float
    model: Model
    inputs: tuple[tuple[str, tuple[str, ...]], ...]
    """Of each network that is left, the inputs that are left."""
    error: float
    """Mean loss over the held-out examples."""
    spread: float
    """Standard error of its difference from the best point."""

    @property
    def size(self) -> int:
        """Networks and inputs that are left."""
        return len(self.inputs) + sum(len(names) for _, names in self.inputs)


@dataclass(frozen=True)
class Discovery:
    """A path from all inputs to none; the last point is the model without networks."""

    points: tuple[Point, ...]
    chosen: int

    @property
    def model(self) -> Model:
        """The smallest model that explains what the best one explains."""
        return self.points[self.chosen].model

    def __str__(self) -> str:
        lines = []
        for i, point in enumerate(self.points):
            mark = "*" if i == self.chosen else " "
            text = "; ".join(f"{site}: {', '.join(names) or 'a constant'}" for site, names in point.inputs) or "nothing"
            lines.append(f"{mark} kappa {point.kappa:.2g}: held-out error {point.error:.3g}; {text}")
        return "\n".join([*lines, "chosen:", *(f"  {augment}" for augment in blueprint_of(self.model).augments)])


def discover(
    model: Model,
    loss: Loss,
    data: Any,
    held_out: Any,
    kappas: Sequence[float] | None = None,
    steps: int = 1000,
    learning_rate: float = 1e-2,
    *,
    places: bool = False,
    tolerance: float = 0.01,
    factor: float = 3.0,
    upper: float = 1e-6,
    seed: int = 0,
    progress: bool = False,
) -> Discovery:
    """Train with every strength of the sparse-group lasso from weak to strong, each from the one before; keep what is left.

    At each strength what has vanished is pruned, and the rest trained again without penalty. `kappas` are relative to the
    loss of the plain model. With `places` whole networks may vanish.

    Chosen is the smallest model whose held-out error is no more than `factor` times that of the best one and, beside it,
    leaves no more than the part `tolerance` of what the best one explains, or one standard error.
    """
    alone = replace(model, augmentation=None)
    scale = float(np.mean(_errors(alone, loss, data)))
    kappas = np.geomspace(1e-4, 1.0, 9) if kappas is None else np.sort(np.asarray(kappas, dtype=float))
    dense = train(
        model, loss, data, steps, learning_rate, penalty=Penalty(0.0, upper * scale), seed=seed, progress=progress
    )
    found, errors, current = [], [], dense.model
    for kappa in (0.0, *kappas):
        if kappa > 0:
            penalty = Penalty(kappa * scale, upper * scale, places=places)
            current = train(
                current, loss, data, steps, learning_rate, penalty=penalty, seed=seed, progress=progress
            ).model
        left = prune(current)
        inputs = _inputs(left)
        if not any(names for _, names in inputs):
            break
        if found and found[-1][2] == inputs:
            continue
        refitted = left
        if kappa > 0:
            refitted = train(left, loss, data, steps, learning_rate, seed=seed, progress=progress).model
        found.append((float(kappa), refitted, inputs))
        errors.append(_errors(refitted, loss, held_out))
    found.append((np.inf, alone, ()))
    errors.append(_errors(alone, loss, held_out))
    best = int(np.argmin([each.mean() for each in errors]))
    points = [
        Point(*what, float(each.mean()), float(np.std(each - errors[best]) / np.sqrt(max(len(each) - 1, 1))))
        for what, each in zip(found, errors, strict=True)
    ]
    least, plain = points[best].error, points[-1].error
    good = [
        i
        for i, point in enumerate(points)
        if point.error <= factor * least and point.error - least <= max(tolerance * (plain - least), point.spread)
    ]
    chosen = min(good, key=lambda i: (points[i].size, points[i].error))
    return Discovery(tuple(points), chosen)


def _inputs(model: Model) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(model.augmentation, Networks):
        return ()
    return tuple(
        (str(site.plan), tuple(block.label for block in site.plan.signature.inputs if not block.hidden))
        for site in model.augmentation.sites
    )


def _errors(model: Model, loss: Loss, data: Any) -> np.ndarray:
    """Of each example."""
    from ..native import batch

    return np.asarray(batch(lambda example: loss(model, example))(data))
