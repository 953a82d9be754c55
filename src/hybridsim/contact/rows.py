"""Directions of contact as rows: how fast each point closes, and what a unit impulse along it does."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..dynamics import Acting, Actions, Configuration
from ..model import Model
from ..spatial import Array, cross, pick
from .interface import Moment, Points
from .points import PointTable, point_table


def frame_at(normal: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """Rows: the normal and two tangents. Friction that is the same in all directions does not depend on their choice.

    For a vertical normal the tangents are -y and x.
    """
    x, y, z = normal
    steep, zero = jnp.abs(z) > np.sqrt(0.5), jnp.zeros_like(x)
    first = jnp.where(steep, jnp.stack([zero, -z, y]), jnp.stack([-y, x, zero]))
    first = first / jnp.sqrt(jnp.sum(first * first))
    return jnp.stack([normal, first, cross(normal, first)])


def frames(normal: Float[Array, "points 3"]) -> Float[Array, "points 3 3"]:
    """The frame of each point."""
    return jax.vmap(frame_at)(normal)


def point_velocities(now: Moment, points: Points, v: Float[Array, "nodes 6"]) -> Float[Array, "points 3"]:
    """Velocity of a relative to b at each point, for spatial velocities v of the nodes."""
    return relative_velocities(point_table(now), now.conf, points, v)


def relative_velocities(
    table: PointTable, conf: Configuration, points: Points, v: Float[Array, "nodes 6"]
) -> Float[Array, "points 3"]:
    """The same, for a table of the points."""

    def of(nodes: np.ndarray) -> Array:
        moving = nodes >= 0
        if not np.any(moving):
            return jnp.zeros_like(points.position)
        places = np.maximum(nodes, 0)
        motion = pick(v, places)
        velocity = motion[:, 3:] + cross(motion[:, :3], points.position - pick(conf.reference, places))
        return velocity if np.all(moving) else jnp.where(moving[:, None], velocity, 0.0)

    return of(table.nodes_a) - of(table.nodes_b)


def actions(
    now: Moment,
    points: Points,
    frame: Float[Array, "points 3 3"],
    freedoms: np.ndarray,
    signs: Float[Array, " freedoms"],
) -> Actions:
    """Three rows a point (normal, two tangents), on both bodies, then one row for each of the freedoms."""
    table, last_dofs = point_table(now), now.mechanism.layout.last_dofs
    rows, dofs, forces = [], [], []
    for nodes, sign in ((table.nodes_a, 1.0), (table.nodes_b, -1.0)):
        moving = np.flatnonzero(nodes >= 0)
        if len(moving):
            direction = sign * pick(frame, moving)
            lever = pick(points.position, moving) - pick(now.conf.reference, nodes[moving])
            forces.append(jnp.concatenate([cross(lever[:, None], direction), direction], axis=-1).reshape(-1, 6))
            rows += (3 * moving[:, None] + np.arange(3)).ravel().tolist()
            dofs += np.repeat(last_dofs[nodes[moving]], 3).tolist()
    on_points, count = len(rows), 3 * len(table.pairs)
    forces.append(jnp.zeros((len(freedoms), 6), dtype=points.position.dtype))
    own = range(count, count + len(freedoms))
    acting = Acting((*rows, *own), (*dofs, *map(int, freedoms)), count + len(freedoms), on_points)
    at_freedoms = jnp.concatenate([jnp.zeros(on_points, dtype=signs.dtype), signs])
    return Actions(jnp.concatenate(forces), at_freedoms, acting)


def limit_gaps(model: Model, q: Float[Array, " all_q"]) -> tuple[Float[Array, " limited"], Float[Array, " limited"]]:
    """Of each limited freedom: the distance to the nearer limit, and the sign of motion away from it."""
    topology, freedoms = model.topology, np.array(model.limits.freedoms, dtype=int)
    position = pick(q, _coordinates(topology, freedoms))
    below = position - pick(model.joints.lower, freedoms)
    above = pick(model.joints.upper, freedoms) - position
    return jnp.minimum(below, above), jnp.where(below <= above, 1.0, -1.0)


def _coordinates(topology, freedoms: np.ndarray) -> np.ndarray:
    """The coordinate of each freedom; the joints here have one coordinate a freedom."""
    place = {}
    for q, v in zip(topology.q_slices, topology.v_slices, strict=True):
        if q.stop - q.start == v.stop - v.start:
            place |= dict(zip(range(v.start, v.stop), range(q.start, q.stop), strict=True))
    return np.array([place[int(i)] for i in freedoms], dtype=int)
