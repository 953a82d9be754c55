"""Networks at work: what they read at the marks of a step, and what they do there."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float

from ..model import Augmentation, Model
from ..model.names import Marks, with_rows
from ..spatial import Array, add_at, pick
from .networks import Network
from .wiring import Given, Places, Plan, Wire

BEFORE = " before"


class Site(eqx.Module):
    """One network, where its inputs come from and where its outputs go."""

    network: Network
    constants: tuple[Float[Array, "rows _"], ...]
    plan: Plan = eqx.field(static=True)

    def __call__(self, x: Float[Array, "rows inputs"], memory: Any) -> tuple[Float[Array, "rows outputs"], Any]:
        """Of all rows; a network without rows of its own is traced without a batch axis."""
        if self.plan.rows > 1:
            return jax.vmap(self.network)(x, memory)
        y, memory = self.network(x[0], jax.tree.map(lambda leaf: leaf[0], memory))
        return y[None], jax.tree.map(lambda leaf: leaf[None], memory)

    def key(self, wire: Wire) -> str:
        """Under which the values of an input are kept: a network that looks at the variable that it changes sees, now and
        in the past, what it was before any network changed it."""
        return wire.name + BEFORE if any(wire.name == out.name for out in self.plan.outputs) else wire.name

    def memory(self, dtype) -> Any:
        rows = self.plan.rows
        return jax.tree.map(lambda leaf: jnp.tile(leaf[None], (rows, *[1] * leaf.ndim)), self.network.memory(dtype))

    def changed(self, name: str, value: Array, y: Float[Array, "rows outputs"]) -> Array:
        """The variable with what the network has to say about it."""
        start = 0
        for wire in self.plan.outputs:
            size = wire.places.shape[1]
            if wire.name == name:
                return _combined(self.plan.mode, value, wire.places, y[:, start : start + size])
            start += size
        raise KeyError(name)


def _combined(mode: str, value: Array, places: Places, y: Float[Array, "rows numbers"]) -> Array:
    value = jnp.asarray(value)
    flat, index = value.reshape(-1), places.array.ravel()
    all_of_it = np.array_equal(index, np.arange(flat.size))
    change = y.ravel() if all_of_it else add_at(flat.size, index, y.ravel())
    if mode == "add":
        result = flat + change
    elif mode == "scale":
        result = flat * (1 + change)
    else:
        concerned = np.zeros(flat.size, dtype=bool)
        concerned[index] = True
        result = change if all_of_it else jnp.where(concerned, change, flat)
    return result.reshape(value.shape)


class Past(eqx.Module):
    """What networks remember."""

    fresh: Bool[Array, ""]
    """Whether no step has been made yet."""
    values: dict[str, Float[Array, "_ _"]]
    """Of each variable that is looked at later, the last one first."""
    cells: tuple[Any, ...]
    """Of each network with a memory of its own; None for others."""


class Networks(Augmentation):
    """All networks of a model."""

    sites: tuple[Site, ...]
    sizes: tuple[tuple[str, tuple[int, ...]], ...] = eqx.field(static=True)
    """Shapes of all variables of the model's step."""

    @property
    def depths(self) -> dict[str, int]:
        """How far back each variable is looked at."""
        found: dict[str, int] = {}
        for key, wire in self.wires():
            if max(wire.delays):
                found[key] = max(found.get(key, 0), *wire.delays)
        return found

    def wires(self) -> list[tuple[str, Wire]]:
        """All that is looked at, and under which key."""
        return [(site.key(wire), wire) for site in self.sites for wire in site.plan.inputs if isinstance(wire, Wire)]

    def memory(self, dtype) -> Past | None:
        shapes = dict(self.sizes)
        cells = tuple(site.memory(dtype) for site in self.sites)
        values: dict[str, Array] = {
            key: jnp.zeros((depth, int(np.prod(shapes[key.removesuffix(BEFORE)]))), dtype=dtype)
            for key, depth in self.depths.items()
        }
        if not values and all(cell is None for cell in cells):
            return None
        return Past(jnp.ones((), dtype=bool), values, cells)

    def begin(self, memory: Past | None, then: Marks) -> Marks:
        return Acting(self, memory, then)


def sites_of(model: Any) -> tuple[Site, ...]:
    """All networks of a model; of anything else none."""
    networks = getattr(model, "augmentation", None)
    return networks.sites if isinstance(networks, Networks) else ()


def with_sites(model: Model, sites: Sequence[Site]) -> Model:
    """The model with these of its networks, or with others in their places; without any it is a plain model."""
    networks = model.augmentation
    if not isinstance(networks, Networks):
        raise ValueError("this model has no networks; blueprint.graft(model) puts them in")
    return replace(model, augmentation=replace(networks, sites=tuple(sites)) if sites else None)


