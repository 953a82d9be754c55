"""All six freedoms: q = (position xyz, quaternion wxyz), v = (angular, linear) in the child frame."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from ...spatial import (
    Transform,
    conjugate,
    cross,
    matrix_from_quaternion,
    multiply,
    quaternion_exp,
    quaternion_log,
    rotate,
    rotate_back,
    unit,
)
from .interface import JointKind
from .spherical import quaternion_rate


@dataclass(frozen=True)
class Free(JointKind):
    name = "free"
    nq = 7
    nv = 6
    unit = "m, quaternion wxyz"

    def rest(self):
        return np.array([0.0, 0, 0, 1, 0, 0, 0])

    def transform(self, axis, q):
        return Transform(matrix_from_quaternion(q[3:]), q[:3])

    def subspace(self, axis, q):
        return np.eye(6, dtype=axis.dtype)

    def bias(self, axis, q, v):
        return None

    def rate(self, q, v):
        return jnp.concatenate([rotate(matrix_from_quaternion(q[3:]), v[3:]), quaternion_rate(q[3:], v[:3])])

    def euler(self, q, v, a, dt):
        # The linear velocity is stepped in the parent's axes, where its rate is a + w x v. Stepped in the
        # turning body it would grow by a factor 1 + (|w| dt)^2 / 2 every step: a thrown cube gains speed.
        new = v + dt * (a + self.turning(v))
        return self.move(q, new, new, dt)

    def move(self, q, v, moving, dt):
        rotation = matrix_from_quaternion(q[3:])
        quaternion = unit(multiply(q[3:], quaternion_exp(dt * moving[:3])))
        linear = rotate_back(matrix_from_quaternion(quaternion), rotate(rotation, v[3:]))
        position = q[:3] + dt * rotate(rotation, moving[3:])
        return jnp.concatenate([position, quaternion]), jnp.concatenate([v[:3], linear])

    def turning(self, v):
        return jnp.concatenate([jnp.zeros(3, dtype=v.dtype), cross(v[:3], v[3:])])

    def project(self, q):
        return jnp.concatenate([q[:3], unit(q[3:])])

    def displacement(self, q, rest):
        offset = rotate_back(matrix_from_quaternion(q[3:]), q[:3] - rest[:3])
        return jnp.concatenate([quaternion_log(multiply(conjugate(unit(rest[3:])), q[3:])), offset])
