"""The point of a tetrahedron, or of what is left of one, that is closest to another point."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ...spatial import Array, Vector3, cross, pick

EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
FACES = np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])
# Squared sine of the angle below which three points count as lying on one line.
FLAT = 1e-20


def _members(rows: np.ndarray) -> np.ndarray:
    """Rows of 0 and 1 that say which of the four points belong to each of these edges or faces."""
    return np.sum(np.eye(4)[rows], axis=1)


def closest_on_simplex(
    points: Float[Array, "4 3"], used: Bool[Array, "4"], target: Vector3
) -> tuple[Float[Array, "4"], Float[Array, ""]]:
    """Weights of the points, 0 for those that are not needed, and the squared distance.

    Each point, edge, face, and the inside of the tetrahedron offers the foot of the target's perpendicular, if that lies
    inside of it. All of these are points of the simplex, so the nearest of them is the closest one.
    """
    p = points - target
    dtype = points.dtype
    all_used = used.astype(dtype)

    vertex_weights = np.eye(4).astype(dtype)

    start, end = pick(p, EDGES[:, 0]), pick(p, EDGES[:, 1])
    ahead = end - start
    squared = jnp.sum(ahead * ahead, axis=-1)
    long = squared > 0
    share = jnp.where(long, -jnp.sum(start * ahead, axis=-1) / jnp.where(long, squared, 1.0), -1.0)
    edge_good = (share > 0) & (share < 1)
    edge_weights = (1 - share)[:, None] * np.eye(4)[EDGES[:, 0]].astype(dtype) + share[:, None] * np.eye(4)[
        EDGES[:, 1]
    ].astype(dtype)

    one, two, three = (pick(p, FACES[:, i]) for i in range(3))
    first, second = two - one, three - one
    normal = cross(first, second)
    area = jnp.sum(normal * normal, axis=-1)
    wide = area > FLAT * jnp.sum(first * first, axis=-1) * jnp.sum(second * second, axis=-1)
    divisor = jnp.where(wide, area, 1.0)
    along_first = jnp.sum(cross(second, one) * normal, axis=-1) / divisor
    along_second = jnp.sum(cross(one, first) * normal, axis=-1) / divisor
    rest = 1 - along_first - along_second
    face_good = wide & (along_first > 0) & (along_second > 0) & (rest > 0)
    face_weights = (
        rest[:, None] * np.eye(4)[FACES[:, 0]].astype(dtype)
        + along_first[:, None] * np.eye(4)[FACES[:, 1]].astype(dtype)
        + along_second[:, None] * np.eye(4)[FACES[:, 2]].astype(dtype)
    )

    # Signed volumes with the target in the place of each point.
    volumes = jnp.stack(
        [
            _volume(p[1], p[3], p[2]),
            _volume(p[0], p[2], p[3]),
            _volume(p[0], p[3], p[1]),
            _volume(p[0], p[1], p[2]),
        ]
    )
    total = jnp.sum(volumes)
    inside = jnp.all(volumes > 0) | jnp.all(volumes < 0)
    whole = volumes / jnp.where(inside, total, 1.0)

    weights = jnp.concatenate([vertex_weights, edge_weights, face_weights, whole[None]])
    good = jnp.concatenate([np.full(4, True), edge_good, face_good, inside[None]])
    members = np.concatenate([np.eye(4), _members(EDGES), _members(FACES), np.ones((1, 4))])
    possible = good & (members.astype(dtype) @ (1 - all_used) == 0)
    feet = weights @ p
    distances = jnp.where(possible, jnp.sum(feet * feet, axis=-1), jnp.inf)
    chosen = jnp.argmin(distances)
    best = (jnp.arange(15) == chosen).astype(dtype)
    return best @ weights, jnp.min(distances)


def _volume(a: Vector3, b: Vector3, c: Vector3) -> Array:
    return jnp.sum(a * cross(b, c))
