"""Rigid-body inertia: ten numbers, its 6x6 matrix, and a parametrisation without constraints."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .indexing import pick
from .rotation import rotate, skew
from .transform import Transform
from .types import Array, Matrix3, Vector3

_TENSOR_ENTRIES = np.array([0, 3, 4, 3, 1, 5, 4, 5, 2])
_SIX_ENTRIES = np.array([0, 4, 8, 1, 2, 5])


def tensor(inertia: Float[Array, "*batch 6"]) -> Matrix3:
    """The symmetric matrix of (xx, yy, zz, xy, xz, yz)."""
    return pick(inertia, _TENSOR_ENTRIES, -1).reshape(*inertia.shape[:-1], 3, 3)


def six(tensor: Matrix3) -> Float[Array, "*batch 6"]:
    """(xx, yy, zz, xy, xz, yz) of a symmetric matrix."""
    return pick(tensor.reshape(*tensor.shape[:-2], 9), _SIX_ENTRIES, -1)


def _outer_deviation(a: Vector3, b: Vector3) -> Matrix3:
    """(a.b) 1 - a b^T; with a = b, the inertia of a unit mass at a."""
    return jnp.sum(a * b, axis=-1)[..., None, None] * np.eye(3, dtype=a.dtype) - a[..., :, None] * b[..., None, :]


class Inertia(eqx.Module):
    """Mass, first moment and second moment of bodies about the origin of a frame.

    The first moment (mass times centre of mass) instead of the centre of mass keeps everything
    linear in the parameters and defined for a frame that carries no mass.
    """

    mass: Float[Array, "*batch"]
    """[kg]"""
    moment: Vector3
    """Mass times centre of mass [kg m]."""
    tensor: Matrix3
    """Rotational inertia about the origin [kg m^2]."""

    @classmethod
    def about_centre(cls, mass: Float[Array, "*batch"], com: Vector3, inertia: Float[Array, "*batch 6"]) -> "Inertia":
        """From the centre of mass and the inertia about it."""
        moment = mass[..., None] * com
        return cls(mass, moment, tensor(inertia + six(_outer_deviation(moment, com))))

    def seen_from(self, X_AB: Transform) -> "Inertia":
        """The same bodies, given in frame B, about the origin of frame A (parallel axes)."""
        p = X_AB.position
        moment = rotate(X_AB.rotation, self.moment)
        rotated = X_AB.rotation @ self.tensor @ jnp.swapaxes(X_AB.rotation, -1, -2)
        # With g = h + m p / 2 the parallel-axis terms of h p^T, p h^T and m p p^T are one, made symmetric.
        shift = _outer_deviation(moment + self.mass[..., None] * p / 2, p)
        shifted = rotated + (shift + jnp.swapaxes(shift, -1, -2))
        # Of the symmetric result six entries are kept, so that no other is ever computed.
        return Inertia(self.mass, moment + self.mass[..., None] * p, tensor(six(shifted)))

    def matrix(self) -> Float[Array, "*batch 6 6"]:
        """The spatial inertia (RBDA eq. 2.63)."""
        h = skew(self.moment)
        m = self.mass[..., None, None] * np.eye(3, dtype=h.dtype)
        top = jnp.concatenate([self.tensor, h], axis=-1)
        bottom = jnp.concatenate([-h, m], axis=-1)
        return jnp.concatenate([top, bottom], axis=-2)

    def __add__(self, other: "Inertia") -> "Inertia":
        return Inertia(self.mass + other.mass, self.moment + other.moment, self.tensor + other.tensor)


def from_log_cholesky(theta: Float[Array, "*batch 10"]) -> tuple[Array, Array, Array]:
    """(mass, centre of mass, inertia about it) of any ten real numbers: always physical.

    The pseudo-inertia [[Sigma, h], [h^T, m]] of a body with density is positive definite, hence
    U U^T with U upper triangular and a positive diagonal (Rucker and Wensing 2022, eq. 19 to 21):
    theta = (alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3).
    """
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = (theta[..., i] for i in range(10))
    zero, one = jnp.zeros_like(alpha), jnp.ones_like(alpha)
    rows = [jnp.exp(d1), s12, s13, t1, zero, jnp.exp(d2), s23, t2, zero, zero, jnp.exp(d3), t3, zero, zero, zero, one]
    U = jnp.stack(rows, axis=-1).reshape(*theta.shape[:-1], 4, 4)
    U = jnp.exp(alpha)[..., None, None] * U
    pseudo = U @ jnp.swapaxes(U, -1, -2)
    mass, moment, sigma = pseudo[..., 3, 3], pseudo[..., :3, 3], pseudo[..., :3, :3]
    com = moment / mass[..., None]
    second = sigma - moment[..., :, None] * com[..., None, :]
    trace = jnp.trace(second, axis1=-2, axis2=-1)
    return mass, com, six(trace[..., None, None] * np.eye(3, dtype=second.dtype) - second)


def to_log_cholesky(
    mass: Float[Array, "*batch"], com: Vector3, inertia: Float[Array, "*batch 6"]
) -> Float[Array, "*batch 10"]:
    """The inverse of `from_log_cholesky`; needs a positive mass and a strict triangle inequality."""
    full = tensor(inertia)
    trace = jnp.trace(full, axis1=-2, axis2=-1)[..., None, None]
    second = trace / 2 * np.eye(3, dtype=full.dtype) - full
    # Scaled by the mass, the last row and column of U are (t, 1), so U's upper block factors `second`.
    sigma = second / mass[..., None, None]
    # sigma = V V^T with V upper triangular: a Cholesky factor with rows and columns reversed.
    V = jnp.linalg.cholesky(sigma[..., ::-1, ::-1])[..., ::-1, ::-1]
    t = com
    entries = [jnp.log(V[..., 0, 0]), jnp.log(V[..., 1, 1]), jnp.log(V[..., 2, 2])]
    entries += [V[..., 0, 1], V[..., 1, 2], V[..., 0, 2], t[..., 0], t[..., 1], t[..., 2]]
    return jnp.stack([jnp.log(mass) / 2, *entries], axis=-1)
