"""What makes weights vanish: the papers' penalty, and the sparse-group lasso with proximal steps.

A group is an input variable of a network: the columns of its first layer that belong to one block. All its weights are
zero or none; a network whose groups have all vanished is a constant, and one whose last layer has vanished is nothing.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..model.checks import NOT_NEGATIVE
from ..spatial import Array
from .acting import sites_of
from .flat import Flat
from .networks import InputLayer, OutputLayer, layers_of
from .networks.linear import Matrix


def papers_penalty(model: Any, kappa: float, lam: float) -> Float[Array, ""]:
    """kappa |first layers|_1 + lambda |upper layers|_2^2 (NeuralSim, equation 2), to be added to a loss."""
    first = sum((jnp.sum(jnp.abs(layer.weight)) for layer in layers_of(model, InputLayer)), jnp.zeros(()))
    return kappa * first + lam * sum((jnp.sum(jnp.square(w)) for w in _upper(model)), jnp.zeros(()))


def _upper(tree: Any) -> list[Array]:
    """Weight matrices above the first layer."""
    without = jax.tree.map(
        lambda node: None if isinstance(node, InputLayer) else node,
        [site.network for site in sites_of(tree)],
        is_leaf=lambda node: isinstance(node, InputLayer),
    )
    return [leaf for leaf in jax.tree.leaves(without) if jnp.ndim(leaf) == 2]


@dataclass(frozen=True)
class Strength:
    """How much a network listens to an input."""

    place: int
    """Of the network among those of the model."""
    site: str
    input: str
    norm: float
    """Of the columns of its first layer, for inputs of the size of one."""


def strengths(model: Any) -> list[Strength]:
    """All inputs of all networks, the strongest of each network first."""
    found = []
    for place, site in enumerate(sites_of(model)):
        norms: dict[str, float] = {}
        for layer in layers_of(site.network, InputLayer):
            for label, columns in layer.columns.items():
                norms[label] = float(np.hypot(norms.get(label, 0.0), np.linalg.norm(layer.weight[:, columns])))
        ranked = sorted(norms.items(), key=lambda item: -item[1])
        found += [Strength(place, str(site.plan), label, norm) for label, norm in ranked]
    return found


@dataclass(frozen=True)
class Penalty:
    """kappa (sum over groups of sqrt(size) |group|_2 + single |first layers|_1) + upper |upper layers|_2^2.

    Simon et al. 2013, with one group for each input variable of each network. With `places` each network's last layer is
    a group too, so that networks that are not needed vanish altogether. `upper` keeps networks from shrinking their first
    layer only to grow in the next.
    """

    kappa: float
    upper: float = 1e-6
    single: float = 0.0
    """Weight of the entry-wise part, which makes groups sparse within."""
    places: bool = False
    weights: tuple[float, ...] | None = None
    """Of each network, by which its kappa is multiplied: where one has far more to say than another, equal pulls would
    silence the one before the other has lost anything."""

    def __post_init__(self):
        for name in ("kappa", "upper", "single", "weights"):
            if getattr(self, name) is not None:
                NOT_NEGATIVE.check(f"Penalty: {name}", getattr(self, name))

    def on(self, model: Any, flat: Flat) -> "Pulling":
        """For one model and one choice of what is free."""
        count = len(sites_of(model))
        if self.weights is not None and len(self.weights) != count:
            raise ValueError(f"Penalty: there are {len(self.weights)} weights, but the model has {count} networks")
        places = flat.places()
        if any(layer.weight is None for layer in layers_of(places, InputLayer | OutputLayer)):
            raise ValueError("Penalty: it pulls at the weights of networks, but not all of them are free to be trained")
        group = np.full(flat.size, -1)
        owners: list[int] = []
        for i, site in enumerate(sites_of(places)):
            members = [x.weight[:, c] for x in layers_of(site.network, InputLayer) for c in x.columns.values()]
            if self.places:
                members += [_joined(x.weight, x.bias) for x in layers_of(site.network, OutputLayer)]
                members += [_joined(x.first.bias) for x in layers_of(site.network, Matrix) if x.first.bias is not None]
            for places_of_group in members:
                group[np.asarray(places_of_group).ravel()] = len(owners)
                owners.append(i)
        of_site = np.ones(max(owners, default=0) + 1) if self.weights is None else np.asarray(self.weights)
        upper = np.zeros(flat.size, dtype=bool)
        for weight in _upper(places):
            upper[np.asarray(weight).ravel()] = True
        return Pulling(self, group, self.kappa * of_site[np.array(owners, dtype=int)], upper)


def _joined(*arrays: np.ndarray | None) -> np.ndarray:
    return np.concatenate([np.ravel(x) for x in arrays if x is not None])


@dataclass(frozen=True)
class Pulling:
    """A penalty on a vector of free numbers."""

    penalty: Penalty
    groups: np.ndarray
    """Of each number its group; -1 for none."""
    kappas: np.ndarray
    """Of each group."""
    upper: np.ndarray

    def value(self, theta: np.ndarray) -> float:
        members, x = self._grouped(theta)
        norms, sizes = self._norms(members, x)
        lasso = np.sum(self.kappas * np.sqrt(sizes) * norms) + self.penalty.single * np.sum(
            self.kappas[members] * np.abs(x)
        )
        return float(lasso + self.penalty.upper * np.sum(theta[self.upper] ** 2))

    def gradient(self, theta: np.ndarray) -> np.ndarray:
        """Of the smooth part."""
        return 2 * self.penalty.upper * np.where(self.upper, theta, 0.0)

    def shrink(self, theta: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """The proximal step: entries, then groups, are drawn to zero by rate kappa, and stay there once they reach it."""
        members, x = self._grouped(theta)
        if not len(members):
            return theta
        rate = rate[self.groups >= 0]
        x = np.sign(x) * np.maximum(np.abs(x) - rate * self.kappas[members] * self.penalty.single, 0.0)
        norms, sizes = self._norms(members, x)
        pull = self.kappas * np.sqrt(sizes) * np.bincount(members, rate) / sizes
        left = np.where(norms > pull, 1 - pull / np.maximum(norms, 1e-300), 0.0)
        result = theta.copy()
        result[self.groups >= 0] = x * left[members]
        return result

    def _grouped(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        grouped = self.groups >= 0
        return self.groups[grouped], theta[grouped]

    @staticmethod
    def _norms(members: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.sqrt(np.bincount(members, x**2)), np.bincount(members)
