"""The quick way to a solution: guess what every row does, solve, look what it does then, and so on.

Each contact is open, sticks or slides in some direction; for a given choice the problem is linear. The choice comes from
y = x - rho r, whose projection onto the friction cone is x at a solution (a primal-dual active-set method, that is a semismooth
Newton method for x = P(y); Alart and Curnier 1991). Started with the impulses of the step before, it mostly ends after one or
two systems.
"""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from ...spatial import Array, once_if
from .bounded import respond_bounded
from .cone import tangential_step
from .interface import Friction
from .linear_system import LinearSystem
from .newton import follow_on
from .problem import Gain, Impulse, Problem, Solution

MOST_SWITCHES = 20
"""Linear systems; the search that bounds its steps goes on where these do not suffice."""
PART = 1e-2
"""Of the tolerance of Newton's steps that guesses have to keep: the right guess is solved to rounding error, while one that is
almost right, of contacts at the edge of slipping, was 1e-6 off."""
ROUNDING = 1e3
"""Units in the last place of the velocities at hand that rounding leaves."""


class _Guess(eqx.Module):
    x: Impulse
    first: Float[Array, " nv"]
    """w of the first system."""
    gain: Gain
    """Of each row, for the linear problem: x = gain (b - Y w) + fixed."""
    fixed: Impulse
    miss: Float[Array, ""]
    """The largest change of a velocity by x - P(y), beside the velocities at hand."""
    count: Int[Array, ""]


class Switched(eqx.Module):
    solution: Solution
    solved: Bool[Array, ""]
    first: Float[Array, " nv"]
    """w if every row did as in the step before: from there a longer search starts."""


def switched(friction: Friction, problem: Problem, start: Impulse, tolerance: float) -> Switched:
    """Guesses, from that of the step before on."""
    tolerance = max(PART * tolerance, ROUNDING * float(jnp.finfo(problem.reach.Y.dtype).eps))

    def once(s: _Guess) -> _Guess:
        system = LinearSystem.of(problem, s.gain)
        w = system.factors.solve(_right(problem, s.gain, s.fixed))
        s = _seen(friction, problem, s, w)
        # Where rows would have to be exchanged, another search does so.
        s = replace(
            s, miss=jnp.where(system.regular, s.miss, jnp.inf), count=jnp.where(system.regular, s.count, MOST_SWITCHES)
        )

        def last_step(both):
            x, gain = both
            return follow_on(
                problem, gain, x, LinearSystem(problem, gain, system.factors).solve(problem.together(x) - w)
            )

        # The gain is that of the state that was found, which is the one that was guessed: a last step, see `corrected`. As the
        # state of a loop x is computed once; XLA might else compute it twice, with other rounding errors, which are large.
        x, gain = once_if(s.miss <= tolerance, last_step, (s.x, s.gain))
        return replace(s, x=x, gain=gain)

    first = _first(friction, problem, start)
    last = lax.while_loop(lambda s: (s.miss > tolerance) & (s.count < MOST_SWITCHES), once, first)
    found = Solution(last.x.contacts, last.x.bounded, problem.together(last.x))
    return Switched(found, last.miss <= tolerance, last.first)


def _first(friction: Friction, problem: Problem, start: Impulse) -> _Guess:
    """What slid, stuck and was open in the step before does so again."""

    def of_point(_, rows, reach, x):
        # A little more than the impulse, so that what slid slides.
        y = x * jnp.array([1.0, 1 + 1e-6, 1 + 1e-6], dtype=x.dtype)
        response = friction.respond(rows, y, tangential_step(reach.A, rows.R))
        return (), (response.gain, _fixed(response))

    def of_other(_, rows, reach, x):
        held, gain = respond_bounded(rows, x)
        return (), (gain, jnp.where(gain > 0, 0.0, held))

    _, (gain_c, fixed_c) = problem.walk_points(of_point, (), start.contacts)
    _, (gain_b, fixed_b) = problem.walk_others(of_other, (), start.bounded)
    n, dtype = problem.nv, problem.reach.Y.dtype
    nothing = jnp.zeros(n, dtype=dtype)
    infinite = jnp.full((), jnp.inf, dtype=dtype)
    return _Guess(start, nothing, Gain(gain_c, gain_b), Impulse(fixed_c, fixed_b), infinite, jnp.int32(0))


def _right(problem: Problem, gain: Gain, fixed: Impulse) -> Float[Array, " nv"]:
    def of_point(right, rows, reach, gain, fixed):
        return reach.pushed(right, fixed + gain @ rows.b), ()

    def of_other(right, rows, reach, gain, fixed):
        return reach.pushed(right, fixed + gain * rows.b), ()

    right = problem.sum(jnp.zeros(problem.nv, problem.reach.Y.dtype))
    right, _ = problem.walk_points(of_point, right, gain.contacts, fixed.contacts)
    return problem.walk_others(of_other, right, gain.bounded, fixed.bounded)[0]


def _seen(friction: Friction, problem: Problem, s: _Guess, w: Float[Array, " nv"]) -> _Guess:
    """What all rows do at the solution of a linear problem."""

    def of_point(sizes, rows, reach, x, gain, fixed):
        miss, speed = sizes
        u = reach.along(w) - rows.b
        x = fixed - gain @ u
        step = tangential_step(reach.A, rows.R)
        rho = jnp.stack([1 / (reach.A[0, 0] + rows.R), step, step])
        response = friction.respond(rows, x - rho * (u + rows.R * x), step)
        off = jnp.max(jnp.abs(x - response.x) / rho)
        sizes = jnp.maximum(miss, off), jnp.maximum(speed, jnp.max(jnp.abs(rows.b)))
        return sizes, (response.x, response.gain, _fixed(response))

    def of_other(sizes, rows, reach, x, gain, fixed):
        miss, speed = sizes
        u = reach.along(w) - rows.b
        x = fixed - gain * u
        rho = 1 / (reach.A + rows.R)
        held, new = respond_bounded(rows, x - rho * (u + rows.R * x))
        sizes = jnp.maximum(miss, jnp.abs(x - held) / rho), jnp.maximum(speed, jnp.abs(rows.b))
        return sizes, (held, new, jnp.where(new > 0, 0.0, held))

    zero = jnp.zeros((), dtype=w.dtype)
    of_points = s.x.contacts, s.gain.contacts, s.fixed.contacts
    sizes, (x_c, gain_c, fixed_c) = problem.update_points(of_point, (zero, zero), of_points)
    of_others = s.x.bounded, s.gain.bounded, s.fixed.bounded
    sizes, (x_b, gain_b, fixed_b) = problem.update_others(of_other, sizes, of_others)
    miss = sizes[0] / jnp.maximum(sizes[1], jnp.finfo(w.dtype).tiny)
    return _Guess(
        Impulse(x_c, x_b),
        jnp.where(s.count == 0, w, s.first),
        Gain(gain_c, gain_b),
        Impulse(fixed_c, fixed_b),
        miss,
        s.count + 1,
    )


def _fixed(response):
    return jnp.zeros_like(response.x) if response.fixed is None else response.fixed