class Acting(Marks):
    """The marks of one evaluation of a model with networks."""

    def __init__(self, networks: Networks, memory: Past | None, then: Marks):
        self.networks, self.past, self.then = networks, memory, then
        self.read = {wire.name for _, wire in networks.wires()}
        self.kept = {key for key, _ in networks.wires()}
        self.written = {wire.name for site in networks.sites for wire in site.plan.outputs}
        self.values: dict[str, Array] = {}
        self.seen: set[str] = set()
        self.results: dict[int, Array] = {}
        self.inputs: dict[int, Array] = {}
        self.later: set[str] = set()
        self.cells = list(memory.cells) if memory is not None else [None] * len(networks.sites)

    def wants(self, name: str) -> bool:
        return name in self.read or name in self.written or self.then.wants(name)

    def offer(self, name: str, compute: Callable[[], Array]) -> None:
        if name in self.written:
            raise ValueError(
                f"a network changes {name!r}, which this step only lets be read: its blueprint was grafted for another "
                "contact model; pass the same contact= here as to graft"
            )
        super().offer(name, compute)

    def complete(self, name: str, rows: np.ndarray, compute: Callable[[], Array]) -> None:
        for key in (name, name + BEFORE):
            if key in self.values:
                self.values[key] = with_rows(self.values[key], rows, compute())
        self.then.complete(name, rows, compute)

    def again(self) -> Marks:
        return Acting(self.networks, self.past, self.then.again())

    def __call__(self, name: str, value: Array) -> Array:
        self.seen.add(name)
        if name + BEFORE in self.kept:
            self.values[name + BEFORE] = value
        if name in self.written:
            for i, site in enumerate(self.networks.sites):
                if any(wire.name == name for wire in site.plan.outputs):
                    if i not in self.results:
                        self._evaluate(i, site, jnp.result_type(value))
                    value = site.changed(name, value, self.results[i])
        value = self.then(name, value)
        if name in self.kept:
            self.values[name] = value
        return value

    def _evaluate(self, i: int, site: Site, dtype) -> None:
        blocks = [self._block(site, wire) for wire in site.plan.inputs]
        self.inputs[i] = jnp.concatenate(blocks, axis=1) if blocks else jnp.zeros((site.plan.rows, 0), dtype=dtype)
        self.results[i], self.cells[i] = site(self.inputs[i], self.cells[i])

    def _block(self, site: Site, wire: Wire | Given) -> Float[Array, "rows numbers"]:
        if isinstance(wire, Given):
            return lax.stop_gradient(jnp.asarray(site.constants[wire.place]))
        key = site.key(wire)
        if 0 in wire.delays and key not in self.values:
            self._missing(site, wire.name)
        parts = [_picked(self._source(key, delay), wire.places) for delay in wire.delays]
        if wire.cyclic:
            parts = [part for x in parts for part in (jnp.sin(x), jnp.cos(x))]
        return parts[0] if len(parts) == 1 else jnp.concatenate(parts, axis=1)

    def _source(self, key: str, delay: int) -> Float[Array, " size"]:
        if delay == 0:
            return jnp.asarray(self.values[key]).reshape(-1)
        earlier = self.past.values[key][delay - 1]
        if key not in self.values:
            self.later.add(key)
        if key in self.later:
            return earlier
        return jnp.where(self.past.fresh, jnp.asarray(self.values[key]).reshape(-1), earlier)

    def _missing(self, site: Site, name: str) -> None:
        raise ValueError(
            f"the network at {site.plan} needs {name!r}, which this step does not compute: its blueprint was grafted for "
            "another contact model; pass the same contact= here as to graft"
        )

    def end(self) -> Past | None:
        for site in self.networks.sites:
            for name in site.plan.names:
                if name not in self.seen:
                    self._missing(site, name)
        self.then.end()
        if self.past is None:
            return None
        values = {key: self._shifted(key, past) for key, past in self.past.values.items()}
        return Past(jnp.zeros((), dtype=bool), values, tuple(self.cells))

    def _shifted(self, key: str, past: Float[Array, "steps size"]) -> Float[Array, "steps size"]:
        newest = jnp.asarray(self.values[key]).reshape(1, -1).astype(past.dtype)
        if len(past) == 1:
            return newest
        # Before the first step: zero where a network asked before the variable was known, else its first value.
        older = past[:-1] if key in self.later else jnp.where(self.past.fresh, newest, past[:-1])
        return jnp.concatenate([newest, older])


def _picked(flat: Float[Array, " size"], places: Places) -> Float[Array, "rows numbers"]:
    index = places.array
    if index.shape[0] == 1 and np.array_equal(index[0], np.arange(flat.size)):
        return flat[None]
    return pick(flat, index.ravel()).reshape(index.shape)
