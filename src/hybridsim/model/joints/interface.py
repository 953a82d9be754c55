"""What a joint kind must say; every kind is one file that implements this for ONE joint.

The engine maps these functions over all joints of a kind at once. A kind is a frozen dataclass: static,
hashable, without arrays (numbers that one may want to identify belong in `Joints`).

The joint frame is fixed in the parent; the child frame coincides with it at q = `rest()`. Velocities
are such that the child's spatial velocity relative to the parent, in child coordinates, is S(q)^T v.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from ...spatial import Array, Scalar, Transform


class JointKind(ABC):
    """One way in which a child frame may move relative to its parent."""

    name: ClassVar[str]
    """As written in messages and files."""
    nq: ClassVar[int]
    """Numbers in the configuration."""
    nv: ClassVar[int]
    """Degrees of freedom."""
    unit: ClassVar[str]
    """Of the configuration, for people."""

    @abstractmethod
    def rest(self) -> np.ndarray:
        """The configuration in which child and joint frame coincide, size nq."""

    @abstractmethod
    def transform(self, axis: Float[Array, "3"], q: Float[Array, " nq"]) -> Transform:
        """Pose of the child frame in the joint frame. `axis` has unit length."""

    @abstractmethod
    def subspace(self, axis: Float[Array, "3"], q: Float[Array, " nq"]) -> Float[Array, "nv 6"]:
        """Rows: the motion of each degree of freedom in child coordinates (S transposed)."""

    @abstractmethod
    def bias(self, axis: Float[Array, "3"], q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, "6"] | None:
        """dS/dt v in child coordinates; None where S is constant in the child."""

    @abstractmethod
    def rate(self, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nq"]:
        """dq/dt."""

    @abstractmethod
    def euler(
        self, q: Float[Array, " nq"], v: Float[Array, " nv"], a: Float[Array, " nv"], dt: Scalar
    ) -> tuple[Float[Array, " nq"], Float[Array, " nv"]]:
        """One semi-implicit Euler step: velocity first, then the configuration with the new velocity."""

    @abstractmethod
    def move(
        self, q: Float[Array, " nq"], v: Float[Array, " nv"], moving: Float[Array, " nv"], dt: Scalar
    ) -> tuple[Float[Array, " nq"], Float[Array, " nv"]]:
        """The configuration after dt at the velocity `moving`, and v, which belongs to q, in the axes of that one."""

    @abstractmethod
    def turning(self, v: Float[Array, " nv"]) -> Float[Array, " nv"] | None:
        """What `euler` adds to the acceleration because v is stepped in axes that do not turn; None for nothing."""

    @abstractmethod
    def project(self, q: Float[Array, " nq"]) -> Float[Array, " nq"]:
        """The nearest valid configuration (unit quaternions)."""

    @abstractmethod
    def displacement(self, q: Float[Array, " nq"], rest: Float[Array, " nq"]) -> Float[Array, " nv"]:
        """How far q is from `rest`, such that a spring k pulls with the joint force -k displacement."""
