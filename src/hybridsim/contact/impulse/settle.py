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
import numpy as np
from jax import lax
from jaxtyping import Bool, Float

from ...dynamics import expand_v, mass_root
from ...dynamics.kinematics import joint_motion
from ...dynamics.traverse import sum_outward
from ...spatial import Array, keep, once_if, pick
from .interface import Friction
from .near import Near, Speeds, with_points
from .problem import Impulse, Problem, Solution
from .rows import StepRows, impulse_at
from .scene import Goals, Scene
from .slots import Slots
from .tangents import tangents

Solver = Callable[[Problem, Impulse, Bool[Array, ""]], Solution]


class Settled(eqx.Module):
    """A change of velocities, and the impulses that cause it, of all rows."""

    velocity: Float[Array, "*goals nv"]
    impulse: Impulse


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
    radii: Float[Array, " nodes"],
    wanted: Bool[Array, " goals"],
    start: Impulse,
) -> Settled:
    """The same with a derivative that does not ask how the solver came there, where it started, or which rows were near.

    Nothing where nothing is near.
    """
    return _settled(solver, goals, scene, near, radii, wanted, start)


@eqx.filter_jit
def _settled(
    solver: Solver,
    goals: Goals,
    scene: Scene,
    near: Near,
    radii: Float[Array, " nodes"],
    wanted: Bool[Array, " goals"],
    start: Impulse,
) -> Settled:
    """A function of its own for JAX, so that it is traced once for values and derivatives."""

    def once(state):
        near, _, __ = state
        found = settle_through(solver, goals, scene, wanted, start, near.listed, near.others_listed)
        bodies, passed = _closed(goals, scene, near, wanted, found)

        def look(state):
            near, _ = state
            missed = _missed(goals, scene, near, wanted, bodies)
            return with_points(scene, near, missed, passed), _any(missed) | jnp.any(passed)

        # Mostly nothing is fast enough for any of them.
        fast = wanted & (near.least <= jax.vmap(lambda v: Speeds.of(scene.conf, radii, v).closable(scene.dt))(bodies))
        near, again = once_if(jnp.any(fast) | jnp.any(passed), look, (near, jnp.asarray(False)))
        return near, found, again

    # For each goal as many impulses as for the start.
    impulse = jax.tree.map(lambda x: jnp.zeros((len(goals), *x.shape), x.dtype), start)
    nothing = Settled(jnp.zeros((len(goals), len(scene.mechanism.topology.own_v)), dtype=scene.motion.dtype), impulse)
    return lax.while_loop(lambda state: state[2], once, (near, nothing, near.any()))[1]


@settle.def_jvp
def _settle_jvp(primals, moved):
    friction, _, goals, scene, near, _, wanted, _ = primals
    settled = keep(settle(*primals))

    def tangent(scene, settled, d_scene):
        velocity, impulse = tangents(friction, goals, scene, wanted, settled.velocity, settled.impulse, d_scene)
        return Settled(velocity, impulse)

    def nothing(*_):
        return jax.tree.map(jnp.zeros_like, settled)

    # Computed again in the backward pass, so that nothing is stored for steps without contact.
    again = jax.checkpoint(tangent, policy=jax.checkpoint_policies.nothing_saveable)
    return settled, lax.cond(near.any(), again, nothing, scene, settled, moved[3])


def _closed(
    goals: Goals, scene: Scene, near: Near, wanted: Bool[Array, " goals"], found: Settled
) -> tuple[Float[Array, "goals nodes 6"], Bool[Array, " rows"]]:
    """Of each solution, how the nodes move; and limits that were left out though some solution passes them."""
    bodies, passed = [], jnp.zeros_like(near.others)
    for g, (seen, targets) in enumerate(goals):
        v = expand_v(scene.mechanism, found.velocity[g])
        change = sum_outward(scene.mechanism.layout.nodes, joint_motion(scene.mechanism, scene.conf.S, v))
        # A goal that lets gaps close leaves nothing out: what contact sees is looked at before.
        bodies.append(scene.motion[:, 1 + seen] + change if targets.keeps_apart else jnp.zeros_like(change))
        if targets.keeps_apart:
            limits = len(scene.away)
            beyond = scene.away * pick(v, scene.freedoms[:limits]) < scene.bounded.b[g][:limits]
            held = jnp.zeros(len(scene.rubbing), dtype=bool)
            passed = passed | (wanted[g] & jnp.concatenate([beyond, held]) & ~near.others)
    return jnp.stack(bodies), passed


def _missed(
    goals: Goals, scene: Scene, near: Near, wanted: Bool[Array, " goals"], bodies: Float[Array, "goals nodes 6"]
) -> Bool[Array, " points"]:
    """Points that were left out though some solution closes their gap."""

    def check(flags, goal):
        nodes, wanted = goal

        def closes(place, _, own):
            numbers, listed, flag = own
            ends = scene.ends.bodies(place, scene.ends.motions(place, nodes[:, None]), scene.conf.reference)
            opening = ends.rates(numbers.points.position)[0] @ numbers.points.normal
            return flag | (wanted & (numbers.points.distance + scene.dt * opening < 0) & ~listed)

        return Slots.all(len(flags)).each(closes, (), (scene.numbers, near.points, flags)), None

    keeps = np.array([targets.keeps_apart for _, targets in goals])
    return lax.scan(check, jnp.zeros_like(near.points), (bodies, wanted & keeps))[0]


def _any(flags: Bool[Array, " points"]) -> Bool[Array, ""]:
    return lax.scan(lambda some, flag: (some | flag, None), jnp.asarray(False), flags)[0]
