"""Shared by joints whose configuration is a plain vector with dq/dt = v."""

import jax.numpy as jnp
import numpy as np

from .interface import JointKind


class FlatJoint(JointKind):
    """Interface: the half of `JointKind` that all joints with a flat configuration space share."""

    def rest(self):
        return np.zeros(self.nq)

    def rate(self, q, v):
        return v

    def euler(self, q, v, a, dt):
        # q + dt (v + dt a), written so that the new position need not wait for the new velocity.
        return q + dt * v + dt * dt * a, v + dt * a

    def move(self, q, v, moving, dt):
        return q + dt * moving, v

    def turning(self, v):
        return None

    def project(self, q):
        return q

    def displacement(self, q, rest):
        return q - rest


def rows(*vectors) -> jnp.ndarray:
    """Stack (angular, linear) pairs of 3-vectors as rows of six numbers."""
    return jnp.stack([jnp.concatenate([jnp.asarray(w), jnp.asarray(v)]) for w, v in vectors])
