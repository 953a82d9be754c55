"""How a number is counted while it is searched: linearly, by its logarithm, or as part of a physical inertia."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..spatial import Array, from_log_cholesky, to_log_cholesky


@dataclass(frozen=True)
class LinearScale:
    """x = start + size z."""

    start: np.ndarray
    size: np.ndarray

    def to_physical(self, z: Float[Array, " n"]) -> Float[Array, " n"]:
        return self.start + self.size * z

    def values(self, z: np.ndarray) -> np.ndarray:
        """As numbers."""
        return self.start + self.size * z

    def from_physical(self, x: np.ndarray) -> np.ndarray:
        return (np.asarray(x) - self.start) / self.size

    def slopes(self, z: np.ndarray) -> np.ndarray:
        """dx/dz."""
        return np.diag(np.broadcast_to(self.size, np.shape(z)))


@dataclass(frozen=True)
class LogScale:
    """x = start exp(z): stays positive, and equal steps are equal ratios."""

    start: np.ndarray

    def to_physical(self, z: Float[Array, " n"]) -> Float[Array, " n"]:
        return self.start * jnp.exp(z)

    def values(self, z: np.ndarray) -> np.ndarray:
        return self.start * np.exp(z)

    def from_physical(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(np.asarray(x) / self.start, 0.0))

    def slopes(self, z: np.ndarray) -> np.ndarray:
        return np.diag(self.start * np.exp(z))


@dataclass(frozen=True)
class InertiaScale:
    """Ten numbers of a link (mass, centre of mass, inertia) that are physical for every z (log-Cholesky)."""

    origin: np.ndarray
    """Log-Cholesky numbers of the start; found once, outside of anything that JAX traces."""

    @classmethod
    def of(cls, start: np.ndarray) -> "InertiaScale":
        return cls(_log_cholesky(start))

    def to_physical(self, z: Float[Array, "10"]) -> Float[Array, "10"]:
        return _physical(self.origin + z)

    def values(self, z: np.ndarray) -> np.ndarray:
        return np.asarray(_compiled()(self.origin + z))

    def from_physical(self, x: np.ndarray) -> np.ndarray:
        return _log_cholesky(x) - self.origin

    def slopes(self, z: np.ndarray) -> np.ndarray:
        return np.asarray(_compiled(slopes=True)(self.origin + z))


def _physical(numbers: Float[Array, "10"]) -> Float[Array, "10"]:
    mass, com, inertia = from_log_cholesky(numbers)
    return jnp.concatenate([jnp.reshape(mass, (1,)), com, inertia])


@functools.cache
def _compiled(slopes: bool = False) -> Callable:
    from ..native import jit

    return jit(jax.jacfwd(_physical) if slopes else _physical)


def _log_cholesky(x: np.ndarray) -> np.ndarray:
    return np.asarray(_compiled_inverse()(np.asarray(x, dtype=float)))


@functools.cache
def _compiled_inverse() -> Callable:
    from ..native import jit

    return jit(lambda x: to_log_cholesky(x[0], x[1:4], x[4:]))


Scale = LinearScale | LogScale | InertiaScale
