"""Newton's method on F(w) = 0, from anywhere.

Newton steps, each shortened until F shrinks, mostly end after two or three. Where they do not lead on, because Coulomb's
friction is not the gradient of any energy, steps from elsewhere or a path of softer problems do (`path.py`).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from ...spatial import Array
from .interface import Friction
from .newton import Newton, residual
from .path import follow
from .problem import REFINEMENTS, Impulse, Problem, Solution

MOST_STEPS = 60
"""Newton steps from one start."""
TRIES = 8
"""Halvings of a Newton step before it counts as leading nowhere."""


class _Search(eqx.Module):
    w: Float[Array, " nv"]
    steps: Int[Array, ""]
    solved: Bool[Array, ""]
    stuck: Bool[Array, ""]


def converged(friction: Friction, problem: Problem, start: Solution, tolerance: float) -> Solution:
    """The solution: a Newton step from there changes w by less than `tolerance` beside its size."""
    nothing = Impulse(jnp.zeros_like(start.contacts), jnp.zeros_like(start.bounded))
    too_hard = jnp.any(jnp.concatenate(problem.missing_softness()) > 0)

    def once(state):
        count, x = state
        given = jax.tree.map(lambda x, zero: jnp.where(count == 0, zero, x), Impulse(x.contacts, x.bounded), nothing)
        return count + 1, _searched(friction, problem.softened(given), x.w, tolerance)

    most = jnp.where(too_hard, 1 + REFINEMENTS, 1)
    return lax.while_loop(lambda state: state[0] < most, once, (jnp.int32(0), start))[1]


def _searched(friction: Friction, problem: Problem, start: Float[Array, " nv"], tolerance: float) -> Solution:
    """Newton steps from the start; if they lead nowhere, from w = 0, where all that approaches pushes; and at last from the
    end of the path."""

    def once(state):
        count, before = state
        w = lax.cond(count == 2, lambda: follow(friction, problem), lambda: jnp.where(count == 0, before.w, 0.0))
        return count + 1, _newton_steps(friction, problem, w, tolerance)

    first = jnp.int32(0), _Search(start, jnp.int32(0), jnp.asarray(False), jnp.asarray(False))
    end = lax.while_loop(lambda state: (state[0] < 3) & ~state[1].solved, once, first)[1]
    return _read_off(friction, problem, end)


def _newton_steps(friction: Friction, problem: Problem, start: Float[Array, " nv"], tolerance: float) -> _Search:
    exact = max(tolerance, 8 * float(jnp.finfo(start.dtype).eps))

    def once(s: _Search) -> _Search:
        newton = Newton.at(friction, problem, s.w)
        step = jnp.linalg.solve(newton.matrix, -newton.residual)
        small = jnp.max(jnp.abs(step)) <= exact * jnp.max(jnp.abs(s.w))
        part = lax.cond(small, lambda: jnp.ones_like(step[0]), lambda: _part(friction, newton, s.w, step))
        return _Search(s.w + part * step, s.steps + 1, small, part == 0)

    first = _Search(start, jnp.int32(0), jnp.asarray(False), jnp.asarray(False))
    return lax.while_loop(lambda s: (s.steps < MOST_STEPS) & ~s.solved & ~s.stuck, once, first)


def _part(
    friction: Friction, newton: Newton, w: Float[Array, " nv"], step: Float[Array, " nv"]
) -> Float[Array, ""]:
    """The largest of 1, 1/2, 1/4, ... of a Newton step for which F shrinks; 0 if there is none."""
    size = jnp.linalg.norm(newton.residual)

    def shrinks(part) -> Bool[Array, ""]:
        return jnp.linalg.norm(residual(friction, newton.problem, w + part * step)) < (1 - 1e-4 * part) * size

    def halved(state):
        part, _, tries = state
        return part / 2, shrinks(part / 2), tries + 1

    # The first is tried in the loop as well, so that its code exists once.
    first = jnp.asarray(2.0, dtype=w.dtype), jnp.asarray(False), jnp.int32(0)
    part, good, _ = lax.while_loop(lambda s: ~s[1] & (s[2] < TRIES), halved, first)
    return jnp.where(good, part, 0.0)


def _read_off(friction: Friction, problem: Problem, end: _Search) -> Solution:
    """The impulses at the end of a search.

    x(w) divides the rounding error of u by a small R, and friction would inherit it from the load. A last Newton step for x
    has no such error: what it adds to the loads is what makes w = Y^T x hold.
    """
    newton = Newton.at(friction, problem, end.w)
    x_c, x_b = newton.contacts.x, newton.bounded
    step = newton.solve(jnp.zeros_like(x_c), jnp.zeros_like(x_b), -newton.residual)
    contacts = jnp.where(end.solved, x_c + step.contacts, x_c)
    bounded = jnp.where(end.solved, x_b + step.bounded, x_b)
    return Solution(contacts, bounded, problem.together(contacts, bounded))


def counted(friction: Friction, problem: Problem, start: Solution, sweeps: int) -> Solution:
    """Exactly `sweeps` sweeps, which JAX can differentiate one by one."""
    return lax.scan(lambda x, _: (friction.sweep(problem, x), None), start, None, length=sweeps)[0]
