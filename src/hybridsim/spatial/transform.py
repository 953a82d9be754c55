"""Rigid transforms in compact form: a rotation matrix and a translation, never a 6x6 matrix.

`X_AB` takes coordinates in frame B to frame A: p_A = X_AB.rotation p_B + X_AB.position.
"""

import equinox as eqx
import jax.numpy as jnp

from .rotation import rotate, rotate_back
from .types import Matrix3, Vector3


class Transform(eqx.Module):
    """The pose of frame B in frame A, or arrays of such poses (leading axes)."""

    rotation: Matrix3
    position: Vector3
    """[m]"""

    def __matmul__(self, other: "Transform") -> "Transform":
        """X_AB @ X_BC = X_AC."""
        return Transform(
            self.rotation @ other.rotation,
            self.position + rotate(self.rotation, other.position),
        )

    def apply(self, point: Vector3) -> Vector3:
        """A point given in B, in A."""
        return self.position + rotate(self.rotation, point)

    def inverse(self) -> "Transform":
        return Transform(jnp.swapaxes(self.rotation, -1, -2), -rotate_back(self.rotation, self.position))

    def __getitem__(self, index) -> "Transform":
        return Transform(self.rotation[index], self.position[index])
