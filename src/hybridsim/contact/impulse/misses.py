"""How well impulses solve the problems of a step: what one more step towards the solution would change."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float

from ...dynamics import mass_root
from ...spatial import Array, safe_norm
from .interface import Friction
from .problem import Problem, Solution
from .settle import Setting, Settled


def misses(
    friction: Friction, setting: Setting, wanted: Bool[Array, " goals"], settled: Settled
) -> Float[Array, " points"]:
    """Of each point the largest over all problems that are wanted [m/s].

    Every contact takes a proximal step: it solves its own conditions with the others held, and as much softer as it yields
    alone. At a solution nothing changes. The change of its impulse times that softness is a speed.
    """
    Y = mass_root(setting.mechanism, setting.conf).rows(setting.actions)

    def of_goal(rows, impulse) -> Float[Array, " points"]:
        problem = Problem.of(rows, Y)
        w = Solution.of(impulse, Y).w
        more = jnp.trace(problem.A_c, axis1=1, axis2=2)
        softer = eqx.tree_at(
            lambda c: (c.R, c.b),
            rows.contacts,
            (rows.contacts.R + more, rows.contacts.b + more[:, None] * impulse.contacts),
        )
        x = jax.vmap(lambda rows, Y: friction.respond(rows, Y @ w - rows.b).x)(softer, problem.Y_c)
        return softer.R * jax.vmap(safe_norm)(x - impulse.contacts)

    found = jax.vmap(of_goal)(setting.goals, settled.impulse)
    return jnp.max(jnp.where(wanted[:, None], found, 0.0), axis=0)
