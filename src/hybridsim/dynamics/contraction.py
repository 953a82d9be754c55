"""What rows of impulses do in joint coordinates, given their sizes: J^T x and J v, without forming J."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..spatial import Array, add_at, pick
from .kinematics import Configuration, joint_motion
from .mechanism import Mechanism
from .mimic import expand_v, reduce_force
from .response import Actions
from .traverse import sum_inward, sum_outward, take


def impulse_balance(
    mechanism: Mechanism,
    conf: Configuration,
    actions: Actions,
    x: Float[Array, " rows"],
    velocity: Float[Array, " nv"],
) -> Float[Array, " nv"]:
    """J^T x - M v: zero if the impulses x cause the change of velocity v (RNEA with impulses for forces)."""
    tables, acting = mechanism.layout, actions.acting
    dofs, size = np.array(acting.dofs), pick(x, np.array(acting.rows))
    external = add_at(len(conf.reference), tables.dof_nodes[dofs], size[:, None] * actions.force)
    at_freedoms = add_at(len(tables.dof_nodes), dofs, size * actions.joint_force)
    return momentum_balance(mechanism, conf, external, at_freedoms, velocity)


def momentum_balance(
    mechanism: Mechanism,
    conf: Configuration,
    on_nodes: Float[Array, "nodes 6"],
    at_freedoms: Float[Array, " all_v"],
    velocity: Float[Array, " nv"],
) -> Float[Array, " nv"]:
    """The same for impulses on nodes, about their reference points, and at the freedoms of all joints."""
    tables, v = mechanism.layout, expand_v(mechanism, velocity)
    motion = sum_outward(tables.nodes, joint_motion(mechanism, conf.S, v))
    f = sum_inward(tables.nodes, jnp.einsum("nij,nj->ni", conf.inertia.matrix(), motion) - on_nodes)
    needed = jnp.sum(conf.S * take(f, tables.dof_nodes), axis=-1) + mechanism.armature * v
    return reduce_force(mechanism, at_freedoms - needed)


def row_velocities(
    mechanism: Mechanism, conf: Configuration, actions: Actions, velocity: Float[Array, " nv"]
) -> Float[Array, " rows"]:
    """J v."""
    tables, acting = mechanism.layout, actions.acting
    v, dofs = expand_v(mechanism, velocity), np.array(acting.dofs)
    motion = sum_outward(tables.nodes, joint_motion(mechanism, conf.S, v))
    at_bodies = jnp.sum(actions.force * pick(motion, tables.dof_nodes[dofs]), axis=-1)
    return add_at(acting.count, np.array(acting.rows), at_bodies + actions.joint_force * pick(v, dofs))
