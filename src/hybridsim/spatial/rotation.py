"""Rotations: unit quaternions (w, x, y, z) and matrices that take child coordinates to parent ones."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .indexing import pick
from .numerics import angle_over_sine, cos_of, safe_norm, sin_cos, sin_over, unit
from .types import Array, Matrix3, Quaternion, Vector3

IDENTITY_QUATERNION = np.array([1.0, 0.0, 0.0, 0.0])

_NEXT = np.array([1, 2, 0])
_LAST = np.array([2, 0, 1])
# [[0, -z, y], [z, 0, -x], [-y, x, 0]]
_SKEW_ENTRIES = np.array([0, 2, 1, 2, 0, 0, 1, 0, 0])
_SKEW_SIGNS = np.array([0, -1, 1, 1, 0, -1, -1, 1, 0])


def cross(a: Vector3, b: Vector3) -> Vector3:
    """a x b over the last axis (jnp.cross traces to three times as many operations)."""
    return pick(a, _NEXT, -1) * pick(b, _LAST, -1) - pick(a, _LAST, -1) * pick(b, _NEXT, -1)


def skew(a: Vector3) -> Matrix3:
    """The matrix a^ with a^ b = a x b."""
    flat = pick(a, _SKEW_ENTRIES, -1) * _SKEW_SIGNS.astype(a.dtype)
    return flat.reshape(*a.shape[:-1], 3, 3)


def rotate(rotation: Matrix3, vector: Vector3) -> Vector3:
    """R v over leading axes."""
    return jnp.einsum("...ij,...j->...i", rotation, vector)


def rotate_back(rotation: Matrix3, vector: Vector3) -> Vector3:
    """R^T v over leading axes."""
    return jnp.einsum("...ji,...j->...i", rotation, vector)


def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Hamilton product: first rotate by b, then by a."""
    aw, av = a[..., :1], a[..., 1:]
    bw, bv = b[..., :1], b[..., 1:]
    w = aw * bw - jnp.sum(av * bv, axis=-1, keepdims=True)
    v = aw * bv + bw * av + cross(av, bv)
    return jnp.concatenate([w, v], axis=-1)


def conjugate(q: Quaternion) -> Quaternion:
    """The inverse rotation, for a unit quaternion."""
    return jnp.concatenate([q[..., :1], -q[..., 1:]], axis=-1)


def matrix_from_quaternion(q: Quaternion) -> Matrix3:
    """Rotation matrix of a quaternion of any non-zero length (the length divides out)."""
    s = 2 / jnp.sum(q * q, axis=-1)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    sx, sy, sz = s * x, s * y, s * z
    wx, wy, wz = sx * w, sy * w, sz * w
    xx, xy, xz = sx * x, sy * x, sz * x
    yy, yz, zz = sy * y, sz * y, sz * z
    rows = [1 - yy - zz, xy - wz, xz + wy, xy + wz, 1 - xx - zz, yz - wx, xz - wy, yz + wx, 1 - xx - yy]
    return jnp.stack(rows, axis=-1).reshape(*q.shape[:-1], 3, 3)


def matrix_from_axis_angle(axis: Vector3, angle: Float[Array, "*batch"]) -> Matrix3:
    """Rodrigues' formula, R = a a^T + cos (1 - a a^T) + sin [a]x; `axis` has unit length.

    In this form a coordinate axis gives entries that are exactly 0, 1, cos and sin: compilers fold the first two.
    """
    along = axis[..., :, None] * axis[..., None, :]
    s, c = (x[..., None, None] for x in sin_cos(angle))
    return along + c * (np.eye(3, dtype=axis.dtype) - along) + s * skew(axis)


def quaternion_exp(rotation_vector: Vector3) -> Quaternion:
    """Unit quaternion of the rotation by |r| about r."""
    half = rotation_vector / 2
    squared = jnp.sum(half * half, axis=-1)
    return jnp.concatenate([cos_of(squared)[..., None], sin_over(squared)[..., None] * half], axis=-1)


def quaternion_log(q: Quaternion) -> Vector3:
    """Rotation vector, of length at most pi, of a quaternion of any non-zero length."""
    q = unit(q)
    q = jnp.where(q[..., :1] < 0, -q, q)
    vector = q[..., 1:]
    sine = safe_norm(vector)
    return 2 * angle_over_sine(sine, q[..., 0])[..., None] * vector


def quaternion_from_matrix(R: Matrix3) -> Quaternion:
    """The quaternion of a rotation matrix with w >= 0, from its largest entry, so that no digit is lost (Shepperd)."""
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    wx, wy, wz = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    xy, xz, yz = R[..., 1, 0] + R[..., 0, 1], R[..., 2, 0] + R[..., 0, 2], R[..., 2, 1] + R[..., 1, 2]
    ww = 1 + xx + yy + zz
    xx, yy, zz = 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz
    # Row i is the quaternion times four times its entry i.
    rows = jnp.stack([ww, wx, wy, wz, wx, xx, xy, xz, wy, xy, yy, yz, wz, xz, yz, zz], axis=-1)
    rows = rows.reshape(*R.shape[:-2], 4, 4)
    squares = jnp.stack([ww, xx, yy, zz], axis=-1)
    largest = jnp.argmax(squares, axis=-1)[..., None, None]
    q = unit(jnp.take_along_axis(rows, largest, axis=-2)[..., 0, :])
    return jnp.where(q[..., :1] < 0, -q, q)
