"""Free rotation about a point; q is a unit quaternion (w, x, y, z), v the angular velocity in the child."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from ...spatial import (
    IDENTITY_QUATERNION,
    Transform,
    conjugate,
    matrix_from_quaternion,
    multiply,
    quaternion_exp,
    quaternion_log,
    unit,
)
from .interface import JointKind


def quaternion_rate(q, w):
    """dq/dt of a quaternion for the angular velocity w in the rotating frame: q (0, w) / 2."""
    return multiply(q, jnp.concatenate([jnp.zeros(1, dtype=w.dtype), w])) / 2


@dataclass(frozen=True)
class Spherical(JointKind):
    name = "spherical"
    nq = 4
    nv = 3
    unit = "quaternion wxyz"

    def rest(self):
        return IDENTITY_QUATERNION.copy()

    def transform(self, axis, q):
        return Transform(matrix_from_quaternion(q), jnp.zeros(3, dtype=axis.dtype))

    def subspace(self, axis, q):
        return np.eye(3, 6, dtype=axis.dtype)

    def bias(self, axis, q, v):
        return None

    def rate(self, q, v):
        return quaternion_rate(q, v)

    def euler(self, q, v, a, dt):
        v = v + dt * a
        return self.move(q, v, v, dt)

    def move(self, q, v, moving, dt):
        return unit(multiply(q, quaternion_exp(dt * moving))), v

    def turning(self, v):
        return None

    def project(self, q):
        return unit(q)

    def displacement(self, q, rest):
        return quaternion_log(multiply(conjugate(unit(rest)), q))
