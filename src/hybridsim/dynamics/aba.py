"""Forward dynamics: the articulated-body algorithm (RBDA table 7.1), in world axes, and its derivative.

A joint with several freedoms is treated as that many joints in a row with no mass between them. Eliminating
them one after the other is the block elimination of the book, written as L D L^T, so D is always a number.
"""

from functools import reduce

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ..model import Model
from ..spatial import Array, add_at, cross_force, keep
from .crba import crba
from .kinematics import Configuration, Velocities, configuration, velocities
from .mechanism import Mechanism, assemble
from .mimic import check_size, expand_q, expand_v, reduce_force
from .rnea import rnea, times, upwards
from .traverse import Tree, add_up, inward, outward
from .wrench import Wrenches, node_forces


@eqx.filter_jit
def forward_dynamics(
    model: Model,
    q: Float[Array, " nq"],
    qd: Float[Array, " nv"],
    tau: Float[Array, " nv"],
    wrenches: Wrenches = None,
    prescribed: Float[Array, " prescribed"] | None = None,
) -> Float[Array, " nv"]:
    """Joint accelerations caused by the joint forces tau.

    tau is the total force at the joints; `passive_forces` gives the part of springs, damping and friction. Joints that are
    prescribed (`hs.prescribed`) have the accelerations `prescribed`, zero unless given, whatever tau is there: hybrid
    dynamics (RBDA section 9.2).
    """
    mechanism = assemble(model)
    q_all, qd_all = expand_q(mechanism, jnp.asarray(q)), expand_v(mechanism, jnp.asarray(qd))
    check_size("tau", jnp.asarray(tau), model.nv)
    conf = configuration(mechanism, q_all)
    vel = velocities(mechanism, q_all, conf, qd_all)
    external = node_forces(mechanism, conf, wrenches)
    if prescribed is not None:
        check_size("prescribed", jnp.asarray(prescribed), len(model.topology.prescribed_v))
        prescribed = add_at(model.nv, model.topology.prescribed_v, prescribed)
    return accelerations(mechanism, conf, vel, jnp.asarray(tau), external, prescribed)


def accelerations(
    mechanism: Mechanism,
    conf: Configuration,
    vel: Velocities,
    tau: Float[Array, " nv"],
    external: Float[Array, "nodes 6"] | None,
    given: Float[Array, " nv"] | None = None,
) -> Float[Array, " nv"]:
    """Forward dynamics, given where everything is and how it moves.

    `given` holds the accelerations of prescribed joints, and zeros for all others.
    """
    if not mechanism.topology.has_mimics:
        return aba(mechanism, conf, vel, tau, external, given) if len(tau) else tau
    # Coupled joints are no tree, so there the reduced equation of motion is solved: E^T M E qdd = tau - E^T h.
    M = crba(mechanism, conf)
    M = reduce_force(mechanism, reduce_force(mechanism, M).T)
    zero = jnp.zeros(mechanism.topology.nv_all, dtype=tau.dtype)
    known = zero if given is None else expand_v(mechanism, given)
    force = tau - reduce_force(mechanism, rnea(mechanism, conf, vel, known, external))
    qdd = jnp.linalg.solve(of_yielding(mechanism, M), zero_prescribed(mechanism, force))
    return qdd if given is None else qdd + given


def of_yielding(mechanism: Mechanism, M: Float[Array, "nv nv"]) -> Float[Array, "nv nv"]:
    """The mass matrix of what forces move; prescribed freedoms stand apart, with ones on the diagonal."""
    yields = mechanism.topology.yields
    return M if yields is None else jnp.where(yields[:, None] & yields, M, np.eye(len(yields), dtype=M.dtype))


def zero_prescribed(mechanism: Mechanism, x: Float[Array, "nv *columns"]) -> Float[Array, "nv *columns"]:
    """x without what concerns prescribed freedoms."""
    yields = mechanism.topology.yields
    return x if yields is None else jnp.where(yields.reshape(-1, *[1] * (x.ndim - 1)), x, 0.0)


@eqx.filter_custom_jvp
def aba(
    mechanism: Mechanism,
    conf: Configuration,
    vel: Velocities,
    tau: Float[Array, " dofs"],
    external: Float[Array, "nodes 6"] | None,
    given: Float[Array, " dofs"] | None,
) -> Float[Array, " dofs"]:
    return _articulated(mechanism, conf, vel, tau, external, given)[0]


@aba.def_jvp
def _aba_jvp(primals, tangents):
    """From tau = ID(qdd): with d for tangents, dqdd = M^-1 (dtau - dID), where dID holds qdd fixed but for what is given.

    The articulated bodies factor M, so this is far less work than the derivative of every step of the algorithm.
    """
    *setting, tau, external, given = primals
    *d_setting, d_tau, d_external, d_given = tangents
    mechanism, conf, vel = setting
    qdd, factors = keep(_articulated(mechanism, conf, vel, tau, external, given))

    def inverse_dynamics(mechanism, conf, vel, external, changed):
        return rnea(mechanism, conf, vel, qdd if changed is None else qdd + (changed - given), external)

    _, d_force = eqx.filter_jvp(inverse_dynamics, (*setting, external, given), (*d_setting, d_external, d_given))
    parts = [x for x in (d_tau, None if d_force is None else -d_force) if x is not None]
    d_qdd = _solve(mechanism, conf, factors, reduce(jnp.add, parts)) if parts else None
    return qdd, d_qdd if d_given is None else d_given if d_qdd is None else d_qdd + d_given


