"""Sweeps until a problem is solved."""

import jax.numpy as jnp
from jax import lax

from .interface import Friction
from .problem import Problem, Solution


def converged(friction: Friction, problem: Problem, start: Solution, sweeps: int, tolerance: float) -> Solution:
    """At most `sweeps` sweeps, fewer where one changes w by less than `tolerance` beside its size."""

    def unfinished(carry):
        k, x, change = carry
        return (k < sweeps) & (change > tolerance * jnp.max(jnp.abs(x.w)))

    def once(carry):
        k, x, _ = carry
        new = friction.sweep(problem, x)
        return k + 1, new, jnp.max(jnp.abs(new.w - x.w))

    first = (jnp.int32(0), start, jnp.asarray(jnp.inf, dtype=start.w.dtype))
    return lax.while_loop(unfinished, once, first)[1]


def counted(friction: Friction, problem: Problem, start: Solution, sweeps: int) -> Solution:
    """Exactly `sweeps` sweeps, which JAX can differentiate one by one."""
    return lax.scan(lambda x, _: (friction.sweep(problem, x), None), start, None, length=sweeps)[0]
