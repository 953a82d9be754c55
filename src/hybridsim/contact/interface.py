"""What a contact model must say. It acts by forces, on accelerations, or by impulses, on velocities."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
from jaxtyping import Float

from ..dynamics import Configuration, Mechanism, Velocities
from ..model import Model
from ..model.names import Marks
from ..spatial import Array, Scalar


class Moment(eqx.Module):
    """A model at one time: what a contact model is given."""

    model: Model
    mechanism: Mechanism
    """With the armature of the step, which may hold implicit damping."""
    q: Float[Array, " all_q"]
    """Of all joints, mimics included."""
    qd: Float[Array, " nv"]
    """Of the model's own coordinates."""
    conf: Configuration
    vel: Velocities


class Contact(eqx.Module):
    """A way in which shapes keep apart and joints stay within their limits."""

    @property
    @abstractmethod
    def smooth_joint_friction(self) -> bool:
        """Whether Coulomb friction of joints is left to the smooth law."""

    @abstractmethod
    def forces(self, now: Moment, named: Marks) -> tuple[Float[Array, "nodes 6"] | None, Float[Array, " all_v"] | None]:
        """On every node, about its reference point, and on every freedom; None for nothing."""

    @abstractmethod
    def acts_on_velocities(self, model: Model) -> bool:
        """Whether `velocities` is to be asked for this model."""

    @abstractmethod
    def memory(self, model: Model) -> Any:
        """What `velocities` is given at the first step of a rollout; None for nothing."""

    @abstractmethod
    def velocities(
        self, now: Moment, free: Float[Array, " nv"], dt: Scalar, named: Marks, memory: Any
    ) -> tuple[Float[Array, " nv"], Float[Array, " nv"], Any]:
        """The velocity after the step, the one with which positions move, and what to remember for the next step.

        `free` is the velocity without contact; `memory` what the last step remembered, or None.
        """
