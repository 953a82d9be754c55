"""What is searched for as one vector: the way from it to a model and back."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from ..augment.flat import Flat
from ..model import Model
from ..spatial import Array
from .apparatus import Apparatus, Setup, perfect
from .free import Free, Parameter
from .place import Place
from .resolve import networks_of, resolved
from .scales import InertiaScale

_FARTHEST = float(np.log(1e6))


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
        seen = tuple(resolved(base, choices))
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
        self._networks = Flat(base, networks_of) if any(p.networks for p in parameters) else None
        self._ends = np.cumsum([0, *(p.size for p in parameters)])
        self._of_apparatus: dict[str, list[tuple[int, int]]] = {}

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
        """Which numbers of an array of the apparatus are free: their places in the vector, and in that array."""
        if field in self._of_apparatus:
            return self._of_apparatus[field]
        found = self._of_apparatus[field] = []
        for p, a, _ in self.parts():
            for group in p.groups:
                ends = a + np.cumsum([0, *(place.size for place in group)])
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
        changes: dict[tuple[str, str], dict[tuple[int, ...], Array]] = {}
        owners: dict[tuple[str, str], Place] = {}
        for p, a, b in self.parts():
            if p.networks and self._networks is not None:
                setup = self._networks.model(x[a:b])
            for group in p.groups:
                ends = a + np.cumsum([0, *(place.size for place in group)])
                for place, i, j in zip(group, ends[:-1], ends[1:], strict=True):
                    array = place.owner, place.field
                    parts, owners[array] = changes.setdefault(array, {}), place
                    # Single axes of a rotation change the same quaternion, one after the other.
                    before = parts.get(place.index)
                    before = place.numbers(self.base) if before is None else before
                    parts[place.index] = place.change.apply(x[i:j], before)
        for array, parts in changes.items():
            setup = owners[array].with_leaf(setup, _changed(owners[array].leaf(setup), parts))
        return setup


def _changed(old: Array, parts: dict[tuple[int, ...], Array]) -> Array:
    """An array with other numbers at some places. Numbers stay numbers: JAX would compile every small change of them."""
    if all(isinstance(values, np.ndarray) for values in parts.values()):
        new = np.array(old)
        for index, values in parts.items():
            new.reshape(-1)[list(index)] = values
        return new
    flat = jnp.asarray(old).reshape(-1)
    for index, values in parts.items():
        flat = flat.at[np.array(index)].set(values.astype(flat.dtype))
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
