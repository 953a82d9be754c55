"""Translation along an axis; q is the distance [m]."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from ...spatial import Transform
from .flat import FlatJoint, rows


@dataclass(frozen=True)
class Prismatic(FlatJoint):
    name = "prismatic"
    nq = 1
    nv = 1
    unit = "m"

    def transform(self, axis, q):
        return Transform(np.eye(3, dtype=axis.dtype), q[0] * axis)

    def subspace(self, axis, q):
        return rows((jnp.zeros(3, dtype=axis.dtype), axis))

    def bias(self, axis, q, v):
        return None
