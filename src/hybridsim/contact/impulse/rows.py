"""The rows of a step's problems that may act: what they want, and how they move bodies."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from ...dynamics import Paths, Root
from ...spatial import Array, in_memory, lowered_at, row
from ..rows import frame_at
from .elimination import Elimination, elimination
from .problem import BoundedReach, BoundedRows, ContactRows, Impulse, Missing, Problem, Reach, missing_softness
from .scene import Goals, Scene, bouncing, wanted
from .slots import Slots


class StepRows(eqx.Module):
    """All problems of a step: the same rows with other targets."""

    b: Float[Array, "slots goals 3"]
    R: Float[Array, " slots"]
    mu: Float[Array, " slots"]
    bounded: BoundedRows
    """By slot, with a leading axis of goals."""
    reach: Reach
    bounded_reach: BoundedReach
    missing: Missing
    points: Slots
    others: Slots
    first: Int[Array, " nv"] | None
    structure: Elimination = eqx.field(static=True)

    @classmethod
    def of(cls, scene: Scene, goals: Goals, root: Root, points: Slots, others: Slots) -> "StepRows":
        table, freedoms = scene.point_paths, scene.freedom_paths
        fixed_dofs, fixed_others = _shared(table.dofs), _shared(freedoms.dofs)

        # Loops over no row are traced as well.
        owners = scene.freedoms if len(scene.freedoms) else np.zeros(1, dtype=np.int32)

        def of_point(place, _, point):
            bodies = scene.bodies(place)
            frame, path = frame_at(point.points.normal), table.of(place)
            on_a, on_b = bodies.wrenches(point.points.position, frame)
            Y = root.path_rows(path, jnp.zeros((3, 6), dtype=frame.dtype) if on_a is None else on_a, on_b)
            b = wanted(goals, point, bodies, scene.dt)
            dofs = None if fixed_dofs is not None else path.dofs
            return Reach(Y, Y @ Y.T, dofs), b, point.pair.softness, point.pair.friction

        def of_other(place, _, sign):
            path = freedoms.of(place)
            at = row(owners, place)
            Y = root.path_rows(path, jnp.zeros((1, 6), dtype=sign.dtype), None, (at, sign))[0]
            return BoundedReach(Y, jnp.sum(Y * Y), None if fixed_others is not None else path.dofs)

        reach, b, R, mu = points.each(of_point, (), scene.numbers)
        bounded_reach = others.each(of_other, (), scene.signs())
        if fixed_dofs is not None:
            reach = Reach(reach.Y, reach.A, fixed_dofs)
        if fixed_others is not None:
            bounded_reach = BoundedReach(bounded_reach.Y, bounded_reach.A, fixed_others)
        by_goal = [others.gathered(_of_goal(scene.bounded, g)) for g in range(len(goals))]
        bounded = BoundedRows(*(jnp.stack(x) for x in zip(*map(_fields, by_goal), strict=True)))
        missing = missing_softness(points, others, reach.A[:, 0, 0], bounded_reach.A, R, by_goal[0].R)
        structure = elimination(table.touched | freedoms.touched)
        first = None if structure.written_out else _first(structure.size, (points, table), (others, freedoms))
        return cls(b, R, mu, bounded, reach, bounded_reach, missing, points, others, first, structure)

    def problem(self, b: Float[Array, "slots 3"], bounded: BoundedRows) -> Problem:
        """That of one goal."""
        return Problem(
            ContactRows(b, self.R, self.mu),
            bounded,
            self.reach,
            self.bounded_reach,
            self.missing,
            self.points,
            self.others,
            self.first,
            structure=self.structure,
        )

    @property
    def by_goal(self) -> tuple[Float[Array, "goals slots 3"], BoundedRows]:
        """What `problem` takes, with a leading axis of goals."""
        return jnp.swapaxes(self.b, 0, 1), self.bounded


def any_bounce(scene: Scene, points: Slots) -> Bool[Array, ""]:
    """Whether any of these points bounces."""

    def one(found, place, _, point):
        bodies = scene.bodies(place)
        return found | bouncing(point, bodies, scene.dt)

    return points.fold(one, jnp.asarray(False), (), scene.numbers)


def impulse_at(x: Impulse, points: Slots, others: Slots) -> Impulse:
    """Impulses by row as impulses by slot."""
    return Impulse(points.gathered(x.contacts), others.gathered(x.bounded))


def _first(size: int, *listed: tuple[Slots, Paths]) -> Int[Array, " nv"]:
    """Of each freedom, the first that some listed row has in common with it."""
    first = in_memory(jnp.arange(size, dtype=jnp.int32))
    for slots, table in listed:

        def lower(first, place, _, __, table=table):
            dofs, begin = table.of(place).dofs, table.first_of(place)
            return lowered_at(first, dofs, jnp.broadcast_to(begin, dofs.shape))

        first = slots.fold(lower, first)
    return first


def _of_goal(rows: BoundedRows, goal: int) -> BoundedRows:
    return BoundedRows(*(x[goal] for x in _fields(rows)))


def _fields(rows: BoundedRows) -> tuple:
    return rows.b, rows.R, rows.low, rows.high


def _shared(dofs: np.ndarray) -> np.ndarray | None:
    """The freedoms of all paths, where these are the same."""
    return dofs[0] if np.all(dofs == dofs[:1]) else None
