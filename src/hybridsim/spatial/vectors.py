"""Spatial motion and force vectors, angular part first (Featherstone, RBDA chapter 2).

All vectors of one mechanism are given in one common frame with the world's axes, so that they are
added without transforming; `shift` moves the point that they refer to.
"""

import jax.numpy as jnp

from .rotation import cross, rotate
from .transform import Transform
from .types import Spatial, Vector3


def angular(v: Spatial) -> Vector3:
    return v[..., :3]


def linear(v: Spatial) -> Vector3:
    return v[..., 3:]


def spatial(angular_part: Vector3, linear_part: Vector3) -> Spatial:
    return jnp.concatenate([angular_part, linear_part], axis=-1)


def motion_to_parent(X_AB: Transform, motion_B: Spatial) -> Spatial:
    """A motion vector given in frame B, in frame A: rotate, then shift from B's origin to A's."""
    w = rotate(X_AB.rotation, angular(motion_B))
    v = rotate(X_AB.rotation, linear(motion_B))
    return spatial(w, v + cross(X_AB.position, w))


def shift_force(force: Spatial, offset: Vector3) -> Spatial:
    """A force (moment first) about a point that lies at `offset` from A, about A."""
    f = linear(force)
    return spatial(angular(force) + cross(offset, f), f)


def cross_motion(v: Spatial, m: Spatial) -> Spatial:
    """v x m: the rate of change of a motion vector m that moves with velocity v (RBDA eq. 2.31)."""
    w = angular(v)
    return spatial(cross(w, angular(m)), cross(w, linear(m)) + cross(linear(v), angular(m)))


def cross_force(v: Spatial, f: Spatial) -> Spatial:
    """v x* f: the rate of change of a force vector f that moves with velocity v (RBDA eq. 2.32)."""
    w = angular(v)
    return spatial(cross(w, angular(f)) + cross(linear(v), linear(f)), cross(w, linear(f)))
