"""What is searched for: numbers of a model chosen by patterns, with bounds, scales, ties and priors, as one vector."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from ..augment.flat import Flat
from ..augment.weights import weights
from ..model import Model
from ..spatial import Array
from .apparatus import Apparatus, Setup, perfect
from .places import Place, matching, places
from .scales import InertiaScale, LinearScale, LogScale, Scale


@dataclass(frozen=True)
class Free:
    """Numbers that may change: those whose path matches the pattern.

    "link/*/inertial" stands for mass, centre of mass and inertia together, and keeps them physical. "network" are all
    weights of the model's networks; a prior of mean 0 is a penalty on them.
    """

    pattern: str | tuple[str, ...]
    """One, or several: ("link/left_*/mass", "link/right_*/mass")."""
    lower: float = -np.inf
    upper: float = np.inf
    scale: Literal["linear", "log", "auto"] = "auto"
    """Auto: by its logarithm what has to be positive; linearly all else."""
    start: float | None = None
    """Instead of the model's own value; needed where that is zero and the scale is log."""
    tied: bool = False
    """Whether all that match are one number."""
    prior: tuple[float, float] | None = None
    """Mean and standard deviation of what is known of it beforehand."""
    per_run: bool = False
    """Whether every run has its own, as zeros of encoders that are set whenever a robot starts; only of sensors and
    controls."""

    @property
    def patterns(self) -> tuple[str, ...]:
        return (self.pattern,) if isinstance(self.pattern, str) else tuple(self.pattern)


_FARTHEST = float(np.log(1e6))


@dataclass(frozen=True)
class Parameter:
    """An entry of the vector, or several that belong together."""

    names: tuple[str, ...]
    groups: tuple[tuple[Place, ...], ...]
    """Who gets the numbers: one group of places, one after another, or several groups where they are tied."""
    scale: Scale
    free: Free
    units: tuple[str, ...]
    networks: bool = False
    """Whether these are the weights of networks."""

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def logarithmic(self) -> bool:
        return isinstance(self.scale, LogScale)


