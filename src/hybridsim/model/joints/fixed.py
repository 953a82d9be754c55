"""No motion. Links behind a fixed joint keep their names and numbers but cost nothing."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from ...spatial import Transform
from .flat import FlatJoint


@dataclass(frozen=True)
class Fixed(FlatJoint):
    name = "fixed"
    nq = 0
    nv = 0
    unit = ""

    def transform(self, axis, q):
        return Transform(np.eye(3, dtype=axis.dtype), jnp.zeros(3, dtype=axis.dtype))

    def subspace(self, axis, q):
        return jnp.zeros((0, 6), dtype=axis.dtype)

    def bias(self, axis, q, v):
        return None