class Factors(eqx.Module):
    """Of each freedom, with S its motion and I^A the articulated-body inertia beyond it."""

    U: Float[Array, "dofs 6"]
    """I^A S"""
    D_inv: Float[Array, " dofs"]
    """1 / (S . U + armature); zero for a prescribed freedom, as if it had an infinitely heavy rotor."""

    def __iter__(self):
        return iter((self.U, self.D_inv))


def factorise(mechanism: Mechanism, conf: Configuration) -> Factors:
    """The factors of the mass matrix alone: pass 2 without forces."""
    tables = mechanism.layout

    def eliminate(received, inertia, S, armature, yields):
        I_A = inertia.matrix()
        if received is not None:
            I_A = I_A + received
        U = jnp.einsum("nij,nj->ni", I_A, S)
        D_inv = _inverse(jnp.sum(S * U, axis=-1) + armature, yields)
        return (U, D_inv), I_A - U[:, :, None] * U[:, None, :] * D_inv[:, None, None]

    I = _at_last_dofs(tables, conf.inertia)
    yields = mechanism.topology.yields
    return Factors(*inward(tables.dofs, eliminate, I, conf.S, jnp.asarray(mechanism.armature), yields))


def _inverse(D: Float[Array, " dofs"], yields: Bool[Array, " dofs"] | None) -> Float[Array, " dofs"]:
    return 1 / D if yields is None else jnp.where(yields, 1 / jnp.where(yields, D, 1.0), 0.0)


def _articulated(
    mechanism: Mechanism, conf: Configuration, vel: Velocities, tau, external, given
) -> tuple[Array, Factors]:
    """Accelerations, and the factors of the mass matrix.

    A prescribed freedom is not eliminated (RBDA section 9.2): bodies on both sides of it move as one, but for its
    given acceleration, which adds to the velocity-product accelerations c.
    """
    tables = mechanism.layout
    # Pass 1: rigid-body inertias and bias forces, p = v x* I v - external.
    p = cross_force(vel.v, times(conf.inertia, vel.v))
    if external is not None:
        p = p - external
    # They belong to the last freedom of each joint; the ones before it carry nothing.
    I, p, c = (_at_last_dofs(tables, x) for x in (conf.inertia, p, vel.c))
    if given is not None:
        c = c + conf.S * given[:, None]

    # Pass 2, inward: articulated-body inertias I^A and bias forces p^A.
    def eliminate(received, inertia, p_A, c, S, tau, armature, yields):
        I_A = inertia.matrix()
        if received is not None:
            I_A, p_A = I_A + received[0], p_A + received[1]
        U = jnp.einsum("nij,nj->ni", I_A, S)
        D_inv = _inverse(jnp.sum(S * U, axis=-1) + armature, yields)
        u = tau - jnp.sum(S * p_A, axis=-1)
        I_a = I_A - U[:, :, None] * U[:, None, :] * D_inv[:, None, None]
        p_a = p_A + jnp.einsum("nij,nj->ni", I_a, c) + U * (u * D_inv)[:, None]
        return (U, D_inv, u), (I_a, p_a)

    armature, yields = jnp.asarray(mechanism.armature), mechanism.topology.yields
    U, D_inv, u = inward(tables.dofs, eliminate, I, p, c, conf.S, tau, armature, yields)

    # Pass 3, outward: accelerations. Gravity enters as an acceleration of the world upwards.
    factors = Factors(U, D_inv)
    qdd = _accelerate(mechanism, conf, factors, u, upwards(mechanism), c)
    return qdd if given is None else qdd + given, factors


def _solve(
    mechanism: Mechanism,
    conf: Configuration,
    factors: Factors,
    tau: Float[Array, " dofs"],
) -> Float[Array, " dofs"]:
    """M^-1 tau: passes 2 and 3 for a mechanism at rest without gravity, whose inertias are known."""
    return outward_solve(mechanism, conf, factors, inward_solve(mechanism, conf, factors, tau))


def inward_solve(
    mechanism: Mechanism, conf: Configuration, factors: Factors, tau: Float[Array, " dofs"]
) -> Float[Array, " dofs"]:
    """The first half of M^-1 tau."""

    def eliminate(received, tau, S, U, D_inv):
        u = tau if received is None else tau - jnp.sum(S * received, axis=-1)
        p = U * (u * D_inv)[:, None]
        return u, p if received is None else received + p

    return inward(mechanism.layout.dofs, eliminate, tau, conf.S, *factors)


def outward_solve(
    mechanism: Mechanism, conf: Configuration, factors: Factors, u: Float[Array, " dofs"]
) -> Float[Array, " dofs"]:
    """The second half of M^-1 tau, given u of the first."""
    return _accelerate(mechanism, conf, factors, u, jnp.zeros(6, dtype=u.dtype), jnp.zeros_like(conf.S))


def _accelerate(mechanism: Mechanism, conf: Configuration, factors: Factors, u, a_world, c) -> Float[Array, " dofs"]:
    def step(parent, U, D_inv, u, c, S):
        a = parent[0] + c
        qdd = (u - jnp.sum(U * a, axis=-1)) * D_inv
        return a + S * qdd[:, None], qdd

    world = (a_world[None], jnp.zeros(1, dtype=u.dtype))
    return outward(mechanism.layout.dofs, step, world, factors.U, factors.D_inv, u, c, conf.S)[1]


def _at_last_dofs(tables, x: Tree) -> Tree:
    """Rows of nodes as rows of freedoms."""
    if len(tables.last_dofs) == len(tables.dof_nodes):
        return x
    return jax.tree.map(lambda rows: add_up(rows, tables.last_dofs, len(tables.dof_nodes)), x)
