"""What is searched for: numbers of a model chosen by patterns, with bounds, scales, ties and priors, as one vector."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..model import Model
from ..spatial import Array
from .places import Place, matching, places
from .scales import InertiaScale, LinearScale, LogScale, Scale


@dataclass(frozen=True)
class Free:
    """Numbers that may change: those whose path matches the pattern.

    "link/*/inertial" stands for mass, centre of mass and inertia together, and keeps them physical.
    """

    pattern: str
    lower: float = -np.inf
    upper: float = np.inf
    scale: Literal["linear", "log", "auto"] = "auto"
    """Auto: by its logarithm what has to be positive and is; linearly all else."""
    start: float | None = None
    """Instead of the model's own value; needed where that is zero and the scale is log."""
    tied: bool = False
    """Whether all that match are one number."""
    prior: tuple[float, float] | None = None
    """Mean and standard deviation of what is known of it beforehand."""


@dataclass(frozen=True)
class Parameter:
    """An entry of the vector, or several that belong together."""

    names: tuple[str, ...]
    groups: tuple[tuple[Place, ...], ...]
    """Who gets the numbers: one group of places, one after another, or several groups where they are tied."""
    scale: Scale
    free: Free
    unit: str

    @property
    def size(self) -> int:
        return len(self.names)


class Parameters:
    """The way from a vector to a model and back. At the vector of zeros everything is where it starts."""

    def __init__(self, model: Model, free: Sequence[str | Free]):
        self.base = model
        self.list = tuple(_resolved(model, [Free(x) if isinstance(x, str) else x for x in free]))
        if not self.list:
            raise ValueError("nothing is free: give patterns such as ['link/*/mass', 'joint/*/damping']")
        self._ends = np.cumsum([0, *(p.size for p in self.list)])

    @property
    def size(self) -> int:
        return int(self._ends[-1])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for p in self.list for name in p.names)

    def _parts(self) -> Iterator[tuple[Parameter, int, int]]:
        return zip(self.list, map(int, self._ends[:-1]), map(int, self._ends[1:]), strict=True)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the vector; without an end where no end is needed, as for logarithms and inertias."""
        lower, upper = np.full(self.size, -np.inf), np.full(self.size, np.inf)
        for p, a, b in self._parts():
            if not isinstance(p.scale, InertiaScale):
                lower[a:b] = p.scale.from_physical(np.full(p.size, p.free.lower))
                upper[a:b] = p.scale.from_physical(np.full(p.size, p.free.upper))
        return lower, upper

    def physical(self, z: Float[Array, " size"]) -> Float[Array, " size"]:
        """Values in their units."""
        return jnp.concatenate([p.scale.to_physical(z[a:b]) for p, a, b in self._parts()])

    def model(self, z: Float[Array, " size"]) -> Model:
        """The model with these numbers."""
        changes: dict[tuple[str, str], list[tuple[Place, Array]]] = {}
        for p, a, b in self._parts():
            x = p.scale.to_physical(z[a:b])
            for group in p.groups:
                ends = np.cumsum([0, *(len(place.index) for place in group)])
                for place, i, j in zip(group, ends[:-1], ends[1:], strict=True):
                    changes.setdefault((place.owner, place.field), []).append((place, x[i:j]))
        model = self.base
        for parts in changes.values():
            first = parts[0][0]
            old = jnp.asarray(first.leaf(model))
            flat = old.reshape(-1)
            for place, x in parts:
                flat = flat.at[np.array(place.index)].set(x.astype(flat.dtype))
            model = first.with_leaf(model, flat.reshape(old.shape))
        return model


_INERTIAL = "/inertial"


def _resolved(model: Model, free: Sequence[Free]) -> Iterator[Parameter]:
    known, taken = places(model), {}
    for choice in free:
        whole = choice.pattern.endswith(_INERTIAL)
        pattern = choice.pattern.removesuffix(_INERTIAL) + "/mass" if whole else choice.pattern
        found = [_inertial(known, place) if whole else (place,) for place in matching(known, pattern)]
        for group in found:
            for place in group:
                if place.path in taken:
                    raise ValueError(f"{place.path} is chosen by {taken[place.path]!r} and again by {choice.pattern!r}")
                taken[place.path] = choice.pattern
        if choice.tied and len({sum(len(p.index) for p in group) for group in found}) > 1:
            raise ValueError(f"{choice.pattern!r} matches numbers of different sizes, which cannot be tied")
        for groups in [tuple(found)] if choice.tied else [(group,) for group in found]:
            yield _parameter(model, choice, groups, whole)


def _inertial(known: dict[str, Place], mass: Place) -> tuple[Place, ...]:
    link = mass.path.removesuffix("/mass")
    return mass, known[f"{link}/com"], known[f"{link}/inertia"]


def _parameter(model: Model, free: Free, groups: tuple[tuple[Place, ...], ...], whole: bool) -> Parameter:
    first = groups[0]
    path = free.pattern if len(groups) > 1 else first[0].path
    own = np.concatenate([place.value(model) for place in first])
    if whole:
        if free.start is not None or np.isfinite([free.lower, free.upper]).any():
            raise ValueError(
                f"{path}: bounds and a start of ten numbers at once mean nothing; give them to its mass alone"
            )
        names = tuple(f"{place.path}{label}" for place in first for label in place.labels)
        return Parameter(names, groups, InertiaScale.of(own), free, "kg, m, kg m^2")
    start = own if free.start is None else np.full(len(own), float(free.start))
    if np.any(start < free.lower) or np.any(start > free.upper):
        raise ValueError(
            f"{path} starts at {start}, which is not between {free.lower} and {free.upper}; give another start"
        )
    log = free.scale == "log" or (free.scale == "auto" and first[0].positive and bool(np.all(start > 0)))
    if log and not np.all(start > 0):
        raise ValueError(f"{path} starts at {start}, which has no logarithm; give a positive start, or scale='linear'")
    names = tuple(f"{path}{label}" for label in first[0].labels)
    scale = LogScale(start) if log else LinearScale(start, _size(start, free))
    return Parameter(names, groups, scale, free, first[0].unit)


def _size(start: np.ndarray, free: Free) -> np.ndarray:
    """What is a step of ordinary size: by the bounds, else by the value itself."""
    if np.isfinite([free.lower, free.upper]).all():
        return np.full(len(start), (free.upper - free.lower) / 4)
    return np.where(start != 0, np.abs(start), 1.0)