class Parameters:
    """The way from a vector to a model and back. At the vector of zeros everything is where it starts."""

    def __init__(
        self,
        model: Model,
        free: Sequence[str | Free],
        controls: int = 0,
        apparatus: Apparatus | None = None,
        runs: Sequence[str] = (),
    ):
        """`controls`: how many numbers the log has for each step to drive it; by what `apparatus`: by default a perfect one.
        `runs`: names of those that may have numbers of their own."""
        choices = [Free(x) if isinstance(x, str) else x for x in ([free] if isinstance(free, str | Free) else free)]
        base = _exact(Setup(model, perfect(model, controls) if apparatus is None else apparatus))
        seen = tuple(_resolved(base, choices))
        self.runs = tuple(dict.fromkeys(runs))
        every = [_of_run(p, run) for p in seen for run in (self.runs if p.free.per_run else (None,))]
        self._set(base, tuple(p for p, _ in every))
        self.local: Parameters = self
        """As one window sees them: of what belongs to runs only that of its own."""
        self.columns: Int[np.ndarray, "runs local"] | None = None
        """For each run, where in the vector the local ones are; None where they are all of them."""
        if any(p.free.per_run for p in seen):
            self.local = Parameters.__new__(Parameters)
            self.local._set(base, seen)
            self.local.runs, self.local.local, self.local.columns = (), self.local, None
            own = [run for p, run in every for _ in range(p.size)]
            self.columns = np.array(
                [[i for i, owner in enumerate(own) if owner in (None, run)] for run in self.runs], dtype=int
            )

    def _set(self, base: Setup, parameters: tuple[Parameter, ...]) -> None:
        self.base, self.list = base, parameters
        self._networks = Flat(base, _networks) if any(p.networks for p in parameters) else None
        self._ends = np.cumsum([0, *(p.size for p in parameters)])

    @property
    def size(self) -> int:
        return int(self._ends[-1])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for p in self.list for name in p.names)

    def parts(self) -> Iterator[tuple[Parameter, int, int]]:
        """Each with where in the vector it begins and ends."""
        return zip(self.list, map(int, self._ends[:-1]), map(int, self._ends[1:]), strict=True)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the vector; logarithms end at a millionth and a million times their start, inertias nowhere."""
        lower, upper = np.full(self.size, -np.inf), np.full(self.size, np.inf)
        for p, a, b in self.parts():
            if not isinstance(p.scale, InertiaScale):
                lower[a:b] = p.scale.from_physical(np.full(p.size, p.free.lower))
                upper[a:b] = p.scale.from_physical(np.full(p.size, p.free.upper))
            if p.logarithmic:
                lower[a:b], upper[a:b] = np.maximum(lower[a:b], -_FARTHEST), np.minimum(upper[a:b], _FARTHEST)
        return lower, upper

    def physical(self, z: Float[Array, " size"]) -> Float[Array, " size"]:
        """Values in their units."""
        return jnp.concatenate([jnp.zeros(0), *(p.scale.to_physical(z[a:b]) for p, a, b in self.parts())])

    def values(self, z: Float[np.ndarray, " size"]) -> Float[np.ndarray, " size"]:
        """`physical`, as numbers and without tracing."""
        parts = (p.scale.values(np.asarray(z[a:b], dtype=float)) for p, a, b in self.parts())
        return np.concatenate([np.zeros(0), *parts])

    def sensed(self, x: np.ndarray, states: Float[np.ndarray, "windows samples ns"]) -> dict[str, np.ndarray]:
        """What the sensors show of simulated states; x are local values, of all windows or one row for each."""
        nq, nv = self.base.model.nq, self.base.model.nv
        gain, bias = self.sensors(x)
        return {"position": gain * states[..., :nq] + bias, "velocity": states[..., nq : nq + nv]}

    def sensors(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gain and bias of positions, of shape (nq) or (windows, 1, nq)."""
        found = []
        for name in ("position_gain", "position_bias"):
            own = np.asarray(getattr(self.base.apparatus, name))
            array = np.array(np.broadcast_to(own, (*x.shape[:-1], len(own))))
            for column, i in self.of_apparatus(name):
                array[..., i] = x[..., column]
            found.append(array[:, None] if x.ndim == 2 else array)
        return found[0], found[1]

    def of_apparatus(self, field: str) -> list[tuple[int, int]]:
        """Of an array of the apparatus what is free: places in the vector, and in that array."""
        found = []
        for p, a, _ in self.parts():
            for group in p.groups:
                ends = a + np.cumsum([0, *(len(place.index) for place in group)])
                for place, begin in zip(group, ends[:-1], strict=True):
                    if (place.owner, place.field) == ("apparatus", field):
                        found += [(int(begin) + k, i) for k, i in enumerate(place.index)]
        return found

    def slopes(self, z: Float[np.ndarray, " size"]) -> Float[np.ndarray, "size size"]:
        """d physical / d z: blocks along the diagonal."""
        found = np.zeros((self.size, self.size))
        for p, a, b in self.parts():
            found[a:b, a:b] = p.scale.slopes(z[a:b])
        return found

    def prior(self) -> tuple[Int[np.ndarray, " known"], Float[np.ndarray, " known"], Float[np.ndarray, " known"]]:
        """Of what something is known beforehand: which of the physical values, their means and standard deviations."""
        known = [(i, *p.free.prior) for p, a, b in self.parts() if p.free.prior is not None for i in range(a, b)]
        index, mean, deviation = zip(*known, strict=True) if known else ((), (), ())
        return np.array(index, dtype=int), np.array(mean, dtype=float), np.array(deviation, dtype=float)

    def model(self, z: Float[Array, " size"]) -> Model:
        """The model with these numbers."""
        if self.columns is not None:
            return self.local.model(z[self.columns[0]])
        return self.setup(self.values(z) if isinstance(z, np.ndarray) else self.physical(z)).model

    def setup(self, x: Float[Array, " size"]) -> Setup:
        """Model and apparatus with these physical values."""
        setup = self.base
        changes: dict[tuple[str, str], list[tuple[Place, Array]]] = {}
        for p, a, b in self.parts():
            if p.networks and self._networks is not None:
                setup = self._networks.model(x[a:b])
            for group in p.groups:
                ends = a + np.cumsum([0, *(len(place.index) for place in group)])
                for place, i, j in zip(group, ends[:-1], ends[1:], strict=True):
                    changes.setdefault((place.owner, place.field), []).append((place, x[i:j]))
        for parts in changes.values():
            first = parts[0][0]
            setup = first.with_leaf(setup, _changed(first.leaf(setup), parts))
        return setup


def _changed(old: Array, parts: list[tuple[Place, Array]]) -> Array:
    """An array with other numbers at some places. Numbers stay numbers: JAX would compile every small change of them."""
    if all(isinstance(values, np.ndarray) for _, values in parts):
        new = np.array(old)
        for place, values in parts:
            new.reshape(-1)[list(place.index)] = values
        return new
    flat = jnp.asarray(old).reshape(-1)
    for place, values in parts:
        flat = flat.at[np.array(place.index)].set(values.astype(flat.dtype))
    return flat.reshape(np.shape(old))


