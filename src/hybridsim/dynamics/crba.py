"""The joint-space mass matrix: the composite-rigid-body algorithm (RBDA table 6.2), in world axes."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ..model import Model
from ..spatial import Array
from .kinematics import Configuration, configuration
from .mechanism import Mechanism, assemble
from .mimic import expand_q, reduce_force
from .traverse import sum_inward, take


@eqx.filter_jit
def mass_matrix(model: Model, q: Float[Array, " nq"]) -> Float[Array, "nv nv"]:
    """M(q), armature included."""
    mechanism = assemble(model)
    M = crba(mechanism, configuration(mechanism, expand_q(mechanism, jnp.asarray(q))))
    return reduce_force(mechanism, reduce_force(mechanism, M).T)


def crba(mechanism: Mechanism, conf: Configuration) -> Float[Array, "all_v all_v"]:
    tables = mechanism.layout
    # Composite inertias: each node together with all beyond it.
    composite = sum_inward(tables.nodes, conf.inertia).matrix()
    # F_j: the force that moves the composite body of freedom j with unit acceleration. Freedom i, nearer to
    # the root, feels S_i . F_j; where neither supports the other, the entry is zero.
    F = jnp.einsum("nij,nj->ni", take(composite, tables.dof_nodes), conf.S)
    upper = jnp.where(tables.supports, conf.S @ F.T, 0.0)
    full = jnp.where(tables.supports, upper, upper.T)
    return full + jnp.diag(jnp.asarray(mechanism.armature))
