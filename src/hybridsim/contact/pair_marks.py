"""Named variables of contact where pairs have different models: detected and marked once, for all pairs together."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from ..model.names import Marks
from ..spatial import Array, add_at, pick
from .interface import Moment, Points, Touching
from .pair_rules import Part
from .points import contact_points, point_table
from .rows import point_velocities


def detect(now: Moment, soft: np.ndarray, hard: np.ndarray, named: Marks) -> Moment:
    """Find and mark the points of all pairs; `soft` are the rows of springs, `hard` those of impulses."""
    both = np.union1d(soft, hard)
    found = contact_points(now)
    points = Points(
        named.partly("contact.distance", found.distance, both),
        named.partly("contact.normal", found.normal, both),
        named.partly("contact.point", found.position, both),
    )
    velocity = point_velocities(now, points, now.vel.v)
    rate = jnp.sum(points.normal * velocity, axis=-1)
    friction = pick(now.model.contacts.friction, point_table(now).pairs)
    variables = {
        "contact.distance": points.distance,
        "contact.normal": points.normal,
        "contact.point": points.position,
        "contact.sliding_velocity": named.partly(
            "contact.sliding_velocity", velocity - rate[:, None] * points.normal, soft
        ),
        "contact.normal_velocity": named.partly("contact.normal_velocity", rate, both),
        "contact.depth": named.partly("contact.depth", -points.distance, soft),
        "contact.friction": named.partly("contact.friction", friction, both),
    }
    return replace(now, touching=Touching(points, variables))


def part_of(now: Moment, part: Part) -> Moment:
    """The same moment for some of the pairs alone."""
    touching = jax.tree.map(lambda x: pick(x, part.rows), now.touching)
    return replace(now, model=part.model(now.model), touching=touching)


class PartMarks(Marks):
    """The marks of some contact points as marks of all."""

    def __init__(self, named: Marks, now: Moment, part: Part, pushed: bool = False):
        """`now` is the moment of all points; `pushed` says whether springs have marked the forces of theirs already."""
        self.named, self.now, self.rows, self.pushed = named, now, part.rows, pushed

    def __call__(self, name: str, value: Array) -> Array:
        if name in self._marked:
            return pick(self._marked[name], self.rows)
        spread = self._spread(value)
        result = self.named.partly(name, spread, self.rows, self.rows)
        return value if result is spread else pick(result, self.rows)

    def wants(self, name: str) -> bool:
        return self.named.wants(name)

    def offer(self, name, compute) -> None:
        if name in self._marked:
            return
        if self.pushed:
            self.named.complete(name, self.rows, compute)
        else:
            self.named.offer(name, lambda: self._spread(compute()))

    def _spread(self, value: Array) -> Array:
        return add_at(len(self.now.touching.points.distance), self.rows, value)

    @property
    def _marked(self) -> dict[str, Array]:
        """What was marked for all points at once."""
        return self.now.touching.variables
