"""From a model at one time to the rows of its contact problem: points, then limited freedoms, then joint friction."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ...dynamics import Actions, expand_v, mass_root, row_velocities
from ...dynamics.kinematics import joint_motion
from ...dynamics.traverse import sum_outward
from ...model import Model
from ...model.names import Marks
from ...spatial import Array, Scalar, pick
from ..interface import Moment
from ..points import Points, marked_points, point_table
from ..rows import actions, frames, limit_gaps, point_velocities
from ..sharing import point_softness
from .problem import BoundedRows, ContactRows, Rows
from .targets import Closing, Targets, bounces, of_stopping


class Assembly(eqx.Module):
    """All rows, before any response is computed."""

    now: Moment
    dt: Scalar
    velocity: Float[Array, " all_v"]
    """That which contact sees, of all joints."""
    points: Points
    frame: Float[Array, "points 3 3"]
    """Rows: normal and two tangents."""
    sliding: Float[Array, "points 2"]
    """Tangential velocity."""
    closing: Closing
    """Of the points."""
    friction: Float[Array, " points"]
    limits: Closing
    away: Float[Array, " limited"]
    """Sign of motion away from the nearer limit."""
    rubbing: tuple[int, ...] = eqx.field(static=True)
    """Freedoms with friction rows."""

    def near(self) -> Bool[Array, ""]:
        """Whether any row may have something to do."""
        some = jnp.any(self.closing.near(self.dt)) | jnp.any(self.limits.near(self.dt))
        return some | (len(self.rubbing) > 0)

    def bounces(self) -> Bool[Array, ""]:
        """Whether anything does."""
        return jnp.any(bounces(self.closing, self.dt) > 0) | jnp.any(bounces(self.limits, self.dt) > 0)

    def row_velocities(self) -> Float[Array, " rows"]:
        """Of all rows, as contact sees them."""
        points = jnp.concatenate([self.closing.free[:, None], self.sliding], axis=1)
        return jnp.concatenate(
            [points.ravel(), self.limits.free, pick(self.velocity, np.array(self.rubbing, dtype=int))]
        )

    def actions(self) -> Actions:
        """What unit impulses of all rows do."""
        freedoms = np.array([*self.now.model.limits.freedoms, *self.rubbing], dtype=int)
        signs = jnp.concatenate([self.away, jnp.ones(len(self.rubbing), dtype=self.away.dtype)])
        return actions(self.now, self.points, self.frame, freedoms, signs)

    def velocities(self, impulse: Float[Array, "points 3"]) -> Float[Array, " nv"]:
        """What impulses at the points do to velocities."""
        root = mass_root(self.now.mechanism, self.now.conf)
        return root.velocities(impulse.ravel() @ root.rows(self.actions())[: impulse.size])

    def sideways(self, impulse: Float[Array, "points 3"]) -> Float[Array, "points 3"]:
        """The tangential part of impulses, with the world's axes."""
        return jnp.einsum("nj,nji->ni", impulse[:, 1:], self.frame[:, 1:])

    def approach(self, change: Float[Array, " nv"]) -> Float[Array, " points"]:
        """How fast each point that touches still approaches, given what contact changed: that it yields, and what is
        left where no impulses keep all shapes apart."""
        closing = row_velocities(self.now.mechanism, self.now.conf, self.actions(), change)[
            : 3 * len(self.friction) : 3
        ]
        return jnp.maximum(of_stopping(self.closing, self.dt)[0] - self.closing.free - closing, 0.0)

    def at(self, seen: Float[Array, " nv"]) -> "Assembly":
        """The same at another velocity that contact sees."""
        now = self.now
        velocity, rates = _free_rates(now, self.points, self.frame, seen)
        away = self.away * pick(velocity, np.array(now.model.limits.freedoms, dtype=int))
        closing, limits = replace(self.closing, free=rates[:, 0]), replace(self.limits, free=away)
        return replace(self, velocity=velocity, sliding=rates[:, 1:], closing=closing, limits=limits)

    def rows(self, targets: Targets) -> Rows:
        """The velocities that all rows are to have."""
        model = self.now.model
        least, left = targets(self.closing, self.dt)
        wanted = jnp.concatenate([(least - self.closing.free)[:, None], (left - 1)[:, None] * self.sliding], axis=1)
        contacts = ContactRows(wanted, point_softness(self.now), self.friction)

        rubbing = np.array(self.rubbing, dtype=int)
        most = self.dt * pick(model.joints.friction, rubbing)
        bounded = BoundedRows(
            b=jnp.concatenate([targets(self.limits, self.dt)[0] - self.limits.free, -pick(self.velocity, rubbing)]),
            R=jnp.concatenate([jnp.asarray(model.limits.softness), jnp.zeros_like(most)]),
            low=jnp.concatenate([jnp.zeros_like(self.away), -most]),
            high=jnp.concatenate([jnp.full_like(self.away, jnp.inf), most]),
        )
        return Rows(contacts, bounded)


def rubbing_freedoms(model: Model) -> tuple[int, ...]:
    """Freedoms whose friction may hold them: among those of all joints, those that nothing prescribes."""
    own, yields = model.topology.own_v, model.topology.yields
    return tuple(int(i) for i in (own if yields is None else own[yields]))


def assemble_rows(now: Moment, seen: Float[Array, " nv"], dt: Scalar, joint_friction: bool, named: Marks) -> Assembly:
    """Detect contact, and see how fast every row closes at the velocity `seen`."""
    model, table = now.model, point_table(now)
    points = marked_points(now, named)
    named.offer("contact.depth", lambda: -points.distance)
    frame = frames(points.normal)
    velocity, free = _free_rates(now, points, frame, seen)
    before = point_velocities(now, points, now.vel.v)
    closing_before = jnp.sum(points.normal * before, axis=-1)
    named.offer("contact.sliding_velocity", lambda: before - closing_before[:, None] * points.normal)
    contacts = model.contacts

    def of_pair(name: str) -> Array:
        return named(f"contact.{name}", pick(getattr(contacts, name), table.pairs))

    closing = Closing(
        points.distance,
        named("contact.normal_velocity", closing_before),
        free[:, 0],
        of_pair("restitution"),
        of_pair("position_gain"),
        of_pair("velocity_gain"),
    )
    gap, away = limit_gaps(model, now.q)
    limited, numbers = np.array(model.limits.freedoms, dtype=int), model.limits
    limits = Closing(
        gap,
        away * pick(expand_v(now.mechanism, now.qd), limited),
        away * pick(velocity, limited),
        *(jnp.asarray(x) for x in (numbers.restitution, numbers.position_gain, numbers.velocity_gain)),
    )
    rubbing = rubbing_freedoms(model) if joint_friction else ()
    return Assembly(now, dt, velocity, points, frame, free[:, 1:], closing, of_pair("friction"), limits, away, rubbing)


def _free_rates(now: Moment, points: Points, frame, seen) -> tuple[Float[Array, " all_v"], Float[Array, "points 3"]]:
    """A velocity of all joints, and how points move by it along the axes of their frames."""
    velocity = expand_v(now.mechanism, seen)
    moving = sum_outward(now.mechanism.layout.nodes, joint_motion(now.mechanism, now.conf.S, velocity))
    return velocity, jnp.einsum("nij,nj->ni", frame, point_velocities(now, points, moving))
