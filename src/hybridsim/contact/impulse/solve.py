"""Sweeps until the problem is solved, and two ways to differentiate the result.

"implicit": the solution x(theta) obeys equations that hold whatever way it was found. Differentiating these gives one
linear system in w, as large as the model has freedoms; nothing of the sweeps is kept. Right where the sweeps have
converged. "sweeps": the derivative of what was computed, converged or not; a gradient keeps every sweep.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from .bounded import follows
from .interface import Friction
from .problem import Problem, Solution


def solve(
    friction: Friction, problem: Problem, start: Solution, sweeps: int, tolerance: float, derivative: str
) -> Solution:
    """At most `sweeps` sweeps, fewer where one changes w by less than `tolerance` beside its size."""
    if derivative == "sweeps":
        return _through(friction, sweeps, problem, start)
    return _implicit(friction, sweeps, tolerance, problem, jax.tree.map(lax.stop_gradient, start))


def _through(friction: Friction, sweeps: int, problem: Problem, start: Solution) -> Solution:
    return lax.scan(lambda x, _: (friction.sweep(problem, x), None), start, None, length=sweeps)[0]


@partial(jax.custom_jvp, nondiff_argnums=(0, 1, 2))
def _implicit(friction: Friction, sweeps: int, tolerance: float, problem: Problem, start: Solution) -> Solution:
    def unfinished(carry):
        k, x, change = carry
        return (k < sweeps) & (change > tolerance * jnp.max(jnp.abs(x.w)))

    def once(carry):
        k, x, _ = carry
        new = friction.sweep(problem, x)
        return k + 1, new, jnp.max(jnp.abs(new.w - x.w))

    first = (jnp.int32(0), start, jnp.asarray(jnp.inf, dtype=start.w.dtype))
    return lax.while_loop(unfinished, once, first)[1]


@_implicit.defjvp
def _implicit_jvp(friction, sweeps, tolerance, primals, tangents):
    problem, start = primals
    x = _implicit(friction, sweeps, tolerance, problem, start)
    return x, tangent(friction, problem, x, tangents[0])


def tangent(friction: Friction, problem: Problem, x: Solution, d: Problem) -> Solution:
    """dx for a change d of the problem, from the equations that x solves.

    With dr = dY w + dR x - db at fixed w and x, every row obeys dx = -gain (Y dw + dr) + what moves its bound, and
    w = Y^T x. Eliminating dx leaves (1 + Y^T gain Y) dw = dY^T x + Y^T (-gain dr + ...).
    """
    c, b = problem.contacts, problem.bounded
    linear, gain_b = friction.linearise(problem, x), follows(b, x.bounded)
    dr_c = d.contacts.Y @ x.w + d.contacts.R[:, None] * x.contacts - d.contacts.b
    dr_b = d.bounded.Y @ x.w + d.bounded.R * x.bounded - d.bounded.b
    at_bound = jnp.where(x.bounded <= b.low, d.bounded.low, jnp.where(x.bounded >= b.high, d.bounded.high, 0.0))
    own_c = linear.slip * d.contacts.mu[:, None] - jnp.einsum("nij,nj->ni", linear.gain, dr_c)
    own_b = at_bound - gain_b * dr_b

    matrix = jnp.eye(len(x.w), dtype=x.w.dtype) + jnp.einsum("nia,nij,njb->ab", c.Y, linear.gain, c.Y)
    matrix = matrix + jnp.einsum("na,n,nb->ab", b.Y, gain_b, b.Y)
    pushed = jnp.einsum("nia,ni->a", d.contacts.Y, x.contacts) + jnp.einsum("nia,ni->a", c.Y, own_c)
    pushed = pushed + x.bounded @ d.bounded.Y + own_b @ b.Y
    dw = jnp.linalg.solve(matrix, pushed)
    return Solution(own_c - jnp.einsum("nij,nja,a->ni", linear.gain, c.Y, dw), own_b - gain_b * (b.Y @ dw), dw)
