"""From rows to changes of velocity, and two ways to differentiate them.

"implicit": impulses obey equations that hold whatever way they were found. Differentiating these gives one linear
system, as large as the model has freedoms; nothing of the search is kept, nor is the factorisation differentiated.
"sweeps": the derivative of what was computed, converged or not; a gradient keeps every sweep.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float

from ...dynamics import Actions, Configuration, Mechanism, Root, impulse_balance, mass_root, row_velocities
from ...spatial import Array, keep
from .interface import Friction
from .newton import Newton
from .problem import REFINEMENTS, Impulse, Problem, Rows, Solution

Solver = Callable[[Problem, Solution], Solution]


class Settled(eqx.Module):
    """A change of velocities, and the impulses that cause it."""

    velocity: Float[Array, "*goals nv"]
    impulse: Impulse


class Setting(eqx.Module):
    """What a change of velocities depends on, and may be differentiated by."""

    mechanism: Mechanism
    conf: Configuration
    actions: Actions
    goals: Rows
    """With a leading axis: one problem each."""


def settle_through(
    solver: Solver, near: Bool[Array, ""], setting: Setting, wanted: Bool[Array, " goals"], start: Impulse
) -> Settled:
    """Velocities for each goal that is wanted, every one solved from where the one before ended.

    Nothing where nothing is near.
    """

    def resolve():
        root = mass_root(setting.mechanism, setting.conf)
        Y = root.rows(setting.actions)

        def one(x, goal):
            rows, wanted = goal
            x = lax.cond(wanted, lambda: solver(Problem.of(rows, Y), x), lambda: x)
            return x, Settled(root.velocities(x.w), Impulse(x.contacts, x.bounded))

        return lax.scan(one, Solution.of(start, Y), (setting.goals, wanted))[1]

    def nothing():
        return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(resolve))

    return lax.cond(near, resolve, nothing)


@eqx.filter_custom_jvp
def settle(
    friction: Friction,
    solver: Solver,
    near: Bool[Array, ""],
    setting: Setting,
    wanted: Bool[Array, " goals"],
    start: Impulse,
) -> Settled:
    """The same with a derivative that does not ask how the solver came there, nor where it started."""
    return settle_through(solver, near, setting, wanted, start)


@settle.def_jvp
def _settle_jvp(primals, tangents):
    friction, _, near, setting, wanted, _ = primals
    settled = keep(settle(*primals))

    # Computed again in the backward pass, so that nothing is stored for steps without contact.
    @partial(jax.checkpoint, policy=jax.checkpoint_policies.nothing_saveable)
    def tangent(setting, settled, d_setting):
        return _tangents(friction, setting, wanted, settled, d_setting)

    def nothing(*_):
        return jax.tree.map(jnp.zeros_like, settled)

    return settled, lax.cond(near, tangent, nothing, setting, settled, tangents[3])


def _tangents(
    friction: Friction, setting: Setting, wanted: Bool[Array, " goals"], settled: Settled, d_setting: Setting
) -> Settled:
    d_setting = _filled(d_setting, setting)
    root = mass_root(setting.mechanism, setting.conf)
    Y = root.rows(setting.actions)
    moved, d_moved = ((s.mechanism, s.conf, s.actions) for s in (setting, d_setting))

    def one(_, goal):
        rows, d_rows, found, wanted = goal

        def balance(mechanism, conf, actions):
            force = impulse_balance(mechanism, conf, actions, found.impulse.flat, found.velocity)
            return force, row_velocities(mechanism, conf, actions, found.velocity)

        def change():
            _, (d_force, d_r) = eqx.filter_jvp(balance, moved, d_moved)
            x = Solution.of(found.impulse, Y)
            return _tangent(friction, root, Problem.of(rows, Y), x, root.of_force(d_force), d_r, d_rows)

        return None, lax.cond(wanted, change, lambda: jax.tree.map(jnp.zeros_like, found))

    return lax.scan(one, None, (setting.goals, d_setting.goals, settled, wanted))[1]


def _tangent(friction: Friction, root: Root, problem: Problem, x: Solution, pushed, d_r, d_rows: Rows) -> Settled:
    """The change of a solution, from the equations that it solves.

    With du the change of rows at fixed w and x, every row obeys dx = -gain (Y dw + du) + what moves its bound, and
    dw = Y^T dx + `pushed`, what the change of the mechanism does to w at fixed impulses.
    """
    points = len(problem.A_c)
    d_c, d_b = d_rows.contacts, d_rows.bounded
    newton = Newton.at(friction, problem.softened(Impulse(x.contacts, x.bounded)), x.w)
    # x = -u/R, so that dR does what a velocity x dR does.
    du_c = d_r[: 3 * points].reshape(points, 3) + d_c.R[:, None] * x.contacts - d_c.b
    du_b = d_r[3 * points :] + d_b.R * x.bounded - d_b.b
    bounds = problem.bounded
    at_bound = jnp.where(x.bounded <= bounds.low, d_b.low, jnp.where(x.bounded >= bounds.high, d_b.high, 0.0))
    more_c, more_b = problem.missing_softness()

    def solved(du_c, du_b) -> Solution:
        own_c = newton.contacts.slip * d_c.mu[:, None] - jnp.einsum("nij,nj->ni", newton.contacts.gain, du_c)
        return newton.solve(own_c, at_bound - newton.bounded_gain * du_b, pushed)

    def refined(dx: Solution) -> Solution:
        # What a softened row yields more is given back by its target, which follows the impulse.
        return solved(du_c - more_c[:, None] * dx.contacts, du_b - more_b * dx.bounded)

    def again(dx: Solution) -> Solution:
        for _ in range(REFINEMENTS):
            dx = refined(dx)
        return dx

    too_hard = jnp.any(jnp.concatenate([more_c, more_b]) > 0)
    dx = lax.cond(too_hard, again, lambda dx: dx, solved(du_c, du_b))
    return Settled(root.velocities(dx.w), Impulse(dx.contacts, dx.bounded))


def _filled(tangents: Any, primals: Any) -> Any:
    """Zeros for numbers that do not change, and nothing for what cannot."""

    def zeros(primal):
        return jnp.zeros_like(primal) if eqx.is_inexact_array(primal) else None

    def fill(tangent, primal):
        return jax.tree.map(zeros, primal) if tangent is None else tangent

    return jax.tree.map(fill, tangents, primals, is_leaf=lambda x: x is None)
