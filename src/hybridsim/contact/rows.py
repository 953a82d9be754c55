"""Directions of contact as rows: how fast each point closes, and what a unit impulse along it does."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..dynamics import Acting, Response, response
from ..model import Model
from ..spatial import Array, cross, pick
from .interface import Moment
from .points import Points, point_table


def frames(normal: Float[Array, "points 3"]) -> Float[Array, "points 3 3"]:
    """Rows: the normal and two tangents. Friction that is the same in all directions does not depend on their choice.

    For a vertical normal the tangents are -y and x.
    """
    x, y, z = normal[:, 0], normal[:, 1], normal[:, 2]
    steep = jnp.abs(z) > np.sqrt(0.5)
    zero = jnp.zeros_like(x)
    first = jnp.where(steep[:, None], jnp.stack([zero, -z, y], -1), jnp.stack([-y, x, zero], -1))
    first = first / jnp.sqrt(jnp.sum(first * first, axis=-1, keepdims=True))
    return jnp.stack([normal, first, cross(normal, first)], axis=1)


def point_velocities(now: Moment, points: Points, v: Float[Array, "nodes 6"]) -> Float[Array, "points 3"]:
    """Velocity of a relative to b at each point, for spatial velocities v of the nodes."""
    table = point_table(now)

    def of(nodes: np.ndarray) -> Array:
        moving = nodes >= 0
        if not np.any(moving):
            return jnp.zeros_like(points.position)
        places = np.maximum(nodes, 0)
        motion = pick(v, places)
        velocity = motion[:, 3:] + cross(motion[:, :3], points.position - pick(now.conf.reference, places))
        return velocity if np.all(moving) else jnp.where(moving[:, None], velocity, 0.0)

    return of(table.nodes_a) - of(table.nodes_b)


def rows_response(
    now: Moment, points: Points, frame: Float[Array, "points 3 3"], freedoms: np.ndarray
) -> Response:
    """Three rows a point (normal, two tangents), then one for each of the freedoms."""
    mechanism, table = now.mechanism, point_table(now)
    rows, dofs, forces = [], [], []
    for nodes, sign in ((table.nodes_a, 1.0), (table.nodes_b, -1.0)):
        moving = np.flatnonzero(nodes >= 0)
        if len(moving) == 0:
            continue
        places = nodes[moving]
        direction = sign * pick(frame, moving)
        lever = pick(points.position, moving) - pick(now.conf.reference, places)
        spatial = jnp.concatenate([cross(lever[:, None], direction), direction], axis=-1)
        forces.append(spatial.reshape(-1, 6))
        rows.append((3 * moving[:, None] + np.arange(3)).ravel())
        dofs.append(np.repeat(mechanism.layout.last_dofs[places], 3))
    count = 3 * len(table.pairs)
    on_points = sum(len(x) for x in rows)
    if len(freedoms):
        rows.append(count + np.arange(len(freedoms)))
        dofs.append(freedoms)
        forces.append(jnp.zeros((len(freedoms), 6), dtype=points.position.dtype))
    acting = Acting(np.concatenate(rows), np.concatenate(dofs), count + len(freedoms))
    unit = np.concatenate([np.zeros(on_points), np.ones(len(freedoms))]).astype(points.position.dtype)
    return response(mechanism, now.conf, acting, jnp.concatenate(forces), jnp.asarray(unit))


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
