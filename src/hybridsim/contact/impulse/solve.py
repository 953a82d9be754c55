"""Sweeps and Newton steps until a problem is solved.

Sweeps find out which contacts stick, slip or open, but hardly move loads between contacts that share them, such as the
four corners of a face: of these one may have to open, and a sweep changes its impulse by no more than the softness of
the rows beside their response, a part in ten million. A Newton step leads to the end at once if every contact is in its
final state. So a solution counts as found only where a Newton step was followed by a sweep that changed nothing; what
sweeps alone seem to have settled may be far from it, and its derivative wrong.
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from ...spatial import Array
from .interface import Friction
from .newton import newton_step
from .problem import Problem, Solution

PATIENCE = 4
"""Newton steps in a row that may not help, before sweeps go on from the best."""
FEW = 4
"""Sweeps that then follow the first time, and twice as many every further time."""
SOFTNESS = (0.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 0.0)
"""Least softness of all rows beside what each yields alone. First the problem itself; where its search ends without a
solution, problems that are easier because they are softer lead back to it, each from the solution of the one before."""


class _Search(eqx.Module):
    steps: Int[Array, ""]
    x: Solution
    """Where the next Newton step starts."""
    best: Solution
    change: Float[Array, ""]
    """Of w, by the sweep that led to the best."""
    lately: Float[Array, ""]
    """The smallest such change since sweeps alone came last."""
    patience: Int[Array, ""]
    careful: Bool[Array, ""]
    """Whether a Newton step ends where the first contact opens, which then is left out: the active-set method of Lawson and
    Hanson. Slower than letting all contacts change at once, but each such step comes closer."""
    opened: Bool[Array, " points"]
    """Contacts left out until the next sweep."""
    many: Int[Array, ""]
    """Sweeps that follow the next time that Newton steps do not help."""
    solved: Bool[Array, ""]


def converged(friction: Friction, problem: Problem, start: Solution, sweeps: int, tolerance: float) -> Solution:
    """A solution, or the best that was found by `sweeps` steps for each of the values of `SOFTNESS`.

    A problem is solved where a Newton step and a sweep after it change w by less than `tolerance` beside its size.
    """
    last = len(SOFTNESS) - 1

    def unfinished(state):
        level, _, solved = state
        return (level <= last) & ~solved

    def one_level(state):
        level, x, _ = state
        softer = problem.softened(jnp.asarray(SOFTNESS, dtype=x.w.dtype)[level])
        x, solved = _searched(friction, softer, x, sweeps, tolerance)
        return level + 1, x, solved & ((level == 0) | (level == last))

    return lax.while_loop(unfinished, one_level, (jnp.int32(0), start, jnp.asarray(False)))[1]


def _searched(
    friction: Friction, problem: Problem, start: Solution, sweeps: int, tolerance: float
) -> tuple[Solution, Bool[Array, ""]]:
    rounding = 8 * float(jnp.finfo(start.w.dtype).eps)

    def once(s: _Search) -> _Search:
        z, first, opens = newton_step(friction, problem.without(s.opened), s.x, s.careful)

        def leave_out() -> _Search:
            contacts = jnp.asarray(z.contacts).at[first].set(0.0)
            x = Solution(contacts, z.bounded, problem.together(contacts, z.bounded))
            opened = jnp.asarray(s.opened).at[first].set(True)
            return replace(s, steps=s.steps + 1, x=x, opened=opened)

        def judge() -> _Search:
            x, change = swept(z)
            helped, record = change < 0.5 * s.lately, change < s.change
            best = jax.tree.map(lambda new, old: jnp.where(record, new, old), x, s.best)
            judged = replace(
                s,
                steps=s.steps + 1,
                x=x,
                best=best,
                change=jnp.minimum(change, s.change),
                lately=jnp.minimum(change, s.lately),
                patience=jnp.where(helped, PATIENCE, s.patience - 1),
                opened=jnp.zeros_like(s.opened),
                solved=small(change, x),
            )

            def sweep_on() -> _Search:
                return replace(
                    judged,
                    steps=judged.steps + s.many,
                    x=lax.fori_loop(0, s.many, lambda _, x: swept(x)[0], best),
                    lately=unknown,
                    patience=jnp.int32(PATIENCE),
                    careful=~s.careful,
                    many=2 * s.many,
                )

            return lax.cond(judged.solved | (judged.patience > 0), lambda: judged, sweep_on)

        return lax.cond(opens, leave_out, judge) if len(s.opened) else judge()

    def swept(x: Solution) -> tuple[Solution, Float[Array, ""]]:
        new = friction.sweep(problem, x)
        return new, jnp.max(jnp.abs(new.w - x.w))

    def small(change: Float[Array, ""], x: Solution) -> Bool[Array, ""]:
        return change <= max(tolerance, rounding) * jnp.max(jnp.abs(x.w))

    # Often the start is the solution: positions of what rests move as velocities say.
    x, change = swept(start)
    unknown = jnp.full_like(change, jnp.inf)
    first = _Search(
        steps=jnp.int32(1),
        x=x,
        best=x,
        change=unknown,
        lately=unknown,
        patience=jnp.int32(PATIENCE),
        careful=jnp.asarray(False),
        opened=jnp.zeros(len(x.contacts), dtype=bool),
        many=jnp.int32(FEW),
        solved=small(change, x),
    )
    last = lax.while_loop(lambda s: (s.steps < sweeps) & ~s.solved, once, first)
    return last.best, last.solved


def counted(friction: Friction, problem: Problem, start: Solution, sweeps: int) -> Solution:
    """Exactly `sweeps` sweeps, which JAX can differentiate one by one."""
    return lax.scan(lambda x, _: (friction.sweep(problem, x), None), start, None, length=sweeps)[0]
