"""A solution of F(w) = 0 by following a path that begins where everything is soft.

With rows ten million times softer than asked for, impulses hardly act on each other: the solution is unique, and next to
w = 0. As they harden, solutions form a path. It may turn back, where Coulomb's friction has several solutions or a sticking
contact has to become a sliding one, so it is followed by its length and not by the hardness (pseudo-arclength continuation;
Allgower and Georg, Numerical Continuation Methods, 1990). Where contacts open, close, stick or slip, the path has corners; it
goes on to the side for which the determinant of the bordered matrix keeps its sign.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float, Int

from ...spatial import Array, Scalar
from .interface import Friction
from .newton import Newton, residual
from .problem import Problem

DECADES = 8.0
"""Powers of ten by which rows are softer at the start."""
MOST_POINTS = 2000
"""At which a path is looked at. Random chains, towers and pairs of bodies of any masses need about 300 at most."""
CORRECTIONS = 6
"""Newton steps from a point beside the path onto it."""
ON_PATH = 1e-9
"""The last of these steps, beside the size of w."""
LONGEST = 0.5
"""Steps along the path: all of w, or of the decades."""
SHORTEST = 1e-13


class _Walk(eqx.Module):
    """A walk along the path. Points are (w, hardness); directions have w in units of `scale`."""

    here: Float[Array, " nv+1"]
    """The last point on the path."""
    ahead: Float[Array, " nv+1"]
    """The direction of the path there."""
    scale: Float[Array, " nv+1"]
    length: Float[Array, ""]
    """Of the step that is tried."""
    looks: Bool[Array, ""]
    """Whether the next point is looked at only for its direction: that beyond a corner."""
    beyond: Bool[Array, ""]
    """Whether the direction of the step is that of a point further on."""
    direction: Float[Array, " nv+1"]
    """Of the step that is tried; steps onto the path are across it."""
    aim: Float[Array, " nv+1"]
    """Where the step leads to, beside the path."""
    point: Float[Array, " nv+1"]
    """On the way from there onto the path."""
    corrections: Int[Array, ""]
    points: Int[Array, ""]
    ended: Bool[Array, ""]


def follow(friction: Friction, problem: Problem) -> Float[Array, " nv"]:
    """w at the end of the path: a solution but for rounding, unless the path was too long."""
    count = problem.Y_c.shape[2]
    level = jnp.zeros(count + 1, dtype=problem.Y_c.dtype).at[-1].set(1.0)
    first = -residual(friction, softer(problem, jnp.zeros_like(level[0])), jnp.zeros_like(level[:-1]))
    start = jnp.append(first, 0.0)
    nowhere, no = jnp.int32(0), jnp.asarray(False)
    walk = _Walk(start, level, _scale(start), jnp.ones_like(level[0]), no, no, level, start, start, nowhere, nowhere, no)
    end = lax.while_loop(
        lambda s: ~s.ended & (s.points < MOST_POINTS) & (s.length > SHORTEST), lambda s: _next(friction, problem, s), walk
    )
    return end.here[:-1]


def softer(problem: Problem, hardness: Scalar) -> Problem:
    """The problem at a place of the path: 1 is the problem itself."""
    factor = 10.0 ** (DECADES * (1 - hardness))
    return eqx.tree_at(
        lambda p: (p.contacts.R, p.bounded.R), problem, (factor * problem.contacts.R, factor * problem.bounded.R)
    )


def _next(friction: Friction, problem: Problem, s: _Walk) -> _Walk:
    """Look at one more point."""
    to_path, along = _steps(friction, problem, s)
    point = s.point + to_path * s.scale
    size = jnp.max(jnp.abs(to_path))
    far = ~(jnp.linalg.norm((point - s.aim) / s.scale) <= 0.9 * s.length)
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
        return jax.tree.map(lambda a, b: jnp.where(s.beyond, a, b), shorter, look)

    def go_on() -> _Walk:
        return eqx.tree_at(lambda s: (s.point, s.corrections), s, (point, s.corrections + 1))

    case = jnp.where(s.looks, 0, jnp.where(arrived, 1, jnp.where(failed, 2, 3)))
    return lax.switch(case, (look_around, arrive, fail, go_on))


def _tried(s: _Walk, direction: Float[Array, " nv+1"], beyond: bool) -> _Walk:
    """A new step. One that would lead past the end of the path ends there, and corrections keep to that hardness."""
    left = 1 - s.here[-1]
    last = s.length * direction[-1] >= left
    length = jnp.where(last, left / jnp.where(last, direction[-1], 1.0), s.length)
    aim = s.here + length * direction * s.scale
    across = jnp.where(last, jnp.zeros_like(direction).at[-1].set(1.0), direction)
    aim = jnp.where(last, aim.at[-1].set(1.0), aim)
    new = jnp.asarray(False), jnp.asarray(beyond), across, aim, aim, jnp.int32(0)
    return eqx.tree_at(lambda s: (s.looks, s.beyond, s.direction, s.aim, s.point, s.corrections), s, new)


def _steps(friction: Friction, problem: Problem, s: _Walk) -> tuple[Float[Array, " nv+1"], Float[Array, " nv+1"]]:
    """The Newton step from a point across to the path, and the direction of the path there, both in units of the scale."""
    there = softer(problem, s.point[-1])
    newton = Newton.at(friction, there, s.point[:-1])
    # x = -u/R, so that a row that hardens by dR does what a velocity x dR does.
    rate = DECADES * np.log(10.0)
    harder_c = rate * there.contacts.R[:, None] * jnp.einsum("nij,nj->ni", newton.contacts.gain, newton.contacts.x)
    harder_b = rate * there.bounded.R * newton.bounded_gain * newton.bounded
    by_hardness = -problem.together(harder_c, harder_b)
    across = jnp.sum(s.direction * (s.point - s.aim) / s.scale)
    bordered = jnp.concatenate(
        [jnp.concatenate([newton.matrix, by_hardness[:, None]], axis=1) * s.scale, s.direction[None]]
    )
    right = jnp.stack([-jnp.append(newton.residual, across), jnp.zeros_like(s.scale).at[-1].set(1.0)], axis=1)
    LU, pivots, order = lax.linalg.lu(bordered)
    lower = lax.linalg.triangular_solve(LU, right[order], left_side=True, lower=True, unit_diagonal=True)
    found = lax.linalg.triangular_solve(LU, lower, left_side=True, lower=False)
    exchanged = jnp.sum(pivots != jnp.arange(len(pivots), dtype=pivots.dtype)) % 2
    sign = jnp.prod(jnp.sign(jnp.diagonal(LU))) * jnp.where(exchanged == 1, -1.0, 1.0)
    return found[:, 0], sign * found[:, 1] / jnp.linalg.norm(found[:, 1])


def _scale(point: Float[Array, " nv+1"]) -> Float[Array, " nv+1"]:
    size = jnp.maximum(jnp.max(jnp.abs(point[:-1])), jnp.finfo(point.dtype).tiny ** 0.5)
    return jnp.full_like(point, size).at[-1].set(1.0)