def _exact(setup: Setup) -> Setup:
    """With weights of 64 bits: rounding to 32 would make the cost a staircase."""
    if setup.model.augmentation is None:
        return setup
    weights = jax.tree.map(
        lambda leaf: leaf.astype(float) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf,
        setup.model.augmentation,
    )
    return replace(setup, model=replace(setup.model, augmentation=weights))


def _of_run(parameter: Parameter, run: str | None) -> tuple[Parameter, str | None]:
    """With the run's name, if it is that of one run."""
    if run is None:
        return parameter, None
    return replace(parameter, names=tuple(f"{name} [{run}]" for name in parameter.names)), run


def _networks(setup: Setup) -> list:
    return weights(setup.model.augmentation)


_INERTIAL = "/inertial"


def _resolved(setup: Setup, free: Sequence[Free]) -> Iterator[Parameter]:
    known, taken = places(setup), {}
    for choice in free:
        if choice.pattern == "network":
            yield _weights(setup, choice)
            continue
        whole = choice.patterns[0].endswith(_INERTIAL)
        found: list[tuple[Place, ...]] = []
        for pattern in choice.patterns:
            if pattern.endswith(_INERTIAL) != whole:
                raise ValueError(
                    f"{choice.pattern}: inertias and single numbers cannot be chosen together; use two hs.Free"
                )
            match = matching(known, pattern.removesuffix(_INERTIAL) + "/mass" if whole else pattern)
            found += [_inertial(known, place) if whole else (place,) for place in match]
        for place in (place for group in found for place in group):
            for i in place.index:
                number = place.owner, place.field, i
                if number in taken:
                    raise ValueError(f"{place.path} is chosen by {taken[number]!r} and again by {choice.pattern!r}")
                taken[number] = choice.pattern
        if choice.per_run and any(place.owner != "apparatus" for group in found for place in group):
            raise ValueError(f"{choice.pattern!r} cannot differ from run to run: only sensors and controls can")
        if choice.tied and len({sum(len(p.index) for p in group) for group in found}) > 1:
            raise ValueError(f"{choice.pattern!r} matches numbers of different sizes, which cannot be tied")
        for groups in [tuple(found)] if choice.tied else [(group,) for group in found]:
            yield _parameter(setup, choice, groups, whole)


def _inertial(known: dict[str, Place], mass: Place) -> tuple[Place, ...]:
    link = mass.path.removesuffix("/mass")
    return mass, known[f"{link}/com"], known[f"{link}/inertia"]


def _weights(setup: Setup, free: Free) -> Parameter:
    if setup.model.augmentation is None:
        raise ValueError(
            "'network' is free, but the model has no networks: graft them with hs.Blueprint(...).graft(model)"
        )
    start = Flat(setup, _networks).vector()
    names = tuple(f"network[{i}]" for i in range(len(start)))
    return Parameter(names, (), LinearScale(start, np.ones(len(start))), free, ("1",) * len(start), True)


def _parameter(setup: Setup, free: Free, groups: tuple[tuple[Place, ...], ...], whole: bool) -> Parameter:
    first = groups[0]
    path = " = ".join(free.patterns) if len(groups) > 1 else first[0].path
    own = np.concatenate([place.value(setup) for place in first])
    if whole:
        if free.start is not None or np.isfinite([free.lower, free.upper]).any():
            raise ValueError(
                f"{path}: bounds and a start of ten numbers at once mean nothing; give them to its mass alone"
            )
        names = tuple(f"{place.path}{label}" for place in first for label in place.labels)
        units = tuple(place.unit for place in first for _ in place.labels)
        return Parameter(names, groups, InertiaScale.of(own), free, units)
    start = own if free.start is None else np.full(len(own), float(free.start))
    if first[0].kind != "any" and free.lower < 0:
        free = replace(free, lower=0.0)
    if np.any(start < free.lower) or np.any(start > free.upper):
        raise ValueError(
            f"{path} starts at {start}, which is not between {free.lower} and {free.upper}; give another start"
        )
    log = free.scale == "log" or (free.scale == "auto" and first[0].kind == "positive")
    if log and not np.all(start > 0):
        raise ValueError(f"{path} starts at {start}, which has no logarithm; give a positive start, or scale='linear'")
    names = tuple(f"{path}{label}" for label in first[0].labels)
    scale = LogScale(start) if log else LinearScale(start, _size(start, free))
    return Parameter(names, groups, scale, free, (first[0].unit,) * len(names))


def _size(start: np.ndarray, free: Free) -> np.ndarray:
    """What is a step of ordinary size: by the bounds, else by the value itself."""
    if np.isfinite([free.lower, free.upper]).all():
        return np.full(len(start), (free.upper - free.lower) / 4)
    return np.where(start != 0, np.abs(start), 1.0)
