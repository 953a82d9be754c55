"""How long a motion can be foretold: windows of a chaotic one have to be short, or a search in them is lost."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..data.log import Trajectory, with_velocities
from ..dynamics import forward_dynamics
from ..model import Model

_STARTS = 60
"""So many motions are looked at."""
_FINEST = 1e-3
"""No shorter steps than this [s]."""
_STEP = 1e-5
"""Of differences [rad or m, and per second]."""


def error_growth(model: Model, logs: Sequence[Trajectory], seconds: float) -> Float[np.ndarray, "steps 2"] | None:
    """Times [s], and how many times larger a small error of the state is by then, the median over the measured motion.

    Errors follow d' = A d with A the slopes of the model's accelerations at the measured states: the model need not be right,
    and is not simulated. None where positions are not simply joint angles and lengths.
    """
    if model.nq != model.nv or not model.nv:
        return None
    from ..native import batch

    accelerations = batch(
        lambda state: forward_dynamics(model, state[: model.nv], state[model.nv :], jnp.zeros(model.nv))
    )
    found, dt = [], max(_FINEST, float(np.median([log.dt for log in logs])))
    steps, n = round(seconds / dt), model.nv
    for log in logs:
        regular = with_velocities(log.resampled(dt))
        q, qd = np.nan_to_num(np.asarray(regular.q)), np.nan_to_num(np.asarray(regular.qd))
        last = len(q) - steps
        if last < 1:
            continue
        starts = np.unique(np.linspace(0, last - 1, max(1, _STARTS // len(logs))).astype(int))
        A = np.zeros((len(q), 2 * n, 2 * n))
        states = np.concatenate([q, qd], axis=1)
        # By differences: compiling the derivative of a large mechanism takes longer than all else here.
        for i, step in enumerate(_STEP * np.eye(2 * n)):
            slope = (np.asarray(accelerations(states + step)) - np.asarray(accelerations(states - step))) / (2 * _STEP)
            A[:, n:, i] = slope
        # Velocities are counted by the usual rate of the motion, for which a swing is as large in both.
        rate = max(1.0, float(np.sqrt(np.median(np.linalg.norm(A[:, n:, :n], 2, axis=(1, 2))))))
        A[:, :n, n:] = rate * np.eye(n)
        A[:, n:, :n] /= rate
        d, grown = np.repeat(np.eye(2 * n)[None], len(starts), axis=0), []
        for k in range(steps):
            a = dt * A[starts + k]
            d = d + a @ (d + 0.5 * a @ d)
            grown.append(np.linalg.norm(d, 2, axis=(1, 2)))
        found.append(np.array(grown))
    if not found:
        return None
    with np.errstate(invalid="ignore"):
        median = np.median(np.concatenate(found, axis=1), axis=1)
    return np.stack([dt * np.arange(1, steps + 1), median], axis=1)
