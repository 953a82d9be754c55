"""Sweeps until a problem is solved."""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from ...spatial import Array
from .interface import Friction
from .newton import newton_step
from .problem import Problem, Solution

# Sweeps after a Newton step that did not help.
FEW = 4


def converged(friction: Friction, problem: Problem, start: Solution, sweeps: int, tolerance: float) -> Solution:
    """At most `sweeps` sweeps, fewer where one changes w by less than `tolerance` beside its size.

    Sweeps find out which contacts stick, slip or open, but converge slowly where contacts depend on each other, as under
    a box. There a Newton step leads to the end at once. So one is tried first, and again after every few sweeps; it is
    taken if a sweep then changes less than the last one did.
    """

    def unfinished(carry):
        k, x, change = carry
        return (k < sweeps) & (change > tolerance * jnp.max(jnp.abs(x.w)))

    def once(carry):
        k, x, change = carry
        jumped, change_after = swept(newton_step(friction, problem, x))

        def go_on():
            plain, last = lax.scan(lambda x, _: swept(x), x, None, length=FEW)
            return k + 1 + FEW, plain, last[-1]

        return lax.cond(change_after < change, lambda: (k + 1, jumped, change_after), go_on)

    def swept(x: Solution) -> tuple[Solution, Float[Array, ""]]:
        new = friction.sweep(problem, x)
        return new, jnp.max(jnp.abs(new.w - x.w))

    first = (jnp.int32(0), start, jnp.asarray(jnp.inf, dtype=start.w.dtype))
    return lax.while_loop(unfinished, once, first)[1]


def counted(friction: Friction, problem: Problem, start: Solution, sweeps: int) -> Solution:
    """Exactly `sweeps` sweeps, which JAX can differentiate one by one."""
    return lax.scan(lambda x, _: (friction.sweep(problem, x), None), start, None, length=sweeps)[0]
