"""A contact model for each pair of shapes: impulses here, springs there."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
from jaxtyping import Float

from ..model import Model
from ..model.names import Marks
from ..spatial import Array, Scalar
from .impulse import Impulses
from .interface import Contact, Moment
from .pair_marks import PartMarks, detect, part_of
from .pair_rules import PairModel, Part, Rules, models_of_pairs, read_rules
from .spring import Springs
from .spring.by_point import FrictionByPoint, NormalByPoint


class ContactByPair(Contact):
    """A contact model for each pair: `hs.ContactByPair({("tip", "cube"): hs.Impulses(), ("*", "ground"): hs.Springs()})`.

    Patterns are names of shapes or links, as in `with_contacts`, in either order. The first rule that matches a pair
    says how it touches; None lets its shapes pass through each other. All other pairs touch as
    the second argument, `otherwise`, says: by `Impulses()` unless given. Springs may differ from pair to pair; impulses
    are solved together, so all of them are the same `Impulses`. Joint limits and joint friction belong to the impulses if
    the rules or `otherwise` have any, else to the springs named first.
    """

    models: tuple[PairModel, ...]
    """The different ones."""
    rules: Rules = eqx.field(static=True)
    """Patterns of two shapes or links, and the place of their model among `models`; None where they do not touch."""
    others: int | None = eqx.field(static=True)
    """The place of the model of all other pairs."""

    def __init__(self, rules: Mapping[tuple[str, str], Contact | None], otherwise: Contact | None = Impulses()):
        self.models, self.rules, self.others = read_rules(rules, otherwise)

    @property
    def smooth_joint_friction(self) -> bool:
        return self._owner is None or self._owner.smooth_joint_friction

    def touches(self, model: Model) -> tuple[bool, ...]:
        return tuple(found is not None for found in self._models(model))

    def springs_of(self, model: Model) -> tuple[tuple[Springs | None, ...], Springs | None]:
        """Springs of each pair, and of the joint limits; None where there are none."""

        def soft(found: PairModel | None) -> Springs | None:
            return found if isinstance(found, Springs) else None

        return tuple(soft(found) for found in self._models(model)), soft(self._owner)

    def detect(self, now: Moment, named: Marks) -> Moment:
        if self._alone(now.model) is not None:
            return now
        return detect(now, self._part(now.model, Springs).rows, self._part(now.model, Impulses).rows, named)

    def forces(self, now: Moment, named: Marks):
        if (alone := self._alone(now.model)) is not None:
            return alone.forces(now, named)
        part, on_nodes, on_freedoms = self._part(now.model, Springs), None, None
        if len(part.rows):
            some = part_of(now, part)
            on_nodes = self._springs(now.model, part).on_nodes(some, PartMarks(named, now, part))
        if isinstance(self._owner, Springs) and now.model.limits.freedoms:
            on_freedoms = self._owner.on_freedoms(now)
        return on_nodes, on_freedoms

    def acts_on_velocities(self, model: Model) -> bool:
        if (alone := self._alone(model)) is not None:
            return alone.acts_on_velocities(model)
        hard = self._owner
        return isinstance(hard, Impulses) and hard.acts_on_velocities(self._part(model, Impulses).model(model))

    def memory(self, model: Model) -> Any:
        if (alone := self._alone(model)) is not None:
            return alone.memory(model)
        return None if self._owner is None else self._owner.memory(self._part(model, Impulses).model(model))

    def velocities(
        self, now: Moment, free: Float[Array, " nv"], dt: Scalar, named: Marks, memory: Any
    ) -> tuple[Float[Array, " nv"], Float[Array, " nv"], Any]:
        if (alone := self._alone(now.model)) is not None:
            return alone.velocities(now, free, dt, named, memory)
        part, pushed = self._part(now.model, Impulses), len(self._part(now.model, Springs).rows) > 0
        assert self._owner is not None
        return self._owner.velocities(part_of(now, part), free, dt, PartMarks(named, now, part, pushed), memory)

    @property
    def _owner(self) -> PairModel | None:
        """The model to which joint limits and joint friction belong."""
        hard = [model for model in self.models if isinstance(model, Impulses)]
        return hard[0] if hard else self.models[0] if self.models else None

    def _models(self, model: Model) -> tuple[PairModel | None, ...]:
        """Of each pair."""
        places = models_of_pairs(model, self.rules, self.others)
        return tuple(None if place is None else self.models[place] for place in places)

    def _alone(self, model: Model) -> PairModel | None:
        """The one model that does everything, if there is one: the step is then that of this model itself."""
        first, *others = self._models(model)
        if first is None or any(found is not first for found in others):
            return None
        limits = bool(model.limits.freedoms) or not self.smooth_joint_friction
        return None if limits and first is not self._owner else first

    def _part(self, model: Model, kind: type[PairModel]) -> Part:
        """The pairs whose model is of one kind."""
        return Part.of(model, [i for i, found in enumerate(self._models(model)) if isinstance(found, kind)])

    def _springs(self, model: Model, part: Part) -> Springs:
        """The springs of some pairs, which may differ from point to point."""
        of_pairs = self._models(model)
        of_points = [of_pairs[pair] for pair in part.owners(model)]
        used = [found for found in self.models if isinstance(found, Springs) and any(found is x for x in of_points)]
        if len(used) == 1:
            return used[0]
        rows = tuple(tuple(i for i, x in enumerate(of_points) if x is found) for found in used)
        normal = NormalByPoint(tuple(found.normal for found in used), rows)
        return Springs(normal, FrictionByPoint(tuple(found.friction for found in used), rows))
