"""Sweeps until a problem is solved."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from ...spatial import Array
from .interface import Friction
from .newton import newton_step
from .problem import Problem, Solution

# Sweeps after Newton steps that did not help, and how many steps in a row may not.
FEW = 4
PATIENCE = 2
# Where sweeps go on changing w by the same little amount, they only move loads between contacts that share them.
STAGNANT = 1e-7


class _Search(eqx.Module):
    sweeps: Int[Array, ""]
    x: Solution
    """Where the next Newton step starts."""
    best: Solution
    change: Float[Array, ""]
    """Of w, by the sweep that led to the best."""
    patience: Int[Array, ""]
    stagnant: Bool[Array, ""]


def converged(friction: Friction, problem: Problem, start: Solution, sweeps: int, tolerance: float) -> Solution:
    """At most `sweeps` sweeps, fewer where one changes w by less than `tolerance` beside its size.

    Sweeps find out which contacts stick, slip or open, but converge slowly where contacts depend on each other, as under
    a box. There a Newton step leads to the end at once. So Newton steps are tried, each followed by a sweep; if several
    in a row do not make that sweep change less, plain sweeps go on for a while from the best.
    """

    def unfinished(s: _Search):
        return (s.sweeps < sweeps) & (s.change > tolerance * jnp.max(jnp.abs(s.best.w))) & ~s.stagnant

    def once(s: _Search) -> _Search:
        jumped, change = swept(newton_step(friction, problem, s.x))
        better = change < 0.5 * s.change

        def jump():
            best = jax.tree.map(lambda new, old: jnp.where(better, new, old), jumped, s.best)
            patience = jnp.where(better, PATIENCE, s.patience - 1)
            return _Search(s.sweeps + 1, jumped, best, jnp.where(better, change, s.change), patience, s.stagnant)

        def sweep_on():
            x, changes = lax.scan(lambda x, _: swept(x), s.best, None, length=FEW)
            little = changes[-1] < STAGNANT * jnp.max(jnp.abs(x.w))
            stagnant = little & (changes[-1] > 0.8 * changes[0])
            return _Search(s.sweeps + 1 + FEW, x, x, changes[-1], jnp.int32(0), stagnant)

        return lax.cond(better | (s.patience > 0), jump, sweep_on)

    def swept(x: Solution) -> tuple[Solution, Float[Array, ""]]:
        new = friction.sweep(problem, x)
        return new, jnp.max(jnp.abs(new.w - x.w))

    # Often the start is the solution: positions of what rests move as velocities say.
    x, change = swept(start)
    first = _Search(jnp.int32(1), x, x, change, jnp.int32(PATIENCE), jnp.asarray(False))
    return lax.while_loop(unfinished, once, first).best


def counted(friction: Friction, problem: Problem, start: Solution, sweeps: int) -> Solution:
    """Exactly `sweeps` sweeps, which JAX can differentiate one by one."""
    return lax.scan(lambda x, _: (friction.sweep(problem, x), None), start, None, length=sweeps)[0]
