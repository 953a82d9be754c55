"""A solution in all cases: the quick way, and where it does not lead there, Newton's method on F(w) = 0, from anywhere.

Newton steps, each shortened until F shrinks, mostly end after two or three. Where they do not lead on, because Coulomb's
friction is not the gradient of any energy, problems with Tresca's friction do: there friction is limited by loads that are
given, the problem is a strictly convex minimisation, and Newton steps that the slope of its energy bounds always end at its
solution. The loads of that solution limit friction the next time (Panagiotopoulos' iteration), and Coulomb's problem is
tried again from there. The first of these problems is without friction. With much friction that may go round in circles; then
a path of softer problems leads to a solution (`path.py`).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from ...spatial import Array, once_if, row, scratch
from .interface import Friction
from .linear_system import solve_in_few_instructions
from .newton import Newton, copied, corrected, loads_at, residual
from .path import follow
from .problem import REFINEMENTS, Impulse, Limit, Problem, Solution
from .switch import Switched, switched

MOST_STEPS = 150
"""Newton steps of one search, with both kinds of friction together. Random towers of boxes need at most 120."""
TRIES = 8, 40
"""Parts of a Newton step that are tried, with Coulomb's and with Tresca's friction, before it counts as leading nowhere."""
SOFTER = 0.0, 1e-2, 1e-4, 1e-6, 0.0
"""What every row yields at least in the problems that are guessed one after the other, beside what it yields alone. Heaps of
boxes need them all, robots on a floor hardly ever more than the first."""
SWEEPS = 20
"""Before the second of them."""
ROUNDING = 1e-8
"""Part of w by which rounding errors of hard contacts may change it."""
TRESCA_TOLERANCE = 1e-8
"""Of problems with given loads: tight, or the iteration over loads stops short of its end."""


class _Search(eqx.Module):
    w: Float[Array, " nv"]
    coulomb: Bool[Array, ""]
    """Which friction the next step has."""
    anchor: Float[Array, " nv"]
    """The solution of the last problem with given loads, or the start."""
    loads: Float[Array, " points"]
    """Those that are given next."""
    steps: Int[Array, ""]
    solved: Bool[Array, ""]


def converged(
    friction: Friction, problem: Problem, start: Impulse, wanted: Bool[Array, ""], tolerance: float
) -> Solution:
    """The solution: a further step from there changes it by less than `tolerance` beside its size.

    Where none is wanted, it is `start` with w = 0.
    """

    def search(softened: Problem, quick: Switched) -> Switched:
        found = _searched(friction, softened, quick.first, tolerance)
        return Switched(found, jnp.asarray(True), quick.first)

    def once(state):
        count, x, beside, _ = state
        softened = problem.softened(beside, jnp.where(count == 0, 0.0, 1.0).astype(beside.contacts.dtype))
        quick = _quickly(friction, softened, x, tolerance)
        # A loop, and not a branch: arrays by slot stay where they are.
        found = lax.while_loop(lambda s: ~s.solved, lambda s: search(softened, s), quick).solution
        return count + 1, found.impulse, copied(problem, beside, found.impulse), found.w

    rounds = jnp.where(problem.missing.largest > 0, 1 + REFINEMENTS, 1)
    most = jnp.where(wanted, rounds, 0)
    w = jnp.zeros(problem.nv, dtype=start.contacts.dtype)
    beside = jax.tree.map(lambda x: scratch(x.shape, x.dtype), start)
    _, x, _, w = lax.while_loop(lambda state: state[0] < most, once, (jnp.int32(0), start, beside, w))
    return Solution(x.contacts, x.bounded, w)


def _quickly(friction: Friction, problem: Problem, start: Impulse, tolerance: float) -> Switched:
    """Guesses of what rows do, begun with what they did before. Where these go in circles, softer problems lead on, each begun
    with the solution of the one before, and the first after some sweeps."""
    dtype = start.contacts.dtype
    nothing = jnp.zeros(problem.nv, dtype=dtype)

    def another(state):
        count, x, last = state
        before = Solution(x.contacts, x.bounded, problem.together(x))
        turns = jnp.where(count == 1, SWEEPS, 0)
        x = lax.fori_loop(0, turns, lambda _, x: friction.sweep(problem, x), before).impulse
        part = row(jnp.asarray(SOFTER, dtype=dtype), count)
        found = switched(friction, problem.softer(part), copied(problem, last.solution.impulse, x), tolerance)
        x = once_if(found.solved, lambda x: copied(problem, x, found.solution.impulse), x)
        first = jnp.where(count == 0, found.first, last.first)
        return count + 1, x, Switched(found.solution, found.solved & (part == 0), first)

    memory = jax.tree.map(lambda x: scratch(x.shape, x.dtype), start)
    none = Switched(Solution(memory.contacts, memory.bounded, nothing), jnp.asarray(False), nothing)
    begin = jnp.int32(0), start, none
    return lax.while_loop(lambda s: (s[0] < len(SOFTER)) & ~s[2].solved, another, begin)[2]


def _searched(friction: Friction, problem: Problem, start: Float[Array, " nv"], tolerance: float) -> Solution:
    exact = max(tolerance, 8 * float(jnp.finfo(start.dtype).eps))

    def once(s: _Search) -> _Search:
        limit = Limit(s.coulomb.astype(s.w.dtype), s.loads)
        newton = Newton.at(friction, problem, s.w, limit)
        step = solve_in_few_instructions(problem, newton.gain, -newton.residual)
        enough = jnp.where(s.coulomb, exact, max(exact, TRESCA_TOLERANCE))
        length = jnp.max(jnp.abs(step)) / jnp.maximum(jnp.max(jnp.abs(s.w)), jnp.finfo(s.w.dtype).tiny)
        small = length <= enough
        part = lax.cond(small, lambda: jnp.ones_like(enough), lambda: _part(friction, newton, s.w, step, limit))
        w = s.w + part * step
        ends = small | (part == 0)
        # Steps that are this small and lead nowhere are rounding errors.
        small = small | (s.coulomb & (part == 0) & (length <= ROUNDING))

        def go_on() -> _Search:
            return _Search(w, s.coulomb, s.anchor, s.loads, s.steps + 1, jnp.asarray(False))

        def change() -> _Search:
            # From given loads to Coulomb's own, from where they led to; and, if that leads nowhere, back to there.
            anchor = jnp.where(s.coulomb, s.anchor, w)
            loads = jnp.where(s.coulomb, s.loads, loads_at(friction, problem, w))
            return _Search(jnp.where(small, w, anchor), ~s.coulomb, anchor, loads, s.steps + 1, small & s.coulomb)

        return lax.cond(ends, change, go_on)

    nothing = jnp.zeros(problem.points.size, dtype=start.dtype)

    def search(state):
        count, before = state
        w = lax.cond(count == 0, lambda: before.w, lambda: follow(friction, problem))
        first = _Search(w, jnp.asarray(True), w, nothing, jnp.int32(0), jnp.asarray(False))
        return count + 1, lax.while_loop(lambda s: (s.steps < MOST_STEPS) & ~s.solved, once, first)

    first = _Search(start, jnp.asarray(True), start, nothing, jnp.int32(0), jnp.asarray(False))
    last = lax.while_loop(lambda state: (state[0] < 2) & ~state[1].solved, search, (jnp.int32(0), first))[1]
    return _read_off(friction, problem, last)


def _read_off(friction: Friction, problem: Problem, end: _Search) -> Solution:
    """The impulses at the end of a search; where it has none, of the last problem with given loads."""
    w = jnp.where(end.solved, end.w, end.anchor)
    newton = Newton.at(friction, problem, w)
    x = Impulse(newton.contacts.x, newton.bounded)

    def last() -> Solution:
        return corrected(problem, lambda b: solve_in_few_instructions(problem, newton.gain, b), newton.gain, x, w)

    return lax.cond(end.solved, last, lambda: Solution(x.contacts, x.bounded, problem.together(x)))


class _Line(eqx.Module):
    """A search along a Newton step: parts of it, and the slope of the energy there relative to that at its start."""

    part: Float[Array, ""]
    below: Float[Array, ""]
    """The longest part that is known to end before the energy's minimum."""
    slope_below: Float[Array, ""]
    above: Float[Array, ""]
    slope_above: Float[Array, ""]
    good: Bool[Array, ""]
    tries: Int[Array, ""]


