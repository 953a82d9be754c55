"""From a model at one time to its contact scene: points, then limited freedoms, then joint friction."""

import functools

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ...dynamics import Actions, Mechanism, expand_v
from ...dynamics.kinematics import joint_motion
from ...dynamics.traverse import sum_outward
from ...model import Model
from ...model.names import Marks
from ...spatial import Array, Scalar, pick
from ..interface import Moment, Points
from ..points import contact_points, marked_points, point_table
from ..rows import actions, frames, limit_gaps, point_velocities, relative_velocities
from ..sharing import point_softness
from .near import Near, near_rows, shape_radii
from .problem import BoundedRows
from .rows import any_bounce
from .scene import Goals, PairNumbers, PointNumbers, Scene
from .targets import Closing, Targets, bounces, of_stopping


def rubbing_freedoms(model: Model) -> tuple[int, ...]:
    """Freedoms whose friction may hold them: among those of all joints, those that nothing prescribes."""
    own, yields = model.topology.own_v, model.topology.yields
    return tuple(int(i) for i in (own if yields is None else own[yields]))


def assemble_scene(
    now: Moment, seen: tuple[Float[Array, " nv"], ...], goals: Goals, dt: Scalar, joint_friction: bool, named: Marks
) -> tuple[Scene, Near, Float[Array, " nodes"], Bool[Array, ""]]:
    """Detect contact, and see how everything moves at the velocities `seen`; which rows may act, the radii of what the nodes
    carry, and whether anything bounces."""
    model, mechanism, table = now.model, now.mechanism, point_table(now)
    found = contact_points(now)
    points = marked_points(found, named)
    named.offer("contact.depth", lambda: -points.distance)
    rate = _marked_rate(now, points, named)
    contacts = model.contacts

    def of_pair(name: str) -> Array:
        return named(f"contact.{name}", pick(getattr(contacts, name), table.pairs))

    pair = PairNumbers(
        of_pair("friction"),
        of_pair("restitution"),
        of_pair("position_gain"),
        of_pair("velocity_gain"),
        point_softness(now),
    )
    velocities = [expand_v(mechanism, v) for v in seen]
    moving = [now.vel.v, *(_node_velocities(mechanism, now.conf.S, v) for v in velocities)]
    gap, away = limit_gaps(model, now.q)
    rubbing = rubbing_freedoms(model) if joint_friction else ()
    limits = [_limits(now, gap, away, v) for v in velocities]
    bounded = [_bounded(model, limits[i], targets, velocities[i], rubbing, dt) for i, targets in goals]
    scene = Scene(
        mechanism,
        now.conf,
        PointNumbers(points, pair, rate),
        jnp.stack(moving, axis=1),
        BoundedRows(*(jnp.stack(x) for x in zip(*bounded, strict=True))),
        away,
        dt,
        table,
        tuple(model.limits.freedoms),
        rubbing,
    )
    radii = shape_radii(model.geometry, mechanism)
    if points.position is not found.position:  # a network may have put them anywhere
        radii = jnp.full_like(radii, jnp.inf)
    held = jnp.ones(len(rubbing), dtype=bool)
    closing = functools.reduce(jnp.logical_or, (closes.near(dt) for closes in limits))
    near = near_rows(scene, radii, jnp.concatenate([closing, held]))
    bounce = any_bounce(scene, near.listed) | jnp.any(bounces(limits[0], dt) > 0)
    return scene, near, radii, bounce


def sideways(scene: Scene, impulse: Float[Array, "points 3"]) -> Float[Array, "points 3"]:
    """The tangential part of impulses, with the world's axes."""
    frame = frames(scene.numbers.points.normal)
    return jnp.einsum("nj,nji->ni", impulse[:, 1:], frame[:, 1:])


def approach(now: Moment, scene: Scene, change: Float[Array, " nv"]) -> Float[Array, " points"]:
    """How fast each point that touches still approaches, given what contact changed: that it yields, and what is
    left where no impulses keep all shapes apart."""
    points, pair = scene.numbers.points, scene.numbers.pair
    free = _opening(scene, 0)
    changed = _node_velocities(scene.mechanism, scene.conf.S, expand_v(scene.mechanism, change))
    opening = jnp.sum(point_velocities(now, points, changed) * points.normal, axis=-1)
    closing = Closing(points.distance, free, free, pair.restitution, pair.position_gain, pair.velocity_gain)
    return jnp.maximum(of_stopping(closing, scene.dt)[0] - free - opening, 0.0)


def all_actions(now: Moment, scene: Scene) -> Actions:
    """What unit impulses of all rows do, far ones included."""
    points = scene.numbers.points
    return actions(now, points, frames(points.normal), scene.freedoms, scene.signs())


def _opening(scene: Scene, seen: int) -> Float[Array, " points"]:
    """How fast gaps open at a velocity that contact sees."""
    points = scene.numbers.points
    rates = relative_velocities(scene.table, scene.conf, points, scene.motion[:, 1 + seen])
    return jnp.sum(points.normal * rates, axis=-1)


def _marked_rate(now: Moment, points: Points, named: Marks) -> Float[Array, " points"] | None:
    """How fast gaps open at the start, where the mark changes it; else nobody computes it for all points."""
    before = point_velocities(now, points, now.vel.v)
    rate = jnp.sum(points.normal * before, axis=-1)
    named.offer("contact.sliding_velocity", lambda: before - rate[:, None] * points.normal)
    marked = named("contact.normal_velocity", rate)
    return None if marked is rate else marked


def _node_velocities(mechanism: Mechanism, S: Float[Array, "dofs 6"], v: Float[Array, " all_v"]) -> Array:
    return sum_outward(mechanism.layout.nodes, joint_motion(mechanism, S, v))


def _limits(now: Moment, gap: Array, away: Array, velocity: Float[Array, " all_v"]) -> Closing:
    numbers = now.model.limits
    limited = np.array(numbers.freedoms, dtype=int)
    return Closing(
        gap,
        away * pick(expand_v(now.mechanism, now.qd), limited),
        away * pick(velocity, limited),
        *(jnp.asarray(x) for x in (numbers.restitution, numbers.position_gain, numbers.velocity_gain)),
    )


def _bounded(model: Model, limits: Closing, targets: Targets, velocity: Array, rubbing: tuple[int, ...], dt: Scalar):
    """b, R, and the least and largest impulse of limits and joint friction."""
    held = np.array(rubbing, dtype=int)
    most = dt * pick(model.joints.friction, held)
    nothing = jnp.zeros_like(limits.gap)
    return (
        jnp.concatenate([targets(limits, dt)[0] - limits.free, -pick(velocity, held)]),
        jnp.concatenate([jnp.asarray(model.limits.softness), jnp.zeros_like(most)]),
        jnp.concatenate([nothing, -most]),
        jnp.concatenate([jnp.full_like(nothing, jnp.inf), most]),
    )
