"""How velocities respond to impulses: the Delassus matrix from the articulated-body factors (no inverse of M).

M = L^T D L, where L comes from the recursion and D is diagonal. For a unit impulse of row r let y_r = D^-1/2 L^-T J_r^T:
what an inward pass leaves at the freedoms on the path to the root. Then J M^-1 J^T = Y Y^T, and impulses x change
velocities by M^-1 J^T x = L^-1 D^-1/2 w with w = Y^T x: one outward pass. Prescribed freedoms do not respond: there
D^-1/2 is zero.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..spatial import Array, add_at, pick
from .aba import Factors, factorise, inward_solve, of_yielding, outward_solve, zero_prescribed
from .crba import crba
from .kinematics import Configuration
from .mechanism import Mechanism
from .mimic import reduce_force

# More actions than this on one body are cheaper by way of unit impulses.
FEW = 8


@dataclass(frozen=True)
class Acting:
    """Where impulses act: row r has a unit impulse on a node or at a freedom. Rows may repeat; their effects add up."""

    rows: tuple[int, ...]
    """Of each action, its row."""
    dofs: tuple[int, ...]
    """Of each action, the freedom at which it enters: the last one of its node, or a freedom itself."""
    count: int
    """Number of rows."""
    on_bodies: int
    """How many actions, the first ones, are on bodies; the others are at freedoms."""


class Actions(eqx.Module):
    """Of each action: a spatial impulse on a body, about its reference point, and an impulse at its freedom."""

    force: Float[Array, "actions 6"]
    joint_force: Float[Array, " actions"]
    acting: Acting = eqx.field(static=True)


class TreeRoot(eqx.Module):
    """The square root D^1/2 L of the mass matrix of a tree."""

    mechanism: Mechanism
    conf: Configuration
    factors: Factors
    half: Float[Array, " dofs"]
    """D^-1/2"""

    @classmethod
    def of(cls, mechanism: Mechanism, conf: Configuration) -> "TreeRoot":
        factors = factorise(mechanism, conf)
        yields = mechanism.topology.yields
        if yields is None:
            return cls(mechanism, conf, factors, jnp.sqrt(factors.D_inv))
        half = jnp.where(yields, jnp.sqrt(jnp.where(yields, factors.D_inv, 1.0)), 0.0)
        return cls(mechanism, conf, factors, half)

    def velocities(self, w: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """L^-1 D^-1/2 w"""
        yields = self.mechanism.topology.yields
        half = self.half if yields is None else jnp.where(yields, self.half, 1.0)
        return outward_solve(self.mechanism, self.conf, self.factors, w / half)

    def of_force(self, tau: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """D^-1/2 L^-T tau"""
        return inward_solve(self.mechanism, self.conf, self.factors, tau) * self.half

    def rows(self, actions: Actions) -> Float[Array, "rows nv"]:
        """Y"""
        acting, count = actions.acting, actions.acting.count
        rows, dofs = np.array(acting.rows), np.array(acting.dofs)
        on_body = np.arange(len(dofs)) < acting.on_bodies
        many = on_body & (np.bincount(dofs[on_body], minlength=len(self.half))[dofs] > FEW)
        single, together = np.flatnonzero(~many), np.flatnonzero(many)
        Y = jnp.zeros((count, len(self.half)), dtype=self.half.dtype)
        if len(single):
            force, joint_force = pick(actions.force, single), pick(actions.joint_force, single)
            Y = Y + self._passed(rows[single], dofs[single], count, force, joint_force)
        if len(together):
            # Many actions on one body: what six unit impulses do there says what all others do.
            bodies, which = np.unique(dofs[together], return_inverse=True)
            unit = jnp.asarray(np.tile(np.eye(6), (len(bodies), 1)), dtype=Y.dtype)
            units = np.arange(6 * len(bodies))
            of_unit = self._passed(units, np.repeat(bodies, 6), len(units), unit, jnp.zeros_like(unit[:, 0]))
            for i in range(len(bodies)):
                here = together[which == i]
                Y = Y + add_at(count, rows[here], pick(actions.force, here) @ of_unit[6 * i : 6 * i + 6])
        return Y

    def _passed(self, rows: np.ndarray, dofs: np.ndarray, count: int, force, joint_force) -> Float[Array, "count nv"]:
        """Inward, all actions side by side: u = S . f at each freedom on the path, then f - U u / D goes on."""
        factors, size = self.factors, len(self.half)
        values, places = [], []
        for here, passing in _paths(self.mechanism, dofs):
            S, U, D_inv = (pick(x, passing) for x in (self.conf.S, factors.U, factors.D_inv))
            f = pick(force, here)
            u = jnp.sum(S * f, axis=-1) + pick(joint_force, here)
            values.append(u * pick(self.half, passing))
            places.append(rows[here] * size + passing)
            force = _replace(force, here, f - U * (u * D_inv)[:, None])
            joint_force = _replace(joint_force, here, jnp.zeros_like(u))
        return add_at(count * size, np.concatenate(places), jnp.concatenate(values)).reshape(count, size)


class DenseRoot(eqx.Module):
    """The same for coupled joints, which are no tree: the Cholesky factor of the reduced mass matrix, M = C C^T."""

    mechanism: Mechanism
    conf: Configuration
    factor: Float[Array, "nv nv"]

    @classmethod
    def of(cls, mechanism: Mechanism, conf: Configuration) -> "DenseRoot":
        M = reduce_force(mechanism, crba(mechanism, conf))
        return cls(mechanism, conf, jnp.linalg.cholesky(of_yielding(mechanism, reduce_force(mechanism, M.T))))

    def velocities(self, w: Float[Array, " nv"]) -> Float[Array, " nv"]:
        return jax.scipy.linalg.solve_triangular(self.factor.T, w, lower=False)

    def of_force(self, tau: Float[Array, " nv"]) -> Float[Array, " nv"]:
        return jax.scipy.linalg.solve_triangular(self.factor, zero_prescribed(self.mechanism, tau), lower=True)

    def rows(self, actions: Actions) -> Float[Array, "rows nv"]:
        J = reduce_force(self.mechanism, _jacobian(self.mechanism, self.conf, actions).T)
        J = zero_prescribed(self.mechanism, J)
        return jax.scipy.linalg.solve_triangular(self.factor, J, lower=True).T


Root = TreeRoot | DenseRoot


def mass_root(mechanism: Mechanism, conf: Configuration) -> Root:
    """A square root of the mass matrix."""
    return (DenseRoot if mechanism.topology.has_mimics else TreeRoot).of(mechanism, conf)


def _paths(mechanism: Mechanism, dofs: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """From the leaves to the roots: which actions pass a freedom of a level, and which one."""
    tables = mechanism.layout
    above = np.tril(tables.supports.T)
    steps = []
    for level in reversed(tables.dofs.levels):
        here, which = np.nonzero(above[np.ix_(dofs, level.nodes)])
        if len(here):
            steps.append((here, level.nodes[which]))
    return steps


def _replace(x: Array, places: np.ndarray, values: Array) -> Array:
    if len(places) == len(x) and np.array_equal(places, np.arange(len(x))):
        return values
    return jnp.asarray(x).at[places].set(values)


def _jacobian(mechanism: Mechanism, conf: Configuration, actions: Actions) -> Float[Array, "rows all_v"]:
    supports, dofs = mechanism.layout.supports, np.array(actions.acting.dofs)
    on_path, entering = np.triu(supports)[:, dofs], np.eye(len(supports), dtype=bool)[:, dofs]
    J = jnp.where(on_path, conf.S @ actions.force.T, 0.0) + jnp.where(entering, actions.joint_force, 0.0)
    return add_at(actions.acting.count, np.array(actions.acting.rows), J.T)
