"""How a number is counted while it is searched: linearly, by its logarithm, or as part of a physical inertia."""

from dataclasses import dataclass

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

    def from_physical(self, x: np.ndarray) -> np.ndarray:
        return (np.asarray(x) - self.start) / self.size


@dataclass(frozen=True)
class LogScale:
    """x = start exp(z): stays positive, and equal steps are equal ratios."""

    start: np.ndarray

    def to_physical(self, z: Float[Array, " n"]) -> Float[Array, " n"]:
        return self.start * jnp.exp(z)

    def from_physical(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(x) / self.start)


@dataclass(frozen=True)
class InertiaScale:
    """Ten numbers of a link (mass, centre of mass, inertia) that are physical for every z (log-Cholesky)."""

    origin: np.ndarray
    """Log-Cholesky numbers of the start; found once, outside of anything that JAX traces."""

    @classmethod
    def of(cls, start: np.ndarray) -> "InertiaScale":
        return cls(_log_cholesky(start))

    def to_physical(self, z: Float[Array, "10"]) -> Float[Array, "10"]:
        mass, com, inertia = from_log_cholesky(self.origin + z)
        return jnp.concatenate([jnp.reshape(mass, (1,)), com, inertia])

    def from_physical(self, x: np.ndarray) -> np.ndarray:
        return _log_cholesky(x) - self.origin


def _log_cholesky(x: np.ndarray) -> np.ndarray:
    mass, com, inertia = np.asarray(x[0], dtype=float), x[1:4], x[4:]
    return np.asarray(to_log_cholesky(mass, com, inertia))


Scale = LinearScale | LogScale | InertiaScale
