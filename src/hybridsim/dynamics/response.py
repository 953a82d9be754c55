"""How velocities respond to impulses: the Delassus matrix from the articulated-body factors (no inverse of M).

M = L^T D L, where L comes from the recursion and D is diagonal. For a unit impulse of row r let y_r = D^-1/2 L^-T J_r^T:
what an inward pass leaves at the freedoms on the path to the root. Then J M^-1 J^T = Y Y^T, and impulses x change
velocities by M^-1 J^T x = L^-1 D^-1/2 w with w = Y^T x: one outward pass. Prescribed freedoms do not respond: there
D^-1/2 is zero.
"""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..spatial import Array, row
from .aba import Factors, factorise, inward_solve, of_yielding, outward_solve, zero_prescribed
from .crba import crba
from .kinematics import Configuration
from .mechanism import Mechanism
from .mimic import reduce_force
from .paths import Path


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

    def path_rows(
        self,
        path: Path,
        on_a: Float[Array, "rows 6"],
        on_b: Float[Array, "rows 6"] | None = None,
        at: tuple[Any, Any] | None = None,
    ) -> Float[Array, "rows freedoms"]:
        """Y of unit impulses on two bodies, or at one freedom (`at`: which, and how large), at the freedoms of their path.

        Inward: u = S . f at each freedom, then f - U u / D goes on.
        """
        bodies = (on_a,) if on_b is None or path.on_b is None else (on_a, on_b)
        masks = (path.on_a,) if len(bodies) == 1 else (path.on_a, path.on_b)

        def one(forces, freedom):
            dof, *moved = freedom
            S, U, D_inv, half = (row(x, dof) for x in (self.conf.S, *self.factors, self.half))
            value, passed = jnp.zeros(len(on_a), dtype=on_a.dtype), []
            for f, here in zip(forces, moved, strict=True):
                u = here * (f @ S if at is None else f @ S + jnp.where(dof == at[0], at[1], 0.0))
                value = value + u * half
                passed.append(f - u[:, None] * (D_inv * U))
            return tuple(passed), value

        if isinstance(path.dofs, np.ndarray):
            values = []
            for k in range(len(path.dofs)):
                bodies, value = one(bodies, (path.dofs[k], *(mask[k] for mask in masks)))
                values.append(value)
            return jnp.stack(values, axis=1)
        return jax.lax.scan(one, bodies, (path.dofs, *map(jnp.asarray, masks)))[1].T


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

    def path_rows(
        self,
        path: Path,
        on_a: Float[Array, "rows 6"],
        on_b: Float[Array, "rows 6"] | None = None,
        at: tuple[Any, Any] | None = None,
    ) -> Float[Array, "rows nv"]:
        """Y, as of a tree; a path has all freedoms."""
        J = path.on_a * (on_a @ self.conf.S.T)
        if on_b is not None and path.on_b is not None:
            J = J + path.on_b * (on_b @ self.conf.S.T)
        if at is not None:
            J = J + jnp.where(np.arange(J.shape[1]) == at[0], at[1], 0.0)
        J = zero_prescribed(self.mechanism, reduce_force(self.mechanism, J.T))
        return jax.scipy.linalg.solve_triangular(self.factor, J, lower=True).T


Root = TreeRoot | DenseRoot


def mass_root(mechanism: Mechanism, conf: Configuration) -> Root:
    """A square root of the mass matrix."""
    return (DenseRoot if mechanism.topology.has_mimics else TreeRoot).of(mechanism, conf)
