"""A solution of F(w) = 0 by following a path that begins where everything is soft.

With rows that yield more than all bodies do, impulses hardly act on each other: the solution is unique, and close to w = 0. As
they harden, solutions form a path. It may turn back, where Coulomb's friction has several solutions or a sticking
contact has to become a sliding one, so it is followed by its length and not by the hardness (pseudo-arclength continuation;
Allgower and Georg, Numerical Continuation Methods, 1990). Where contacts open, close, stick or slip, the path has corners; it
goes on to the side for which the determinant of the bordered matrix keeps its sign.
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from ...spatial import Array, Scalar
from .interface import Friction
from .linear_system import dense_matrix
from .newton import Newton, residual
from .problem import Problem

SOFTEST = 30.0
"""Softness at the start, beside what a row yields alone."""
MOST_POINTS = 3000
"""At which a path is looked at. Random chains, towers and pairs of bodies need 150 on average and 400 at most."""
CORRECTIONS = 6
"""Newton steps from a point beside the path onto it."""
ON_PATH = 1e-9
"""The last of these steps, beside the size of w."""
LONGEST = 0.5
"""A step along the path: this part of the size of w, or of the whole hardness."""
CORNER = 0.1
"""Longest step that may pass a corner: a longer one might miss a part of the path."""
SHORTEST = 1e-13


class _Walk(eqx.Module):
    """A walk along the path. Points are places (w, hardness); directions have w in units of `scale`."""

    here: Float[Array, " place"]
    """The last point on the path."""
    ahead: Float[Array, " place"]
    """The direction of the path there."""
    scale: Float[Array, " place"]
    length: Float[Array, ""]
    """Of the step that is tried."""
    looks: Bool[Array, ""]
    """Whether the next point is looked at only for its direction: that beyond a corner."""
    beyond: Bool[Array, ""]
    """Whether the direction of the step is that of a point further on."""
    direction: Float[Array, " place"]
    """Of the step that is tried; steps onto the path are across it."""
    aim: Float[Array, " place"]
    """Where the step leads to, beside the path."""
    point: Float[Array, " place"]
    """On the way from there onto the path."""
    corrections: Int[Array, ""]
    points: Int[Array, ""]
    ended: Bool[Array, ""]


class _Softer(eqx.Module):
    """The problem at any place of the path: hardness 0 is its start, 1 the problem itself."""

    problem: Problem
    rate_c: Float[Array, " slots"]
    """Logarithm of how much softer each row is at the start."""
    rate_b: Float[Array, " other_slots"]

    @classmethod
    def of(cls, problem: Problem) -> "_Softer":
        def rate(R, alone):
            return jnp.log(jnp.maximum(SOFTEST * alone, R) / R)

        def of_point(_, rows, reach):
            return (), (rows.b, rows.R, rate(rows.R, jnp.trace(reach.A)))

        def of_other(_, rows, reach):
            return (), (rows.b, rows.R, rate(rows.R, reach.A))

        # What rows yield more than their own softness stays as it is.
        _, (b_c, R_c, rate_c) = problem.walk_points(of_point, ())
        _, (b_b, R_b, rate_b) = problem.walk_others(of_other, ())
        hard = eqx.tree_at(
            lambda p: (p.contacts.b, p.contacts.R, p.bounded.b, p.bounded.R), problem, (b_c, R_c, b_b, R_b)
        )
        return cls(replace(hard, kept=None), rate_c, rate_b)

    def at(self, hardness: Scalar) -> Problem:
        def softer(_, own, __):
            R, rate = own
            return R * jnp.exp((1 - hardness) * rate)

        p = self.problem
        R_c = p.points.each(lambda *x: softer(*x), (p.contacts.R, self.rate_c))
        R_b = p.others.each(lambda *x: softer(*x), (p.bounded.R, self.rate_b))
        return eqx.tree_at(lambda p: (p.contacts.R, p.bounded.R), p, (R_c, R_b))

    def by_hardness(self, newton: Newton) -> Float[Array, " nv"]:
        """dF of F where it is linearised."""

        # x = -u/R, so that a row that hardens by dR does what a velocity x dR does.
        def of_point(total, rows, reach, rate, x, gain):
            return reach.pushed(total, -(gain @ (rate * rows.R * x))), ()

        def of_other(total, rows, reach, rate, x, gain):
            return reach.pushed(total, -(gain * (rate * rows.R * x))), ()

        total = jnp.zeros(newton.problem.nv, dtype=newton.residual.dtype)
        of_points = newton.contacts.x, newton.contacts.gain
        total, _ = newton.problem.walk_points(of_point, total, self.rate_c, *of_points)
        return newton.problem.walk_others(of_other, total, self.rate_b, newton.bounded, newton.bounded_gain)[0]


def follow(friction: Friction, problem: Problem) -> Float[Array, " nv"]:
    """w at the end of the path: a solution but for rounding, unless the path was too long."""
    harder = jnp.zeros(problem.nv + 1, dtype=problem.reach.Y.dtype).at[-1].set(1.0)
    path = _Softer.of(problem)
    start = jnp.append(-residual(friction, path.at(jnp.zeros_like(harder[0])), jnp.zeros_like(harder[:-1])), 0.0)
    zero, no = jnp.int32(0), jnp.asarray(False)
    walk = _Walk(start, harder, _scale(start), jnp.ones_like(harder[0]), no, no, harder, start, start, zero, zero, no)
    end = lax.while_loop(
        lambda s: ~s.ended & (s.points < MOST_POINTS) & (s.length > SHORTEST), lambda s: _next(friction, path, s), walk
    )
    return end.here[:-1]


def _next(friction: Friction, path: _Softer, s: _Walk) -> _Walk:
    """Look at one more point."""
    to_path, along = _steps(friction, path, s)
    point = s.point + to_path * s.scale
    size = jnp.max(jnp.abs(to_path))
    far = ~(jnp.linalg.norm((point - s.aim) / s.scale) <= 0.5 * s.length)
    arrived = ~s.looks & ~far & (size <= ON_PATH)
    failed = ~s.looks & ~arrived & (far | (s.corrections + 1 >= CORRECTIONS))
    s = eqx.tree_at(lambda s: s.points, s, s.points + 1)

    def look_around() -> _Walk:
        return _tried(s, along, beyond=True)

    def arrive() -> _Walk:
        scale = _scale(point)
        ahead = along * s.scale / scale
        longer = jnp.where(s.corrections < 3, 3.0, 1.5)
        new = eqx.tree_at(
            lambda s: (s.here, s.ahead, s.scale, s.length, s.ended),
            s,
            (
                point,
                ahead / jnp.linalg.norm(ahead),
                scale,
                jnp.minimum(longer * s.length, LONGEST),
                (jnp.abs(point[-1] - 1) <= ON_PATH),
            ),
        )
        return _tried(new, new.ahead, beyond=False)

    def fail() -> _Walk:
        # Perhaps a corner was passed: first try the direction beyond it, then a shorter step.
        look = eqx.tree_at(
            lambda s: (s.looks, s.point, s.direction),
            s,
            (jnp.asarray(True), s.here + s.length * s.ahead * s.scale, s.ahead),
        )
        shorter = _tried(eqx.tree_at(lambda s: s.length, s, 0.3 * s.length), s.ahead, beyond=False)
        return jax.tree.map(lambda a, b: jnp.where(s.beyond | (s.length > CORNER), a, b), shorter, look)

    def go_on() -> _Walk:
        return eqx.tree_at(lambda s: (s.point, s.corrections), s, (point, s.corrections + 1))

    case = jnp.where(s.looks, 0, jnp.where(arrived, 1, jnp.where(failed, 2, 3)))
    return lax.switch(case, (look_around, arrive, fail, go_on))


def _tried(s: _Walk, direction: Float[Array, " place"], beyond: bool) -> _Walk:
    """A new step. One that would lead past the end of the path ends there, and corrections keep to that hardness."""
    left = 1 - s.here[-1]
    last = s.length * direction[-1] >= left
    length = jnp.where(last, left / jnp.where(last, direction[-1], 1.0), s.length)
    aim = s.here + length * direction * s.scale
    across = jnp.where(last, jnp.zeros_like(direction).at[-1].set(1.0), direction)
    aim = jnp.append(aim[:-1], jnp.where(last, 1.0, aim[-1]))
    new = jnp.asarray(False), jnp.asarray(beyond), across, aim, aim, jnp.int32(0)
    return eqx.tree_at(lambda s: (s.looks, s.beyond, s.direction, s.aim, s.point, s.corrections), s, new)


def _steps(friction: Friction, path: _Softer, s: _Walk) -> tuple[Float[Array, " place"], Float[Array, " place"]]:
    """The Newton step from a point across to the path, and the direction of the path there, both in units of the scale."""
    newton = Newton.at(friction, path.at(s.point[-1]), s.point[:-1])
    across = jnp.sum(s.direction * (s.point - s.aim) / s.scale)
    bordered = jnp.concatenate(
        [
            jnp.concatenate([dense_matrix(newton.problem, newton.gain), path.by_hardness(newton)[:, None]], axis=1)
            * s.scale,
            s.direction[None],
        ]
    )
    right = jnp.stack([-jnp.append(newton.residual, across), jnp.zeros_like(s.scale).at[-1].set(1.0)], axis=1)
    LU, pivots, order = lax.linalg.lu(bordered)
    lower = lax.linalg.triangular_solve(LU, right[order], left_side=True, lower=True, unit_diagonal=True)
    found = lax.linalg.triangular_solve(LU, lower, left_side=True, lower=False)
    exchanged = jnp.sum(pivots != jnp.arange(len(pivots), dtype=pivots.dtype)) % 2
    sign = jnp.prod(jnp.sign(jnp.diagonal(LU))) * jnp.where(exchanged == 1, -1.0, 1.0)
    return found[:, 0], sign * found[:, 1] / jnp.linalg.norm(found[:, 1])


def _scale(point: Float[Array, " place"]) -> Float[Array, " place"]:
    size = jnp.maximum(jnp.max(jnp.abs(point[:-1])), jnp.finfo(point.dtype).tiny ** 0.5)
    return jnp.full_like(point, size).at[-1].set(1.0)
