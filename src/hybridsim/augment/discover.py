"""Discovery: which inputs, and which networks, the data ask for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..model import Model
from ..model.checks import AT_LEAST_ONE, NOT_NEGATIVE
from .acting import sites_of
from .prune import blueprint_of, prune, without_input, without_network
from .sparsity import Penalty, strengths
from .train import Loss, count_examples, train


@dataclass(frozen=True)
class Point:
    """What was left at one strength of the penalty, trained again without it."""

    kappa: float
    model: Model
    errors: np.ndarray
    """Loss of each held-out example."""

    @property
    def error(self) -> float:
        return float(self.errors.mean())

    @property
    def inputs(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Of each network that is left, the inputs that are left."""
        return _inputs(self.model)

    @property
    def size(self) -> int:
        """Networks and inputs that are left."""
        return len(self.inputs) + sum(len(labels) for _, labels in self.inputs)


@dataclass(frozen=True)
class Discovery:
    """A path from all inputs to none, then from the best of its points by leaving out one input after another."""

    points: tuple[Point, ...]
    chosen: Point

    @property
    def model(self) -> Model:
        """The smallest model that explains what the best one explains."""
        return self.chosen.model

    def __str__(self) -> str:
        lines = []
        for point in self.points:
            mark = "*" if point is self.chosen else " "
            text = (
                "; ".join(f"{site}: {', '.join(labels) or 'a constant'}" for site, labels in point.inputs) or "nothing"
            )
            lines.append(f"{mark} kappa {point.kappa:.2g}: held-out error {point.error:.3g}; {text}")
        return "\n".join([*lines, "chosen:", *(f"  {augment}" for augment in blueprint_of(self.model).augments)])


def discover(
    model: Model,
    loss: Loss,
    data: Any,
    held_out: Any,
    kappas: Sequence[float] | np.ndarray | None = None,
    steps: int = 300,
    finish: int = 300,
    learning_rate: float = 1e-2,
    *,
    places: bool = False,
    tolerance: float = 0.01,
    factor: float = 3.0,
    seed: int = 0,
    progress: bool = False,
) -> Discovery:
    """Train with every strength of the sparse-group lasso from weak to strong, each from the one before; keep what is left.

    At each strength what has vanished is pruned, and the rest is trained again without penalty. `kappas` are relative to
    what each network explains of the plain model's loss. From the best point inputs are then left out one after another,
    the weakest first, as long as that does no harm. With `places` whole networks may vanish too.

    Chosen is the smallest model whose held-out error is no more than `factor` times that of the best one and, beside it,
    leaves no more than the part `tolerance` of what the best one explains, or one standard error.
    """
    kappas = np.geomspace(1e-4, 1.0, 7) if kappas is None else np.sort(np.atleast_1d(np.asarray(kappas, dtype=float)))
    NOT_NEGATIVE.check("discover: kappas", kappas)
    NOT_NEGATIVE.check("discover: tolerance", tolerance)
    AT_LEAST_ONE.check("discover: factor", factor)
    count_examples("held_out", held_out)
    search = _Search(loss, data, held_out, steps, finish, learning_rate, places, tolerance, factor, seed, progress)
    plain = search.add(np.inf, replace(model, augmentation=None))
    if not np.all(np.isfinite(plain.errors)):
        worst = int(np.argmax(~np.isfinite(plain.errors)))
        raise ValueError(
            f"the loss of the plain model is {plain.errors[worst]} for the held-out example {worst}, so nothing can be "
            "compared with it; look for NaN in held_out, and shorten the rollouts"
        )
    current = search.trained(model)
    search.add(0.0, current)
    scales = search.scales(current)
    for kappa in kappas:
        current = search.pulled(current, kappa, scales)
        left = prune(current)
        if not any(labels for _, labels in _inputs(left)):
            break
        if not search.knows(left):
            search.add(float(kappa), search.trained(left))
    search.leave_out()
    return Discovery(tuple(sorted(search.points, key=lambda point: -point.size)), search.chosen())


def _inputs(model: Model) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (str(site.plan), tuple(block.label for block in site.plan.signature.inputs if not block.hidden))
        for site in sites_of(model)
    )


@dataclass
class _Search:
    loss: Loss
    data: Any
    held_out: Any
    steps: int
    finish: int
    learning_rate: float
    places: bool
    tolerance: float
    factor: float
    seed: int
    progress: bool
    points: list[Point] = field(default_factory=list)

    def trained(self, model: Model, steps: int | None = None) -> Model:
        steps = self.steps if steps is None else steps
        options = {"finish": self.finish, "seed": self.seed, "progress": self.progress}
        return train(model, self.loss, self.data, steps, self.learning_rate, **options).model

    def pulled(self, model: Model, kappa: float, scales: np.ndarray) -> Model:
        penalty = Penalty(kappa, 1e-6 * float(scales.mean()), places=self.places, weights=tuple(scales))
        options = {"penalty": penalty, "seed": self.seed, "progress": self.progress}
        return train(model, self.loss, self.data, self.steps, self.learning_rate, **options).model

    def errors(self, model: Model, data: Any) -> np.ndarray:
        from ..native import batch

        return np.asarray(batch(lambda example: self.loss(model, example))(data))

    def add(self, kappa: float, model: Model) -> Point:
        point = Point(kappa, model, self.errors(model, self.held_out))
        self.points.append(point)
        return point

    def knows(self, model: Model) -> bool:
        return any(point.inputs == _inputs(model) for point in self.points)

    def scales(self, model: Model) -> np.ndarray:
        """How much the loss grows without each network."""
        own = self.errors(model, self.data).mean()
        count = len(sites_of(model))
        grown = [self.errors(without_network(model, i), self.data).mean() - own for i in range(count)]
        return np.maximum(grown, 1e-6 * max(np.max(grown), 1e-300))

    def best(self) -> Point:
        return min(self.points, key=lambda point: (not np.isfinite(point.error), point.error))

    def good(self, point: Point) -> bool:
        """Whether a point explains what the best one explains."""
        best = self.best()
        spread = np.std(point.errors - best.errors) / np.sqrt(max(len(point.errors) - 1, 1))
        slack = max(self.tolerance * (self.points[0].error - best.error), float(spread))
        # What is less than a millionth of the plain model's error is rounding and luck.
        return (
            point.error <= self.factor * best.error + 1e-6 * self.points[0].error and point.error - best.error <= slack
        )

    def chosen(self) -> Point:
        return min(filter(self.good, self.points), key=lambda point: (point.size, point.error))

    def leave_out(self) -> None:
        """From the smallest good point on, the weakest first."""
        current = self.chosen()
        going = True
        while going and current.model.augmentation is not None:
            going = False
            for smaller in self._smaller(current.model):
                if self.knows(smaller):
                    continue
                point = self.add(current.kappa, self.trained(smaller, 0 if self.finish else None))
                if self.good(point):
                    current, going = point, True
                    break

    def _smaller(self, model: Model) -> list[Model]:
        ranked = sorted(strengths(model), key=lambda strength: strength.norm)
        removed: list[Callable[[], Model]] = [lambda s=s: without_input(model, s.place, s.input) for s in ranked]
        if self.places:
            removed += [lambda i=i: without_network(model, i) for i in range(len(sites_of(model)))]
        return [make() for make in removed]
