"""The Jacobian of a link."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..model import Model
from ..spatial import Array, cross
from .kinematics import configuration, link_poses
from .mechanism import assemble
from .mimic import expand_q, reduce_force


@eqx.filter_jit
def jacobian(
    model: Model, q: Float[Array, " nq"], link: str, point: Float[Array, "3"] | None = None
) -> Float[Array, "6 nv"]:
    """J with J qd = (angular velocity, velocity of the point), both with the world's axes.

    `point` is given in the link's frame [m]; None is its origin.
    """
    mechanism = assemble(model)
    tables = mechanism.layout
    conf = configuration(mechanism, expand_q(mechanism, jnp.asarray(q)))
    index = model.topology.link(link)
    node = int(mechanism.link_nodes[index])
    if node < 0:
        return jnp.zeros((6, model.nv))
    pose = link_poses(mechanism, conf)[index]
    place = pose.position if point is None else pose.apply(jnp.asarray(point))
    S = conf.S
    moved = jnp.concatenate([S[:, :3], S[:, 3:] + cross(S[:, :3], place - conf.reference[node])], axis=-1)
    supports: np.ndarray = tables.supports[:, tables.last_dofs[node]]
    return reduce_force(mechanism, jnp.where(supports[:, None], moved, 0.0)).T
