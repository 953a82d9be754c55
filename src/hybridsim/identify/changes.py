"""How the numbers of a path become numbers of the model: as they are, as a factor, along a direction, or as a rotation.

A pose has more numbers than freedoms, and all corners of a mesh may change by one factor. So what is searched need not
be what the model holds.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.spatial.transform import Rotation

from ..spatial import Array, multiply, quaternion_exp

Vector = tuple[float, float, float]


class Change(ABC):
    """From own numbers x of a path, and the model's numbers before, to the model's numbers."""

    @abstractmethod
    def size(self, held: int) -> int:
        """How many own numbers there are, where the model has so many."""

    @abstractmethod
    def start(self, numbers: Float[np.ndarray, " held"]) -> Float[np.ndarray, " own"]:
        """The own numbers that leave the model as it is."""

    @abstractmethod
    def apply(self, x: Float[Array, " own"], numbers: Float[Array, " held"]) -> Float[Array, " held"]:
        """The numbers of the model."""

    @abstractmethod
    def part(self, k: int, index: tuple[int, ...]) -> tuple["Change", tuple[int, ...]]:
        """The k-th own number alone: its change, and the places that it changes."""


@dataclass(frozen=True)
class Themselves(Change):
    """The model's own numbers."""

    def size(self, held: int) -> int:
        return held

    def start(self, numbers: Float[np.ndarray, " held"]) -> Float[np.ndarray, " own"]:
        return numbers

    def apply(self, x: Float[Array, " own"], numbers: Float[Array, " held"]) -> Float[Array, " held"]:
        return x

    def part(self, k: int, index: tuple[int, ...]) -> tuple[Change, tuple[int, ...]]:
        return self, (index[k],)


@dataclass(frozen=True)
class Factor(Change):
    """One number by which all are multiplied."""

    def size(self, held: int) -> int:
        return 1

    def start(self, numbers: Float[np.ndarray, " held"]) -> Float[np.ndarray, " own"]:
        return np.ones(1)

    def apply(self, x: Float[Array, " own"], numbers: Float[Array, " held"]) -> Float[Array, " held"]:
        return x * numbers

    def part(self, k: int, index: tuple[int, ...]) -> tuple[Change, tuple[int, ...]]:
        return self, index


@dataclass(frozen=True)
class Along(Change):
    """How far a point lies along a direction; what it has across stays."""

    direction: Vector
    """Of unit length."""

    def size(self, held: int) -> int:
        return 1

    def start(self, numbers: Float[np.ndarray, " held"]) -> Float[np.ndarray, " own"]:
        return np.array([np.dot(self.direction, numbers)])

    def apply(self, x: Float[Array, " own"], numbers: Float[Array, " held"]) -> Float[Array, " held"]:
        direction = np.array(self.direction)
        return numbers + (x - np.sum(direction * numbers)) * direction

    def part(self, k: int, index: tuple[int, ...]) -> tuple[Change, tuple[int, ...]]:
        return self, index


@dataclass(frozen=True)
class Turn(Change):
    """A rotation vector by which a quaternion is turned on from where it is: never four free numbers."""

    axes: tuple[Vector, ...]
    """Directions, in the frame around what is turned, of the numbers [rad]."""

    def size(self, held: int) -> int:
        return len(self.axes)

    def start(self, numbers: Float[np.ndarray, " held"]) -> Float[np.ndarray, " own"]:
        return np.zeros(len(self.axes))

    def apply(self, x: Float[Array, " own"], numbers: Float[Array, " held"]) -> Float[Array, " held"]:
        if isinstance(x, np.ndarray) and isinstance(numbers, np.ndarray):
            turned = Rotation.from_rotvec(x @ np.array(self.axes)) * Rotation.from_quat(numbers, scalar_first=True)
            return turned.as_quat(scalar_first=True)
        return multiply(quaternion_exp(x @ np.array(self.axes)), jnp.asarray(numbers))

    def part(self, k: int, index: tuple[int, ...]) -> tuple[Change, tuple[int, ...]]:
        return Turn((self.axes[k],)), index


THEMSELVES, FACTOR = Themselves(), Factor()
TURN = Turn(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))


def of_plane(quaternion: Float[np.ndarray, "4"]) -> tuple[Along, Turn]:
    """Height and tilt of a plane with that orientation: along its normal, and about two axes across it.

    The axes are x and y of the frame around it, turned the shortest way so that z lies along the normal.
    """
    normal = Rotation.from_quat(quaternion, scalar_first=True).apply([0.0, 0.0, 1.0])
    turned, angle = np.cross([0.0, 0.0, 1.0], normal), np.arctan2(np.hypot(*normal[:2]), normal[2])
    length = np.linalg.norm(turned)
    axis = turned / length if length > 1e-12 else np.array([1.0, 0.0, 0.0])
    x, y = Rotation.from_rotvec(angle * axis).apply([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return Along(_vector(normal)), Turn((_vector(x), _vector(y)))


def _vector(values: np.ndarray) -> Vector:
    x, y, z = map(float, values)
    return x, y, z
