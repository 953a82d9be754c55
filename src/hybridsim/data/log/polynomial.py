"""Polynomials fitted to the neighbours of every sample (Savitzky and Golay's filter, at the stamps as they are)."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

_CHUNK = 50_000
"""Samples fitted at once, to bound the memory."""


def local_polynomial(
    time: Float[np.ndarray, " n"],
    values: Float[np.ndarray, "n k"],
    mask: Bool[np.ndarray, "n k"],
    window: float,
    order: int,
    max_gap: float,
    offsets: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "n k"], Bool[np.ndarray, "n k"]]:
    """Value and slope at every sample of the polynomial fitted to its neighbours, and where there were enough.

    `offsets(samples, neighbours)`: how far neighbours are from each sample, (samples, neighbours, k); differences of values
    unless given.
    """
    n = len(time)
    step = np.median(np.diff(time)) if n > 1 else 1.0
    half = int(max(np.ceil(window / 2 / step), np.ceil((order + 1) / 2)))
    piece = np.concatenate([[0], np.cumsum(np.diff(time) > max_gap)])
    value, slope, known = values.copy(), np.zeros_like(values), np.zeros(values.shape, bool)
    for start in range(0, n, _CHUNK):
        i = np.arange(start, min(start + _CHUNK, n))
        near = i[:, None] + np.arange(-half, half + 1)
        inside = (near >= 0) & (near < n)
        near = np.clip(near, 0, n - 1)
        inside &= piece[near] == piece[i][:, None]
        # Times in half windows keep the normal equations well scaled.
        s = (time[near] - time[i][:, None]) / (half * step)
        powers = s[..., None] ** np.arange(order + 1)
        apart = values[near] - values[i][:, None] if offsets is None else offsets(i, near)
        for k in range(values.shape[1]):
            weight = (inside & mask[near, k]).astype(float)
            enough = weight.sum(1) >= order + 2
            normal = np.einsum("nm,nmi,nmj->nij", weight, powers, powers)
            normal[~enough] = np.eye(order + 1)
            right = np.einsum("nm,nmi,nm->ni", weight, powers, apart[..., k])
            fit = np.linalg.solve(normal + 1e-12 * np.eye(order + 1), right[..., None])[..., 0]
            value[i, k] = np.where(enough, values[i, k] + fit[:, 0], values[i, k])
            slope[i, k] = np.where(enough, fit[:, 1] / (half * step), 0.0)
            known[i, k] = enough
    return value, slope, known
