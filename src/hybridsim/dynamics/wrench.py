"""External wrenches on links: (moment, force) with the world's axes, acting at the link's origin."""

from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..spatial import Array, shift_force
from .kinematics import Configuration, link_poses
from .mechanism import Mechanism
from .traverse import add_up, take

Wrenches = Mapping[str, Array] | Float[Array, "links 6"] | None
"""By link name, or one row a link [N m, N]."""


def link_forces(mechanism: Mechanism, wrenches: Wrenches, dtype) -> Float[Array, "links 6"]:
    """One row for every link; zeros where nothing is given."""
    topology = mechanism.topology
    if wrenches is None or isinstance(wrenches, Mapping):
        total = jnp.zeros((len(topology.link_names), 6), dtype=dtype)
        for name, wrench in (wrenches or {}).items():
            total = total.at[topology.link(name)].add(jnp.asarray(wrench))
        return total
    return jnp.asarray(wrenches)


def node_forces(mechanism: Mechanism, conf: Configuration, wrenches: Wrenches) -> Float[Array, "nodes 6"] | None:
    """The external force on each node, about its reference point. What acts on a fixed link has no effect."""
    if wrenches is None:
        return None
    topology = mechanism.topology
    if isinstance(wrenches, Mapping):
        links = np.array([topology.link(name) for name in wrenches], dtype=int)
        if len(links) == 0:
            return None
        forces = jnp.stack([jnp.asarray(wrench) for wrench in wrenches.values()])
    else:
        links = np.arange(len(topology.link_names))
        forces = jnp.asarray(wrenches)
    moved = mechanism.link_nodes[links] >= 0
    links, forces = links[moved], take(forces, np.flatnonzero(moved))
    nodes = mechanism.link_nodes[links]
    points = link_poses(mechanism, conf).position[links] - take(conf.reference, nodes)
    return add_up(shift_force(forces, points), nodes, len(mechanism.layout.node_joints))