def _part(
    friction: Friction, newton: Newton, w: Float[Array, " nv"], step: Float[Array, " nv"], limit: Limit
) -> Float[Array, ""]:
    """The part of a Newton step that leads on; 0 if none does.

    With Coulomb's friction F has to shrink: the largest of 1, 1/2, 1/4, ... for which it does. With Tresca's, F is the
    gradient of a convex energy: a part close to its minimum along the step. That is often just beyond the point where a
    contact closes, which halves would never meet, so it is found by false position (the Illinois method).
    """
    size, downhill = jnp.linalg.norm(newton.residual), jnp.abs(jnp.sum(newton.residual * step))
    coulomb = limit.own > 0

    def tried(s: _Line) -> _Line:
        there = residual(friction, newton.problem, w + s.part * step, limit)
        slope = jnp.sum(there * step) / downhill
        shrinks = jnp.linalg.norm(there) < (1 - 1e-4 * s.part) * size
        good = jnp.where(coulomb, shrinks, (jnp.abs(slope) <= 0.5) | ((s.tries == 0) & (slope < 0)))
        over = slope > 0
        # An end that stays twice in a row counts half, so that the other one moves.
        return _Line(
            s.part,
            below=jnp.where(over, s.below, s.part),
            slope_below=jnp.where(over, 0.5 * s.slope_below, slope),
            above=jnp.where(over, s.part, s.above),
            slope_above=jnp.where(over, slope, 0.5 * s.slope_above),
            good=good,
            tries=s.tries + 1,
        )

    def another(s: _Line) -> _Line:
        cut = (s.below * s.slope_above - s.above * s.slope_below) / (s.slope_above - s.slope_below)
        return tried(eqx.tree_at(lambda s: s.part, s, jnp.where(coulomb, s.part / 2, cut)))

    one, zero = jnp.ones_like(size), jnp.zeros_like(size)
    first = tried(_Line(one, zero, -2 * one, one, one, jnp.asarray(False), jnp.int32(0)))
    most = jnp.where(coulomb, *TRIES)
    last = lax.while_loop(lambda s: ~s.good & (s.tries < most), another, first)
    return jnp.where(coulomb & ~last.good, 0.0, last.part)


def counted(friction: Friction, problem: Problem, start: Impulse, sweeps: int) -> Solution:
    """Exactly `sweeps` sweeps, which JAX can differentiate one by one."""
    first = Solution(start.contacts, start.bounded, problem.together(start))
    return lax.scan(lambda x, _: (friction.sweep(problem, x), None), first, None, length=sweeps)[0]
