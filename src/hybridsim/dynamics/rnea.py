"""Inverse dynamics: the recursive Newton-Euler algorithm (RBDA table 5.1), in world axes."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ..model import Model
from ..spatial import Array, Inertia, angular, cross, cross_force, linear, rotate, spatial
from .kinematics import Configuration, Velocities, configuration, joint_motion, velocities
from .mechanism import Mechanism, assemble
from .mimic import expand_q, expand_v, reduce_force
from .traverse import sum_inward, sum_outward, take
from .wrench import Wrenches, node_forces


@eqx.filter_jit
def inverse_dynamics(
    model: Model,
    q: Float[Array, " nq"],
    qd: Float[Array, " nv"],
    qdd: Float[Array, " nv"],
    wrenches: Wrenches = None,
) -> Float[Array, " nv"]:
    """Joint forces that cause the acceleration qdd: tau = M(q) qdd + C(q, qd) qd + g(q) - J^T wrenches.

    Passive forces of the joints (springs, damping, friction) are not included: they are part of tau.
    """
    mechanism = assemble(model)
    q_all, qd_all, qdd_all = (
        expand_q(mechanism, jnp.asarray(q)),
        expand_v(mechanism, jnp.asarray(qd)),
        expand_v(mechanism, jnp.asarray(qdd)),
    )
    conf = configuration(mechanism, q_all)
    tau = rnea(
        mechanism, conf, velocities(mechanism, q_all, conf, qd_all), qdd_all, node_forces(mechanism, conf, wrenches)
    )
    return reduce_force(mechanism, tau)


@eqx.filter_jit
def bias_force(
    model: Model, q: Float[Array, " nq"], qd: Float[Array, " nv"], wrenches: Wrenches = None
) -> Float[Array, " nv"]:
    """Gravity, Coriolis and centrifugal forces: the inverse dynamics of no acceleration."""
    return inverse_dynamics(model, q, qd, jnp.zeros_like(qd), wrenches)


def rnea(
    mechanism: Mechanism,
    conf: Configuration,
    vel: Velocities,
    qdd: Float[Array, " all_v"],
    external: Float[Array, "nodes 6"] | None,
) -> Float[Array, " all_v"]:
    tables = mechanism.layout
    # Outward: accelerations. Gravity enters as an acceleration of the world upwards.
    a = sum_outward(tables.nodes, joint_motion(mechanism, conf.S, qdd) + vel.c) + upwards(mechanism)
    # Force that each node needs, by the equation of motion f = I a + v x* I v.
    f = times(conf.inertia, a) + cross_force(vel.v, times(conf.inertia, vel.v))
    if external is not None:
        f = f - external
    # Inward: each joint carries what all nodes beyond it need.
    f = sum_inward(tables.nodes, f)
    return jnp.sum(conf.S * take(f, tables.dof_nodes), axis=-1) + mechanism.armature * qdd


def upwards(mechanism: Mechanism) -> Float[Array, "6"]:
    """The acceleration of the world that has the effect of gravity."""
    gravity = jnp.asarray(mechanism.gravity)
    return jnp.concatenate([jnp.zeros_like(gravity), -gravity])


def times(inertia: Inertia, v: Float[Array, "nodes 6"]) -> Float[Array, "nodes 6"]:
    """I v: without the matrices, whose 36 numbers a node would be the largest array of a long chain."""
    w, u, h = angular(v), linear(v), inertia.moment
    return spatial(rotate(inertia.tensor, w) + cross(h, u), inertia.mass[:, None] * u - cross(h, w))
