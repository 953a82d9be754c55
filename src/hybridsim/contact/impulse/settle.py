"""From rows to changes of velocity, and two ways to differentiate them.

"implicit": impulses obey equations that hold whatever way they were found. Differentiating these gives one linear
system, as large as the model has freedoms; nothing of the search is kept, nor is the factorisation differentiated
(`tangents.py`).
"sweeps": the derivative of what was computed, converged or not; a gradient keeps every sweep.

Only rows that are near act. Whether the others may be left out is looked up afterwards: where the solution closes the gap of
one of them, it is taken in, and all is solved again. So the choice of rows makes no difference to the motion.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float

from ...dynamics import expand_v, mass_root
from ...dynamics.kinematics import joint_motion
from ...dynamics.traverse import sum_outward
from ...spatial import Array, for_each, keep, once_if, pick, total
from .interface import Friction
from .problem import Impulse, Problem, Solution
from .rows import StepRows, impulse_at
from .scene import Goals, Scene, closing_speeds, furthest
from .slots import Slots
from .tangents import tangents

Solver = Callable[[Problem, Impulse, Bool[Array, ""]], Solution]


class Settled(eqx.Module):
    """A change of velocities, and the impulses that cause it, of all rows."""

    velocity: Float[Array, "*goals nv"]
    impulse: Impulse


class Near(eqx.Module):
    """Of each row, whether it may act."""

    points: Bool[Array, " points"]
    others: Bool[Array, " rows"]

    def any(self) -> Bool[Array, ""]:
        some = total(jnp.logical_or, jnp.asarray(False), len(self.points), self.points)
        return some | jnp.any(self.others)

    def __or__(self, other: "Near") -> "Near":
        both = for_each(lambda x: x[0] | x[1], len(self.points), (self.points, other.points))
        return Near(both, self.others | other.others)


def settle_through(
    solver: Solver,
    goals: Goals,
    scene: Scene,
    wanted: Bool[Array, " goals"],
    start: Impulse,
    points: Slots,
    others: Slots,
) -> Settled:
    """Velocities for each goal that is wanted, every one solved from where the one before ended."""
    root = mass_root(scene.mechanism, scene.conf)
    rows = StepRows.of(scene, goals, root, points, others)

    def one(x, goal):
        (b, bounded), wanted = goal
        found = solver(rows.problem(b, bounded), x, wanted)
        by_row = Impulse(points.spread(found.contacts), others.spread(found.bounded))
        return found.impulse, Settled(root.velocities(found.w), by_row)

    return lax.scan(one, impulse_at(start, points, others), (rows.by_goal, wanted))[1]


@eqx.filter_custom_jvp
def settle(
    friction: Friction,
    solver: Solver,
    goals: Goals,
    scene: Scene,
    near: Near,
    wanted: Bool[Array, " goals"],
    start: Impulse,
) -> Settled:
    """The same with a derivative that does not ask how the solver came there, where it started, or which rows were near.

    Nothing where nothing is near.
    """
    return _settled(solver, goals, scene, near, wanted, start)


@eqx.filter_jit
def _settled(
    solver: Solver, goals: Goals, scene: Scene, near: Near, wanted: Bool[Array, " goals"], start: Impulse
) -> Settled:
    """A function of its own for JAX, so that it is traced once for values and derivatives."""

    def once(state):
        near, _, __ = state
        found = settle_through(solver, goals, scene, wanted, start, Slots.of(near.points), Slots.of(near.others))
        missed = _missed(goals, scene, near, wanted, found)
        return near | missed, found, missed.any()

    # For each goal as many impulses as for the start.
    impulse = jax.tree.map(lambda x: jnp.zeros((len(goals), *x.shape), x.dtype), start)
    nothing = Settled(jnp.zeros((len(goals), len(scene.mechanism.topology.own_v)), dtype=scene.motion.dtype), impulse)
    return lax.while_loop(lambda state: state[2], once, (near, nothing, near.any()))[1]


@settle.def_jvp
def _settle_jvp(primals, moved):
    friction, _, goals, scene, near, wanted, _ = primals
    settled = keep(settle(*primals))

    def tangent(scene, settled, d_scene):
        velocity, impulse = tangents(friction, goals, scene, wanted, settled.velocity, settled.impulse, d_scene)
        return Settled(velocity, impulse)

    def nothing(*_):
        return jax.tree.map(jnp.zeros_like, settled)

    # Computed again in the backward pass, so that nothing is stored for steps without contact.
    again = jax.checkpoint(tangent, policy=jax.checkpoint_policies.nothing_saveable)
    return settled, lax.cond(near.any(), again, nothing, scene, settled, moved[3])


def _missed(goals: Goals, scene: Scene, near: Near, wanted: Bool[Array, " goals"], found: Settled) -> Near:
    """Rows that were left out though a solution closes their gap."""
    nothing = Near(jnp.zeros_like(near.points), jnp.zeros_like(near.others))
    seen = [seen for seen, targets in goals if targets.keeps_apart]
    if not seen:
        return nothing
    assert len(seen) == len(goals)
    points, count, reach = scene.numbers.points, len(scene.table.pairs), furthest(scene)

    def nearest(least, entry):
        gap, near = entry
        return jnp.minimum(least, jnp.where(near, jnp.inf, gap))

    least = total(nearest, jnp.full((), jnp.inf, dtype=points.distance.dtype), count, (points.distance, near.points))

    def check(missed: Near, goal) -> tuple[Near, None]:
        velocity, b, before, wanted = goal
        v = expand_v(scene.mechanism, velocity)
        nodes = before + sum_outward(scene.mechanism.layout.nodes, joint_motion(scene.mechanism, scene.conf.S, v))

        def closes(place, _, numbers):
            bodies = scene.ends.bodies(place, scene.ends.motions(place, nodes[:, None]), scene.conf.reference)
            opening = bodies.rates(numbers.points.position)[0] @ numbers.points.normal
            return numbers.points.distance + scene.dt * opening < 0

        def points_too(flags):
            closed = Slots.all(count).each(closes, (), scene.numbers)
            return for_each(lambda x: x[0] | (x[1] & ~x[2]), count, (flags, closed, near.points))

        # Mostly nothing is fast enough for any of them.
        fast = least < scene.dt * 2 * jnp.max(closing_speeds(nodes, reach), initial=0.0)
        flags = once_if(wanted & fast, points_too, missed.points)
        passed = scene.away * pick(v, scene.freedoms[: len(scene.away)]) < b[: len(scene.away)]
        others = wanted & jnp.concatenate([passed, jnp.zeros(len(scene.rubbing), dtype=bool)]) & ~near.others
        return Near(flags, missed.others | others), None

    befores = jnp.stack([scene.motion[:, 1 + i] for i in seen])
    return lax.scan(check, nothing, (found.velocity, scene.bounded.b, befores, wanted))[0]
