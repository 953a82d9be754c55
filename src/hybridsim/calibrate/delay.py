"""How late controls act, before anything is fitted: by the forces that the measured motion needed."""

from collections.abc import Sequence

import numpy as np

from .. import native
from ..data.log import Trajectory
from ..data.log.polynomial import local_polynomial
from ..dynamics import inverse_dynamics
from ..model import Model

_WINDOW = 0.06
"""Of the filter that gives velocities and accelerations without a delay of its own [s]."""


def guess_delay(model: Model, logs: Sequence[Trajectory], longest: float = 0.1) -> float | None:
    """The shift of the commands for which the forces that the model needed explain them best [s]; None if none stands out.

    Each command is explained by the model's inverse dynamics, by damping, by friction and by a constant, each with a
    factor of its own, so that masses that are wrong by one factor do no harm.
    """
    logs = [log for log in logs if log.controls is not None and log.control_kind == "force"]
    if not logs or model.nq != model.nv:
        return None
    step = float(np.median([log.dt for log in logs]))
    lags = step * np.arange(-2, int(longest / step) + 1)
    left = np.sum([_unexplained(model, log, lags) for log in logs], axis=0)
    best = int(np.argmin(left))
    if not 0 < best < len(lags) - 1 or left[best] > 0.8 * np.max(left):
        return None
    before, here, after = left[best - 1 : best + 2]
    return max(0.0, float(lags[best] + 0.5 * step * (before - after) / (before - 2 * here + after)))


def _unexplained(model: Model, log: Trajectory, lags: np.ndarray) -> np.ndarray:
    """For every lag the part of the commands' squares that is not explained, summed over joints."""
    window, gap = max(_WINDOW, 9 * log.dt), log.max_gap
    q, qd, known = local_polynomial(log.time, log.q, np.asarray(log.q_mask), window, 3, gap)
    qdd = local_polynomial(log.time, qd, known, window, 3, gap)[1]
    # The command through the same filter, so that both lose the same.
    command = local_polynomial(log.time, np.asarray(log.controls), np.asarray(log.controls_mask), window, 3, gap)[0]
    needed = np.asarray(native.batch(inverse_dynamics, in_axes=(None, 0, 0, 0))(model, q, qd, qdd))
    total = np.zeros(len(lags))
    for v in range(model.nv):
        if np.ptp(command[:, v]) == 0:
            continue
        A = np.stack([needed[:, v], qd[:, v], np.tanh(qd[:, v] / 0.05), np.ones(len(q))], axis=1)
        Q = np.linalg.qr(A)[0]
        for k, lag in enumerate(lags):
            shifted = np.interp(log.time - lag, log.time, command[:, v])
            rest = shifted - Q @ (Q.T @ shifted)
            total[k] += (rest @ rest) / (shifted @ shifted)
    return total
