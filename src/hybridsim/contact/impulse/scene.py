"""What a change of velocities by contact depends on, and what each row wants: points, limited freedoms, joint friction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ...dynamics import Configuration, Mechanism, Paths, paths
from ...spatial import Array, Scalar, cross, row
from ..interface import Points
from ..points import PointTable
from ..rows import frame_at
from .problem import BoundedRows
from .targets import Closing, Targets, bounces

Goals = Sequence[tuple[int, Targets]]
"""Of each problem of a step: which of the velocities that contact sees it starts from, and the velocities it wants."""


class PairNumbers(eqx.Module):
    """Of each point, the numbers of its pair."""

    friction: Float[Array, " points"]
    restitution: Float[Array, " points"]
    position_gain: Float[Array, " points"]
    velocity_gain: Float[Array, " points"]
    softness: Float[Array, " points"]
    """R [1/kg]"""


class PointNumbers(eqx.Module):
    """What differs from point to point; with a leading axis of points, or of one point."""

    points: Points
    pair: PairNumbers
    rate: Float[Array, "*points"] | None
    """How fast each gap opens at the start of the step, if a network may have changed it; else it follows from the motion."""


class Scene(eqx.Module):
    """All that may be differentiated by."""

    mechanism: Mechanism
    conf: Configuration
    numbers: PointNumbers
    motion: Float[Array, "nodes seen 6"]
    """Spatial velocity of each node at the start of the step, then those that contact sees."""
    bounded: BoundedRows
    """Limits and joint friction, with a leading axis of goals."""
    away: Float[Array, " limited"]
    """Sign of motion away from the nearer limit."""
    dt: Scalar
    table: PointTable = eqx.field(static=True)
    limited: tuple[int, ...] = eqx.field(static=True)
    """Freedoms with limits, among those of all joints."""
    rubbing: tuple[int, ...] = eqx.field(static=True)
    """Freedoms with friction rows."""

    @property
    def freedoms(self) -> np.ndarray:
        """Of each bounded row."""
        return np.array([*self.limited, *self.rubbing], dtype=np.int32)

    @property
    def point_paths(self) -> Paths:
        last = self.mechanism.layout.last_dofs
        ends = (np.where(nodes >= 0, last[np.maximum(nodes, 0)], -1) if len(last) else nodes for nodes in self._nodes)
        return paths(self.mechanism.topology, tuple(zip(*(x.tolist() for x in ends), strict=True)))

    @property
    def freedom_paths(self) -> Paths:
        return paths(self.mechanism.topology, tuple((int(i), -1) for i in self.freedoms))

    @property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray]:
        return self.table.nodes_a, self.table.nodes_b

    def signs(self) -> Float[Array, " rows"]:
        """Of each bounded row, the unit impulse."""
        return jnp.concatenate([self.away, jnp.ones(len(self.rubbing), dtype=self.away.dtype)])

    @property
    def ends(self) -> "Ends":
        return Ends(*self._nodes)

    def bodies(self, place) -> "Bodies":
        """Both bodies of a point, as contact sees them move."""
        return self.ends.bodies(place, self.ends.motions(place, self.motion), self.conf.reference)


@dataclass(frozen=True, eq=False)
class Ends:
    """Of each point, the nodes that carry both shapes; -1 for the world."""

    of_a: np.ndarray
    of_b: np.ndarray

    def nodes(self, place) -> tuple[Any, Any]:
        """Of one point: None where all are the world, and any node for a body that is fixed."""
        a, b = (
            None if len(nodes) and np.all(nodes < 0) else _entry(np.maximum(nodes, 0).astype(np.int32), place)
            for nodes in (self.of_a, self.of_b)
        )
        return a, b

    def motions(self, place, motion: Float[Array, "nodes seen 6"]) -> "Motions":
        """The velocities of both nodes."""
        a, b = (None if node is None else row(motion, node) for node in self.nodes(place))
        return a, b

    def bodies(self, place, motions: "Motions", reference: Float[Array, "nodes 3"]) -> "Bodies":
        sides = []
        for nodes, node, motion in zip((self.of_a, self.of_b), self.nodes(place), motions, strict=True):
            if node is None or motion is None:
                sides.append(None)
                continue
            moves = None if np.all(nodes >= 0) else _entry((nodes >= 0).astype(motion.dtype), place)
            sides.append(Body(motion if moves is None else moves * motion, row(reference, node), moves))
        return Bodies(*sides)


Motions = tuple[Float[Array, "seen 6"] | None, Float[Array, "seen 6"] | None]


def _entry(table: np.ndarray, place) -> Any:
    """An entry of a table, which is a constant where all are equal. Of an empty table, as loops that never run have it, zero."""
    return table[0] if len(table) and np.all(table == table[0]) else row(table, place)


class Body(eqx.Module):
    """One of the two that touch."""

    motion: Float[Array, "seen 6"]
    """Zero for a body that is fixed."""
    reference: Float[Array, "3"]
    """To which its spatial vectors refer."""
    moves: Float[Array, ""] | None
    """0 for a body that is fixed; None where all of its kind move."""

    def velocities(self, position: Float[Array, "3"]) -> Float[Array, "seen 3"]:
        lever = position - self.reference
        return self.motion[:, 3:] + cross(self.motion[:, :3], lever)

    def wrenches(self, position: Float[Array, "3"], frame: Float[Array, "3 3"]) -> Float[Array, "3 6"]:
        """What unit impulses along the axes of the frame do."""
        lever = position - self.reference
        wrench = jnp.concatenate([cross(lever, frame), frame], axis=-1)
        return wrench if self.moves is None else self.moves * wrench


class Bodies(eqx.Module):
    a: Body | None
    b: Body | None
    """None for the world."""

    def rates(self, position: Float[Array, "3"]) -> Float[Array, "seen 3"]:
        """Velocity of a relative to b at a point."""
        a, b = (None if body is None else body.velocities(position) for body in (self.a, self.b))
        if b is None:
            assert a is not None
            return a
        return -b if a is None else a - b

    def wrenches(self, position, frame) -> tuple[Array | None, Array | None]:
        """Of unit impulses on a, and of the opposite ones on b."""
        a, b = (None if body is None else body.wrenches(position, frame) for body in (self.a, self.b))
        return a, None if b is None else -b


def closing(point: PointNumbers, frame: Float[Array, "3 3"], rates: Float[Array, "seen 3"], seen: int) -> Closing:
    """How the gap of one point closes."""
    before = jnp.sum(frame[0] * rates[0]) if point.rate is None else point.rate
    pair = point.pair
    return Closing(
        point.points.distance,
        before,
        jnp.sum(frame[0] * rates[1 + seen]),
        pair.restitution,
        pair.position_gain,
        pair.velocity_gain,
    )


def wanted(goals: Goals, point: PointNumbers, bodies: Bodies, dt: Scalar) -> Float[Array, "goals 3"]:
    """b of one point: the velocities along the axes of its frame that each problem wants, relative to those seen."""
    frame = frame_at(point.points.normal)
    rates = bodies.rates(point.points.position)
    rows = []
    for seen, targets in goals:
        closes = closing(point, frame, rates, seen)
        least, left = targets(closes, dt)
        rows.append(jnp.concatenate([(least - closes.free)[None], (left - 1) * (frame[1:] @ rates[1 + seen])]))
    return jnp.stack(rows)


def bouncing(point: PointNumbers, bodies: Bodies, dt: Scalar) -> Bool[Array, ""]:
    """Whether one point bounces."""
    frame, rates = frame_at(point.points.normal), bodies.rates(point.points.position)
    return bounces(closing(point, frame, rates, 0), dt) > 0
