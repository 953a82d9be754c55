"""How a solution follows what it depends on.

An active contact keeps its state (stuck, or sliding): dx = -gain (Y dw + du) + slip dmu, with du the change of its row at
fixed w and x, and dw = Y^T dx + what the change of the mechanism does to w at fixed impulses. One linear system for dw
results. Contacts without an impulse have no part in it, so all loops run over those that have one, forward and backward.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float

from ...dynamics import expand_v, mass_root, momentum_balance
from ...dynamics.kinematics import joint_motion
from ...dynamics.traverse import sum_outward
from ...spatial import Array, added_at, in_memory, linear_map, row
from ..rows import frame_at
from .bounded import respond_bounded
from .cone import tangential_step
from .interface import Friction
from .linear_system import LinearSystem
from .newton import followed
from .problem import REFINEMENTS, Gain, Impulse, Problem
from .rows import StepRows, impulse_at
from .scene import Goals, Scene
from .scene import wanted as wanted_velocities
from .slots import Slots


@eqx.filter_jit
def tangents(
    friction: Friction,
    goals: Goals,
    scene: Scene,
    wanted: Bool[Array, " goals"],
    velocity: Float[Array, "goals nv"],
    impulse: Impulse,
    d_scene: Any,
) -> tuple[Float[Array, "goals nv"], Impulse]:
    """Changes of velocities and impulses. `d_scene` is like the scene, with None for what does not change."""
    pushing = jnp.any(impulse.contacts != 0, axis=(0, 2))
    holding = jnp.any(impulse.bounded != 0, axis=0) | (jnp.arange(impulse.bounded.shape[1]) >= len(scene.limited))
    points, others = Slots.of(pushing), Slots.of(holding)
    root = mass_root(scene.mechanism, scene.conf)
    rows = StepRows.of(scene, goals, root, points, others)
    x = [impulse_at(jax.tree.map(lambda x, g=g: x[g], impulse), points, others) for g in range(len(goals))]
    contacts = jnp.stack([x.contacts for x in x], axis=1)

    # What the change of geometry, velocities and numbers does to each contact, at fixed impulses.
    def solved_motion(conf):
        v = jax.vmap(lambda v: expand_v(scene.mechanism, v))(velocity)
        layout = scene.mechanism.layout
        return jnp.stack([sum_outward(layout.nodes, joint_motion(scene.mechanism, conf.S, v)) for v in v], axis=1)

    d_mechanism, d_conf = _filled(d_scene.mechanism, scene.mechanism), _filled(d_scene.conf, scene.conf)
    motion, d_motion = eqx.filter_jvp(solved_motion, (scene.conf,), (d_conf,))
    d_seen = _filled(d_scene.motion, scene.motion)
    given = (
        _present(d_scene.numbers, scene.numbers),
        jnp.concatenate([d_seen, d_motion], axis=1),
        _filled(d_scene.dt, scene.dt),
    )
    fixed = (
        scene.numbers,
        jnp.concatenate([scene.motion, motion], axis=1),
        scene.dt,
        scene.conf.reference,
        contacts,
        points,
    )
    local = _Local(goals, scene)
    on_nodes = local.wrenches(fixed)
    d_on_nodes, du, d_mu = linear_map(local.forward, local.backward(given[0]), fixed, given)

    # What the change of the mechanism does to w at fixed impulses and velocities.
    at_freedoms = [_at_freedoms(scene, impulse.bounded[g]) for g in range(len(goals))]

    def balance(mechanism, conf, on_nodes):
        found = [
            momentum_balance(mechanism, conf, on_nodes[:, g], at_freedoms[g], velocity[g]) for g in range(len(goals))
        ]
        return jnp.stack(found)

    setting = scene.mechanism, scene.conf, on_nodes
    _, d_force = eqx.filter_jvp(balance, setting, (d_mechanism, d_conf, d_on_nodes))

    d_bounded = _filled(d_scene.bounded, scene.bounded)

    def one(_, goal):
        (b, bounded), wanted, x, du, d_force, d_bounded, all_bounded = goal

        def change():
            problem = rows.problem(b, bounded).softened(x)
            push = root.of_force(d_force)
            d_rows = others.gathered(d_bounded)
            own = du, d_mu, d_rows.R * x.bounded - d_rows.b, _at_bound(bounded, d_rows, x.bounded), push
            dw, dx = _solved(friction, problem, x, own)
            return root.velocities(dw), Impulse(points.spread(dx.contacts), others.spread(dx.bounded))

        def nothing():
            return jnp.zeros_like(push_shape), jax.tree.map(jnp.zeros_like, all_bounded)

        push_shape = velocity[0]
        return None, lax.cond(wanted, change, nothing)

    stacked = jax.tree.map(lambda *parts: jnp.stack(parts), *x)
    everything = impulse
    goals_stack = rows.by_goal, wanted, stacked, jnp.swapaxes(du, 0, 1), d_force, d_bounded, everything
    return lax.scan(one, None, goals_stack)[1]


def _at_freedoms(scene: Scene, x: Float[Array, " rows"]) -> Float[Array, " all_v"]:
    total = jnp.zeros(len(scene.mechanism.layout.dof_nodes), dtype=x.dtype)
    return added_at(total, scene.freedoms, scene.signs() * x) if len(x) else total


def _at_bound(rows, d_rows, x):
    """How rows at a bound follow it."""
    return jnp.where(x <= rows.low, d_rows.low, jnp.where(x >= rows.high, d_rows.high, 0.0))


class _Local:
    """What happens at one contact after the other: the change of its row, and of what its impulse does to its bodies.

    Functions of what is `fixed` (numbers, motion, dt, reference points, impulses by slot and goal, slots), linear in what is
    `given`: the changes of numbers (None for those that do not change), motion and dt.
    """

    def __init__(self, goals: Goals, scene: Scene):
        self.goals, self.ends, self.seen = goals, scene.ends, scene.motion.shape[1]

    def wrenches(self, fixed) -> Float[Array, "nodes goals 6"]:
        """What all impulses do to the nodes."""

        def add(total, place, x, _):
            at, pieces = self._at(fixed, place, x, fixed[0])
            return self._added(total, place, at(*pieces)[0])

        return fixed[-1].fold(add, self._no_wrenches(fixed), fixed[-2])

    def forward(self, fixed, given):
        """Changes of the wrenches, and by slot of rows and friction coefficients."""
        d_numbers, d_motion, d_dt = given

        def add(total, place, x, _):
            at, pieces = self._at(fixed, place, x, d_numbers)
            moved = _rows(d_numbers, place), self.ends.motions(place, d_motion), d_dt
            _, (wrenches, du, d_mu) = jax.jvp(at, pieces, moved)
            return self._added(total, place, wrenches), (du, d_mu)

        total, (du, d_mu) = fixed[-1].walk(add, self._no_wrenches(fixed), fixed[-2])
        return total, du, d_mu

    def backward(self, present):
        """The transpose, where the numbers that change are those that `present` has."""

        def pull(fixed, pulled):
            numbers, motion, dt, *_ = fixed
            on_nodes, du, d_mu = pulled
            start = jax.tree.map(lambda _, x: in_memory(jnp.zeros(x.shape, x.dtype)), present, _like(present, numbers))
            zeros = start, in_memory(jnp.zeros_like(motion)), jnp.zeros_like(dt)

            def add(sums, place, own, _):
                x, du, d_mu = own
                at, pieces = self._at(fixed, place, x, present)
                wrenches = self.ends.motions(place, on_nodes)
                c_numbers, c_motion, c_dt = jax.vjp(at, *pieces)[1]((wrenches, du, d_mu))
                all_numbers, all_motion, all_dt = sums
                all_numbers = jax.tree.map(lambda s, c: added_at(s, place[None], c[None]), all_numbers, c_numbers)
                return all_numbers, self._added(all_motion, place, c_motion), all_dt + c_dt

            return fixed[-1].fold(add, zeros, (fixed[-2], du, d_mu))

        return pull

    def _at(self, fixed, place, x, present):
        """A function of one point's numbers that change, of its bodies' motions and dt, and these."""
        numbers, motion, dt, reference, *_ = fixed
        own = _rows(numbers, place)

        def at(some, motions, dt):
            all_numbers = eqx.combine(some, own)
            bodies = self.ends.bodies(place, motions, reference)
            frame = frame_at(all_numbers.points.normal)
            rates = bodies.rates(all_numbers.points.position)
            b = wanted_velocities(self.goals, all_numbers, bodies, dt)
            u = rates[self.seen :] @ frame.T - b + all_numbers.pair.softness * x
            wrenches = bodies.wrenches(all_numbers.points.position, frame)
            return tuple(None if w is None else x @ w for w in wrenches), u, all_numbers.pair.friction

        return at, (_like(present, own), self.ends.motions(place, motion), dt)

    def _added(self, total, place, by_node):
        for node, entry in zip(self.ends.nodes(place), by_node, strict=True):
            if node is not None:
                total = added_at(total, jnp.asarray(node)[None], entry[None])
        return total

    def _no_wrenches(self, fixed) -> Float[Array, "nodes goals 6"]:
        motion = fixed[1]
        return in_memory(jnp.zeros((len(motion), len(self.goals), 6), motion.dtype))


def _solved(friction: Friction, problem: Problem, x: Impulse, own) -> tuple[Float[Array, " nv"], Impulse]:
    """dw, and dx by slot, given changes du of contacts, dmu, du of other rows, of bounds, and of w at fixed impulses."""
    gain, slip = _linearised(friction, problem, x)
    factors = LinearSystem.of(problem, gain).factors
    count = jnp.where(problem.missing.largest > 0, REFINEMENTS, 0)
    shared = _Shared(problem)
    fixed = shared.arrays, gain, slip, factors, count
    return linear_map(shared.forward, shared.backward, fixed, own)


def _linearised(friction: Friction, problem: Problem, x: Impulse):
    """How all rows follow at a solution."""
    w = problem.together(x)

    def of_point(_, rows, reach, x):
        u, step = reach.along(w) - rows.b, tangential_step(reach.A, rows.R)
        rho = jnp.stack([1 / (reach.A[0, 0] + rows.R), step, step])
        response = friction.respond(rows, x - rho * (u + rows.R * x), step)
        return (), (response.gain, response.slip)

    def of_other(_, rows, reach, x):
        rho = 1 / (reach.A + rows.R)
        _, gain = respond_bounded(rows, x - rho * (reach.along(w) - rows.b + rows.R * x))
        return (), gain

    _, (gain, slip) = problem.walk_points(of_point, (), x.contacts)
    _, gain_b = problem.walk_others(of_other, (), x.bounded)
    return Gain(gain, gain_b), slip


class _Shared:
    """The linear system of one goal; arrays of the problem are given apart, so that nothing is closed over."""

    def __init__(self, problem: Problem):
        self.arrays, self.static = eqx.partition(problem, lambda x: eqx.is_array(x) and not isinstance(x, np.ndarray))

    def _problem(self, fixed) -> Problem:
        return eqx.combine(fixed[0], self.static)

    def forward(self, fixed, own):
        problem = self._problem(fixed)
        _, gain, slip, factors, count = fixed
        system = LinearSystem(problem, gain, factors)
        du, d_mu, du_b, bound, push = own

        def follow(rest, rest_b):
            """dw and dx where rows change by what is left of du."""

            def of_point(w, rows, reach, gain, slip, du, d_mu):
                own = slip * d_mu - gain @ du
                return reach.pushed(w, own), own

            def of_other(w, rows, reach, gain, du, bound):
                own = bound - gain * du
                return reach.pushed(w, own), own

            start = problem.sum(push)
            w, own_c = problem.walk_points(of_point, start, gain.contacts, slip, rest, d_mu)
            w, own_b = problem.walk_others(of_other, w, gain.bounded, rest_b, bound)
            dw = system.solve(w)
            return dw, followed(problem, gain, Impulse(own_c, own_b), dw)

        def refine(_, found):
            # What a softened row yields more is given back by its target, which follows the impulse.
            dx = found[1]
            rest = problem.points.each(
                lambda _, own, __: own[0] - own[1] * own[2], (du, problem.missing.contacts, dx.contacts)
            )
            rest_b = problem.others.each(
                lambda _, own, __: own[0] - own[1] * own[2], (du_b, problem.missing.bounded, dx.bounded)
            )
            return follow(rest, rest_b)

        return lax.fori_loop(0, count, refine, follow(du, du_b))

    def backward(self, fixed, pulled):
        problem = self._problem(fixed)
        _, gain, slip, factors, count = fixed
        system = LinearSystem(problem, gain, factors)
        c_w, c_x = pulled

        def follow(c_w, c_x):
            """What is pulled back through dw and dx of one system."""

            def reduced(w, rows, reach, gain, c):
                return reach.pushed(w, -(gain.T @ c)), ()

            def reduced_b(w, rows, reach, gain, c):
                return reach.pushed(w, -(gain * c)), ()

            start = problem.sum(c_w)
            start, _ = problem.walk_points(reduced, start, gain.contacts, c_x.contacts)
            start, _ = problem.walk_others(reduced_b, start, gain.bounded, c_x.bounded)
            push = system.solve_transposed(start)

            def of_point(_, rows, reach, gain, slip, c):
                own = c + reach.along(push)
                return (), (-(gain.T @ own), jnp.sum(slip * own))

            def of_other(_, rows, reach, gain, c):
                own = c + reach.along(push)
                return (), (-gain * own, own)

            _, (du, d_mu) = problem.walk_points(of_point, (), gain.contacts, slip, c_x.contacts)
            _, (du_b, bound) = problem.walk_others(of_other, (), gain.bounded, c_x.bounded)
            return du, d_mu, du_b, bound, push

        def refine(_, state):
            sums, last = state
            of_points = problem.points.each(lambda _, own, __: -own[0] * own[1], (problem.missing.contacts, last[0]))
            of_others = problem.others.each(lambda _, own, __: -own[0] * own[1], (problem.missing.bounded, last[2]))
            new = follow(jnp.zeros_like(c_w), Impulse(of_points, of_others))
            return jax.tree.map(jnp.add, sums, new), new

        first = follow(c_w, c_x)
        return lax.fori_loop(0, count, refine, (first, first))[0]


def _rows(tree: Any, place) -> Any:
    return jax.tree.map(lambda x: row(x, place), tree)


def _present(tangents: Any, primals: Any) -> Any:
    """The tangents like the primals, with None for numbers that do not change."""

    def present(tangent, primal):
        return jax.tree.map(lambda _: None, primal) if tangent is None else tangent

    return jax.tree.map(present, tangents, primals, is_leaf=lambda x: x is None)


def _like(some: Any, everything: Any) -> Any:
    """The leaves of a tree that another one has."""
    return jax.tree.map(lambda x, y: None if x is None else y, some, everything, is_leaf=lambda x: x is None)


def _filled(tangents: Any, primals: Any) -> Any:
    """Zeros for numbers that do not change, and nothing for what cannot."""

    def zeros(primal):
        return jnp.zeros_like(primal) if eqx.is_inexact_array(primal) else None

    def fill(tangent, primal):
        return jax.tree.map(zeros, primal) if tangent is None else tangent

    return jax.tree.map(fill, tangents, primals, is_leaf=lambda x: x is None)
