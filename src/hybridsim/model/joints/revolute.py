"""Rotation about an axis; q is the angle [rad]."""

from dataclasses import dataclass

import jax.numpy as jnp

from ...spatial import Transform, matrix_from_axis_angle
from .flat import FlatJoint, rows


@dataclass(frozen=True)
class Revolute(FlatJoint):
    name = "revolute"
    nq = 1
    nv = 1
    unit = "rad"

    def transform(self, axis, q):
        return Transform(matrix_from_axis_angle(axis, q[0]), jnp.zeros(3, dtype=axis.dtype))

    def subspace(self, axis, q):
        return rows((axis, jnp.zeros(3, dtype=axis.dtype)))

    def bias(self, axis, q, v):
        return None


@dataclass(frozen=True)
class Continuous(Revolute):
    """A revolute joint without limits: the same motion, told apart so that files round-trip."""

    name = "continuous"
