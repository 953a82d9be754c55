"""What a contact model must say. It acts by forces, on accelerations, or by impulses, on velocities."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
from jaxtyping import Float

from ..dynamics import Configuration, Course, Mechanism, Velocities
from ..model import Model
from ..model.names import Marks
from ..spatial import Array, Scalar


class Points(eqx.Module):
    """One row a contact point. `normal` points from shape b to shape a."""

    distance: Float[Array, " points"]
    """Negative where shapes overlap [m]."""
    normal: Float[Array, "points 3"]
    position: Float[Array, "points 3"]
    """Where force acts on both: between the two witnesses, or on the one that moves if the other is fixed [m, world]."""


class Touching(eqx.Module):
    """Contact points found before any contact model acts."""

    points: Points
    variables: dict[str, Array]
    """Their named variables, as the marks left them."""


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
    touching: Touching | None = None
    """What `Contact.detect` found; None where a contact model detects by itself."""
    course: Course | None = None
    """What prescribed joints do in the step; None where there are none."""


class Contact(eqx.Module):
    """A way in which shapes keep apart and joints stay within their limits."""

    @property
    @abstractmethod
    def smooth_joint_friction(self) -> bool:
        """Whether Coulomb friction of joints is left to the smooth law."""

    def touches(self, model: Model) -> tuple[bool, ...]:
        """Of each pair whether it is kept apart; by default all are."""
        return (True,) * len(model.contacts.pairs)

    def detect(self, now: Moment, named: Marks) -> Moment:
        """The moment with what `forces` and `velocities` share; by default nothing."""
        return now

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
