"""What a contact law at the level of forces must say; each one is a file."""

from abc import abstractmethod
from dataclasses import fields

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ...model.contacts import Contacts
from ...model.names import Marks
from ...spatial import Array
from ...spatial.indexing import pick


class PairNumbers(eqx.Module):
    """The numbers of `Contacts` that springs use, one row for each contact point."""

    friction: Float[Array, " points"]
    """mu: coefficient of sliding."""
    static_friction: Float[Array, " points"]
    """mu_s: coefficient at the onset of sliding, at least mu."""
    transition_speed: Float[Array, " points"]
    """Speed at which friction is fully developed, positive [m/s]."""
    stiffness: Float[Array, " points"]
    """k [N/m^exponent]."""
    dissipation: Float[Array, " points"]
    """d [N s/m^(exponent + 1)]."""
    exponent: Float[Array, " points"]
    """n, at least 1."""

    @classmethod
    def of(cls, contacts: Contacts, pairs: np.ndarray) -> "PairNumbers":
        """Those of each point, which belongs to row `pairs[point]` of the contacts."""
        return cls(
            friction=pick(contacts.friction, pairs),
            static_friction=pick(contacts.static_friction, pairs),
            transition_speed=pick(contacts.transition_speed, pairs),
            stiffness=pick(contacts.stiffness, pairs),
            dissipation=pick(contacts.dissipation, pairs),
            exponent=pick(contacts.exponent, pairs),
        )

    def marked(self, named: Marks) -> "PairNumbers":
        """The same numbers, as the marks leave them."""
        return PairNumbers(
            **{field.name: named(f"contact.{field.name}", getattr(self, field.name)) for field in fields(self)}
        )


class NormalLaw(eqx.Module):
    """The force that pushes two bodies apart."""

    @abstractmethod
    def __call__(
        self, depth: Float[Array, " points"], speed: Float[Array, " points"], numbers: PairNumbers
    ) -> Float[Array, " points"]:
        """Force along the normal, positive apart [N].

        depth is minus the distance, positive where the bodies overlap [m]; speed is its rate, positive where they
        approach [m/s]. Value and derivatives must be finite everywhere, also far apart and at depth zero.
        """


class FrictionLaw(eqx.Module):
    """How friction grows with sliding."""

    @abstractmethod
    def ratio(self, speed: Float[Array, " points"], numbers: PairNumbers) -> Float[Array, " points"]:
        """Friction force over normal force at a sliding speed, which is not negative [m/s].

        Zero at rest, with a finite slope there; `friction_force` adds the direction.
        """
