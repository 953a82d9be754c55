"""How well impulses solve the problems of a step: what one more step towards the solution would change."""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float

from ...dynamics import mass_root
from ...spatial import Array, safe_norm
from .interface import Friction
from .problem import Impulse
from .rows import StepRows
from .scene import Goals, Scene
from .slots import Slots


def misses(
    friction: Friction, goals: Goals, scene: Scene, wanted: Bool[Array, " goals"], impulse: Impulse
) -> Float[Array, " points"]:
    """Of each point the largest over all problems that are wanted [m/s].

    Every contact takes a proximal step: it solves its own conditions with the others held, and as much softer as it yields
    alone. At a solution nothing changes. The change of its impulse times that softness is a speed.
    """
    everything = Slots.all(len(scene.table.pairs)), Slots.all(len(scene.freedoms))
    rows = StepRows.of(scene, goals, mass_root(scene.mechanism, scene.conf), *everything)

    def of_goal(goal, x: Impulse) -> Float[Array, " points"]:
        problem = rows.problem(*goal)
        w = problem.together(x)

        def one(_, rows, reach, x):
            more = jnp.trace(reach.A)
            softer = replace(rows, R=rows.R + more, b=rows.b + more * x)
            y = (softer.b - reach.along(w)) / softer.R
            return (), softer.R * safe_norm(friction.respond(softer, y, 1 / softer.R).x - x)

        return problem.walk_points(one, (), x.contacts)[1]

    found = [
        of_goal(jax.tree.map(lambda x, g=g: x[g], rows.by_goal), jax.tree.map(lambda x, g=g: x[g], impulse))
        for g in range(len(goals))
    ]
    return jnp.max(jnp.where(wanted[:, None], jnp.stack(found), 0.0), axis=0)
