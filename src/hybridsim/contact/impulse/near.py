"""Which rows may act in a step: those whose gap the motion of their bodies can close. All others cost this test and no more.

The test asks how fast any point of a body's shapes can move. Whether the others may be left out after all is looked up once
impulses are known, by the same bound; only where it does not hold is each of them looked at.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float

from ...dynamics import Configuration, Mechanism
from ...model.geometry import Geometry
from ...spatial import Array, Scalar, cross, for_each, row, scratch, with_row
from .scene import Scene
from .slots import Slots
from .targets import rounding


class Near(eqx.Module):
    """Of each row, whether it may act, and the list of those that do."""

    points: Bool[Array, " points"]
    others: Bool[Array, " rows"]
    listed: Slots
    """Of the points."""
    others_listed: Slots
    least: Float[Array, ""]
    """Gap of the nearest point that is not listed [m]."""

    @classmethod
    def of(cls, gaps: Float[Array, " points"], points: Bool[Array, " points"], others: Bool[Array, " rows"]) -> "Near":
        return cls(points, others, Slots.of(points), Slots.of(others), _least(gaps, points))

    def any(self) -> Bool[Array, ""]:
        return jnp.asarray(self.listed.length > 0) | (self.others_listed.length > 0)


class Speeds(eqx.Module):
    """Bounds of how fast the points of each node's shapes move."""

    moving: Float[Array, " nodes"]
    """On the shapes themselves [m/s]."""
    turning: Float[Array, " nodes"]
    """What each metre off them adds [1/s]."""

    @classmethod
    def of(cls, conf: Configuration, radii: Float[Array, " nodes"], motion: Float[Array, "nodes 6"]) -> "Speeds":
        """`radii`: of balls about the nodes' origins that hold their shapes."""
        turning = jnp.sqrt(jnp.sum(motion[:, :3] ** 2, axis=-1))
        origin = motion[:, 3:] + cross(motion[:, :3], conf.X_RN.position)
        return cls(jnp.sqrt(jnp.sum(origin**2, axis=-1)) + jnp.where(turning > 0, turning * radii, 0.0), turning)

    def __or__(self, other: "Speeds") -> "Speeds":
        return jax.tree.map(jnp.maximum, self, other)

    def closable(self, dt: Scalar) -> Float[Array, ""]:
        """No gap that is larger than this closes within a step, whatever the two bodies [m]."""
        most, turning = jnp.max(self.moving, initial=0.0), jnp.max(self.turning, initial=0.0)
        # A point of contact between the bodies is at most a gap away from each of them.
        left = 1 - 2 * dt * turning
        return jnp.where(left > 0, 2 * dt * most / jnp.where(left > 0, left, 1.0), jnp.inf)


def shape_radii(geometry: Geometry, mechanism: Mechanism) -> Float[Array, " nodes"]:
    """Of each node, a ball about its origin that holds its shapes; endless for planes [m]."""
    owners = np.array([mechanism.link_nodes[link] if link >= 0 else -1 for link in geometry.links], dtype=int)
    radii = jnp.zeros(len(mechanism.layout.last_dofs), dtype=jnp.asarray(geometry.size).dtype)
    carried = np.flatnonzero(owners >= 0)
    if not len(carried):
        return radii
    links = jax.tree.map(lambda x: jnp.asarray(x)[np.array(geometry.links)[carried]], mechanism.link_pose)
    offsets = jnp.sqrt(jnp.sum(links.apply(jnp.asarray(geometry.position)[carried]) ** 2, axis=-1))
    own = jnp.stack([_radius(geometry, int(i)) for i in carried])
    return lax.stop_gradient(radii.at[owners[carried]].max(offsets + own))


def _radius(geometry: Geometry, i: int) -> Float[Array, ""]:
    """Of a ball about the origin of a shape's frame that holds the shape."""
    kind, size, points = geometry.shapes[i], jnp.asarray(geometry.size)[i], jnp.asarray(geometry.points[i])
    if kind == "plane":
        return jnp.full((), jnp.inf, dtype=size.dtype)
    corners = jnp.sqrt(jnp.max(jnp.sum(points**2, axis=-1), initial=0.0))
    # Whatever the sizes mean: none of the shapes reaches beyond all of them one after the other.
    return corners + jnp.sum(size)


def near_rows(scene: Scene, radii: Float[Array, " nodes"], others: Bool[Array, " rows"]) -> Near:
    """Points whose gaps may close at one of the velocities that contact sees."""
    gaps, dt = scene.numbers.points.distance, scene.dt
    if len(gaps) == 0:
        return Near.of(gaps, jnp.zeros(0, dtype=bool), others)
    speeds = Speeds.of(scene.conf, radii, scene.motion[:, 1])
    for seen in range(2, scene.motion.shape[1]):
        speeds = speeds | Speeds.of(scene.conf, radii, scene.motion[:, seen])
    tables = [nodes for nodes in (scene.ends.of_a, scene.ends.of_b) if np.any(nodes >= 0)]
    # A body that is fixed has the speed that is appended.
    moving, turning = jnp.append(speeds.moving, 0.0), jnp.append(speeds.turning, 0.0)
    places = [np.where(nodes >= 0, nodes, len(speeds.moving)).astype(np.int32) for nodes in tables]

    def look(state, entry):
        listed, count, least = state
        place, gap, *nodes = entry
        most = sum((row(moving, node) for node in nodes), jnp.zeros((), dtype=gap.dtype))
        if len(nodes) > 1:
            most = most + jnp.maximum(gap, 0.0) * sum(row(turning, node) for node in nodes)
        flag = gap <= dt * most + rounding(gap.dtype)
        # What is written for a point that is not listed is overwritten by the next.
        listed = with_row(listed, count, place)
        return (listed, count + flag.astype(jnp.int32), jnp.where(flag | (gap >= least), least, gap)), flag

    everything = jnp.arange(len(gaps), dtype=jnp.int32)
    start = scratch((len(gaps) + 1,), jnp.int32), jnp.int32(0), jnp.full((), jnp.inf, dtype=gaps.dtype)
    (listed, count, least), flags = lax.scan(look, start, (everything, gaps, *places))
    return Near(flags, others, Slots(listed[:-1], count), Slots.of(others), least)


def _least(gaps: Float[Array, " points"], listed: Bool[Array, " points"]) -> Float[Array, ""]:
    def look(least, entry):
        gap, flag = entry
        return jnp.where(flag | (gap >= least), least, gap), None

    return lax.scan(look, jnp.full((), jnp.inf, dtype=gaps.dtype), (gaps, listed))[0]


def with_points(scene: Scene, near: Near, more: Bool[Array, " points"], others: Bool[Array, " rows"]) -> Near:
    """Further rows taken in."""
    points = for_each(lambda x: x[0] | x[1], len(near.points), (near.points, more))
    return Near.of(scene.numbers.points.distance, points, near.others | others)
