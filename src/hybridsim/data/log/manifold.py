"""Velocities of whole configurations from their positions: of angles and lengths, of rotations, of poses."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial.transform import Rotation

from .polynomial import local_polynomial
from .rotations import between, body_linear, rotation_of, rotation_vectors
from .trajectory import Trajectory


def on_the_manifold(
    t: Trajectory, window: float, order: int
) -> tuple[Float[np.ndarray, "n nq"], Float[np.ndarray, "n nv"], Bool[np.ndarray, "n nv"], Bool[np.ndarray, "n nq"]]:
    """Positions, velocities, and where either is known. Those of free joints are angular, then linear, in the body."""
    mask, places = np.asarray(t.q_mask), [i for start in t.quaternions for i in range(start, start + 4)]
    flat = np.setdiff1d(np.arange(t.q.shape[1]), places)
    q, near = t.q.copy(), mask.copy()
    slope = np.zeros(t.q.shape)
    q[:, flat], slope[:, flat], near[:, flat] = local_polynomial(
        t.time, t.q[:, flat], mask[:, flat], window, order, t.max_gap
    )
    turning: dict[int, np.ndarray] = {}
    for start in t.quaternions:
        own = slice(start, start + 4)
        whole = np.all(mask[:, own], axis=1, keepdims=True)[:, 0]
        quaternion = between(t.time, t.q[:, own], whole)
        none = np.zeros((len(t), 3))
        turn, turning[start], enough = local_polynomial(
            t.time, none, np.repeat(whole[:, None], 3, axis=1), window, order, t.max_gap, _turned(quaternion)
        )
        q[:, own] = (rotation_of(quaternion) * Rotation.from_rotvec(turn)).as_quat(scalar_first=True)
        near[:, own] = enough[:, :1]
    qd, known, i = [], [], 0
    while i < t.q.shape[1]:
        if i in t.poses:
            qd += [turning[i + 3], body_linear(q[:, i + 3 : i + 7], slope[:, i : i + 3])]
            known += [near[:, i + 3 : i + 6], near[:, i : i + 3] & near[:, i + 3 : i + 4]]
            i += 7
        elif i in t.quaternions:
            qd, known, i = [*qd, turning[i]], [*known, near[:, i : i + 3]], i + 4
        else:
            qd, known, i = [*qd, slope[:, i : i + 1]], [*known, near[:, i : i + 1]], i + 1
    return q, np.concatenate(qd, axis=1), np.concatenate(known, axis=1), near


def _turned(quaternion: Float[np.ndarray, "n 4"]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Rotation vectors from samples to their neighbours, in the samples' own axes."""
    return lambda i, near: rotation_vectors(quaternion[i][:, None], quaternion[near])
