"""Sweeps until a problem is solved."""

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from ...spatial import Array
from .interface import Friction
from .newton import newton_step
from .problem import Problem, Solution


def converged(friction: Friction, problem: Problem, start: Solution, sweeps: int, tolerance: float) -> Solution:
    """At most `sweeps` sweeps, fewer where one changes w by less than `tolerance` beside its size.

    Sweeps find out which contacts stick, slip or open, but then converge slowly where contacts depend on each other,
    as under a box. So after each a Newton step is tried, and taken if the next sweep then changes less.
    """

    def unfinished(carry):
        k, x, change = carry
        return (k < sweeps) & (change > tolerance * jnp.max(jnp.abs(x.w)))

    def once(carry):
        k, x, _ = carry
        plain, change = swept(x)
        jumped, change_after = swept(newton_step(friction, problem, plain))
        better = change_after < change
        x = jax.tree.map(lambda a, b: jnp.where(better, a, b), jumped, plain)
        return k + 2, x, jnp.where(better, change_after, change)

    def swept(x: Solution) -> tuple[Solution, Float[Array, ""]]:
        new = friction.sweep(problem, x)
        return new, jnp.max(jnp.abs(new.w - x.w))

    first = (jnp.int32(0), start, jnp.asarray(jnp.inf, dtype=start.w.dtype))
    return lax.while_loop(unfinished, once, first)[1]


def counted(friction: Friction, problem: Problem, start: Solution, sweeps: int) -> Solution:
    """Exactly `sweeps` sweeps, which JAX can differentiate one by one."""
    return lax.scan(lambda x, _: (friction.sweep(problem, x), None), start, None, length=sweeps)[0]
