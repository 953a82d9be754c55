"""How velocities respond to impulses: the Delassus matrix from the articulated-body factors (no inverse of M).

M = L^T D L, where L comes from the recursion and D is diagonal. For a unit impulse of row r let y_r = D^-1/2 L^-T J_r^T:
what an inward pass leaves at the freedoms on the path to the root. Then J M^-1 J^T = Y Y^T, and impulses x change
velocities by M^-1 J^T x = L^-1 D^-1/2 w with w = Y^T x: one outward pass.
"""

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..spatial import Array, add_at, pick
from .aba import factorise, outward_solve
from .crba import crba
from .kinematics import Configuration
from .mechanism import Mechanism
from .mimic import reduce_force


class Response(eqx.Module):
    """Rows Y, and what turns w = Y^T x into a change of velocities."""

    Y: Float[Array, "rows nv"]
    velocities: Callable[[Float[Array, " nv"]], Float[Array, " nv"]]


@dataclass(frozen=True, eq=False)
class Acting:
    """Where impulses act: row r has a unit impulse on a node or on a freedom. Rows may repeat; their effects add up."""

    rows: np.ndarray
    """Of each action, its row."""
    dofs: np.ndarray
    """Of each action, the freedom at which it enters: the last one of its node, or a freedom itself."""
    count: int
    """Number of rows."""


def response(
    mechanism: Mechanism,
    conf: Configuration,
    acting: Acting,
    force: Float[Array, "actions 6"],
    joint_force: Float[Array, " actions"],
) -> Response:
    """Each action is a spatial impulse on a body, about its reference point, and a joint impulse at its freedom."""
    if mechanism.topology.has_mimics:
        return _dense(mechanism, conf, acting, force, joint_force)
    factors = factorise(mechanism, conf)
    root = jnp.sqrt(factors.D_inv)
    # Inward, all rows side by side: u = S . f at each freedom on the path, then f - U u / D goes on.
    values, places = [], []
    for here, dofs in _paths(mechanism, acting):
        S, U, D_inv = (pick(x, dofs) for x in (conf.S, factors.U, factors.D_inv))
        f = pick(force, here)
        u = jnp.sum(S * f, axis=-1) + pick(joint_force, here)
        values.append(u * pick(root, dofs))
        places.append(acting.rows[here] * len(root) + dofs)
        passed = f - U * (u * D_inv)[:, None]
        force, joint_force = _replace(force, here, passed), _replace(joint_force, here, jnp.zeros_like(u))
    Y = add_at(acting.count * len(root), np.concatenate(places), jnp.concatenate(values))
    return Response(
        Y.reshape(acting.count, len(root)), lambda w: outward_solve(mechanism, conf, factors, w / root)
    )


def _paths(mechanism: Mechanism, acting: Acting) -> list[tuple[np.ndarray, np.ndarray]]:
    """From the leaves to the roots: which actions pass a freedom of a level, and which one."""
    tables = mechanism.layout
    above = np.tril(tables.supports.T)
    steps = []
    for level in reversed(tables.dofs.levels):
        here, which = np.nonzero(above[np.ix_(acting.dofs, level.nodes)])
        if len(here):
            steps.append((here, level.nodes[which]))
    return steps


def _replace(x: Array, places: np.ndarray, values: Array) -> Array:
    if len(places) == len(x) and np.array_equal(places, np.arange(len(x))):
        return values
    return jnp.asarray(x).at[places].set(values)


def _dense(mechanism: Mechanism, conf: Configuration, acting: Acting, force, joint_force) -> Response:
    """Coupled joints are no tree: there Y comes from the Cholesky factor of the reduced mass matrix."""
    supports = mechanism.layout.supports
    on_path = np.triu(supports)[:, acting.dofs]
    entering = np.eye(len(supports), dtype=bool)[:, acting.dofs]
    J = jnp.where(on_path, conf.S @ jnp.asarray(force).T, 0.0) + jnp.where(entering, joint_force, 0.0)
    J = add_at(acting.count, acting.rows, J.T)
    M = crba(mechanism, conf)
    factor = jnp.linalg.cholesky(reduce_force(mechanism, reduce_force(mechanism, M).T))
    rows = reduce_force(mechanism, J.T)
    Y = jax.scipy.linalg.solve_triangular(factor, rows, lower=True).T
    return Response(Y, lambda w: jax.scipy.linalg.solve_triangular(factor.T, w, lower=False))
