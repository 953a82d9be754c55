"""What a residual costs."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..spatial import Array


@dataclass(frozen=True)
class Squares:
    """Half the square: the likelihood of normal noise."""

    def cost(self, r: Float[Array, "*n"]) -> Float[Array, "*n"]:
        return 0.5 * r**2

    def weight(self, r: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        """By which the square of a residual is multiplied in the normal equations: cost'(r) / r."""
        return np.ones_like(r)

    def scaled(self, factor: float) -> "Squares":
        """For residuals that are so many times larger."""
        return self


@dataclass(frozen=True)
class Huber:
    """Half the square up to delta, linear beyond: outliers pull no harder than delta.

    `delta` is in standard deviations where those of the noise are given, else in the unit of what is compared.
    """

    delta: float

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise ValueError(f"hs.Huber: delta is {self.delta}, but must be positive")

    def cost(self, r: Float[Array, "*n"]) -> Float[Array, "*n"]:
        size = jnp.abs(r) if not isinstance(r, np.ndarray) else np.abs(r)
        where = np.where if isinstance(r, np.ndarray) else jnp.where
        return where(size <= self.delta, 0.5 * r**2, self.delta * (size - 0.5 * self.delta))

    def weight(self, r: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        return self.delta / np.maximum(np.abs(r), self.delta)

    def scaled(self, factor: float) -> "Huber":
        return Huber(self.delta * factor)


Loss = Squares | Huber
SQUARES = Squares()
