"""How long a motion can be foretold: windows of a chaotic one have to be short, or a search in them is lost."""

from collections.abc import Callable, Sequence

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
        lambda state: forward_dynamics(model, state[: model.nv], state[model.nv :], jnp.zeros(model.nv)),
        key=("accelerations without forces", model),
    )
    found, dt = [], max(_FINEST, float(np.median([log.dt for log in logs])))
    steps = round(seconds / dt)
    for log in logs:
        regular = with_velocities(log.resampled(dt))
        states = np.nan_to_num(np.concatenate([regular.q, np.asarray(regular.qd)], axis=1))
        if len(states) > steps:
            starts = np.linspace(0, len(states) - steps - 1, max(1, _STARTS // len(logs))).astype(int)
            motions = states[np.unique(starts)[:, None] + np.arange(steps)]
            A = _slopes(accelerations, motions)
            # Prescribed joints start, and go on, without errors.
            held = np.concatenate([model.topology.prescribed_v, model.nv + model.topology.prescribed_v])
            A[..., held, :], A[..., held] = 0.0, 0.0
            found.append(_growth(A, dt))
    if not found:
        return None
    growth = np.median(np.concatenate(found), axis=0)
    return np.stack([dt * np.arange(1, steps + 1), growth], axis=1) if np.isfinite(growth).all() else None


def _slopes(
    accelerations: Callable, motions: Float[np.ndarray, "motions steps states"]
) -> Float[np.ndarray, "motions steps states states"]:
    """A at each state, by differences: to compile the derivative of a large mechanism takes longer than all else here."""
    states = motions.reshape(-1, motions.shape[-1])
    n = states.shape[1] // 2
    A = np.zeros((*states.shape, 2 * n))
    for i, step in enumerate(_STEP * np.eye(2 * n)):
        A[:, n:, i] = np.asarray(accelerations(states + step)) - np.asarray(accelerations(states - step))
    A[:, n:] /= 2 * _STEP
    # Velocities are counted by the usual rate of the motion, for which a swing is as large in both.
    rate = max(1.0, float(np.sqrt(np.median(np.linalg.norm(A[:, n:, :n], 2, axis=(1, 2))))))
    A[:, n:, :n] /= rate
    A[:, :n, n:] = rate * np.eye(n)
    return A.reshape(*motions.shape, 2 * n)


def _growth(A: Float[np.ndarray, "motions steps states states"], dt: float) -> Float[np.ndarray, "motions steps"]:
    """The largest growth of any error of the start until each step."""
    grown = np.zeros(A.shape[:2])
    d = np.broadcast_to(np.eye(A.shape[-1]), (len(A), *A.shape[2:]))
    for k in range(A.shape[1]):
        a = dt * A[:, k]
        d = d + a @ (d + 0.5 * a @ d)
        grown[:, k] = np.linalg.norm(d, 2, axis=(1, 2))
    return grown
