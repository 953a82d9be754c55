"""How the points of a pair share what belongs to the pair, and how much each of them yields."""

from functools import lru_cache

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..model import Model, carrier, mechanism_of
from ..model.topology import Topology
from ..spatial import Array, pick
from .interface import Moment
from .points import PointTable, point_table


def point_shares(model: Model, table: PointTable) -> Float[Array, " points"] | None:
    """Of each point the part of its pair that it stands for: of a patch that of its area, else all; None without patches.

    Shares make a sum over a patch an integral over its area. A load then spreads over a rigid patch as over an elastic
    layer, with a pressure that is linear in the place, whatever the grid.
    """
    areas = model.geometry.areas
    if all(area is None for area in areas):
        return None
    shares, pairs = [], model.contacts.pairs
    for _, group in table.groups:
        for i in group:
            count = int(np.sum(table.pairs == i))
            own = [jnp.asarray(areas[shape]) for shape in pairs[i] if areas[shape] is not None]
            shares.append(own[0] / jnp.sum(own[0]) if own else jnp.ones(count))
    return jnp.concatenate(shares)


def shared(number: Float[Array, " points"], shares: Float[Array, " points"] | None) -> Float[Array, " points"]:
    """The part of a pair's number that falls to each point."""
    return number if shares is None else number * shares


def point_softness(now: Moment) -> Float[Array, " points"]:
    """R of each point: the speed that it yields for one unit of impulse [1/kg]."""
    table = point_table(now)
    inverse = _inverse_masses(now.model)
    pairs = np.array(now.model.contacts.pairs, dtype=int).reshape(-1, 2)[table.pairs]
    R = pick(now.model.contacts.softness, table.pairs) * (pick(inverse, pairs[:, 0]) + pick(inverse, pairs[:, 1]))
    shares = point_shares(now.model, table)
    return R if shares is None else R / shares


def _inverse_masses(model: Model) -> Float[Array, " shapes"]:
    """One over the mass of the body that carries each shape; 0 for what is fixed or prescribed. A body without a mass
    counts as all of its mechanism."""
    of_body, of_mechanism = _owners(model.topology, model.geometry.links)
    mass = jnp.asarray(model.links.mass)
    body, mechanism = of_body.astype(mass.dtype) @ mass, of_mechanism.astype(mass.dtype) @ mass
    moving = np.any(of_body, axis=1)
    own = jnp.where(body > 0, body, mechanism)
    return jnp.where(moving & (own > 0), 1 / jnp.where(own > 0, own, 1.0), 0.0)


@lru_cache(maxsize=64)
def _owners(topology: Topology, shape_links: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Of each shape, which links move with it as one body, and which belong to its mechanism; none for what is fixed
    or moves as it is told."""
    links = range(len(topology.link_names))
    carriers = [carrier(topology, link) for link in links]
    mechanisms = [mechanism_of(topology, link) for link in links]

    def members(owners: list[int]) -> np.ndarray:
        table = np.zeros((len(shape_links), len(owners)), dtype=bool)
        for row, link in zip(table, shape_links, strict=True):
            if link >= 0 and carriers[link] >= 0 and carriers[link] not in topology.prescribed:
                row[:] = np.equal(owners, owners[link])
        return table

    return members(carriers), members(mechanisms)
