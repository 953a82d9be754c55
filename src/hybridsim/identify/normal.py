"""Normal equations of many windows that share parameters z and each have a few numbers s_w of their own.

They have the form of an arrow: A for z, a block C_w for every s_w, and B_w between them. Where windows are joined
(multiple shooting) there are also blocks E between neighbours.
"""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float


@dataclass(frozen=True)
class Normal:
    """J^T J and J^T r by blocks, at one point."""

    cost: float
    A: Float[np.ndarray, "size size"]
    g: Float[np.ndarray, " size"]
    B: Float[np.ndarray, "windows size own"]
    C: Float[np.ndarray, "windows own own"]
    h: Float[np.ndarray, "windows own"]
    E: dict[tuple[int, int], Float[np.ndarray, "own own"]] = field(default_factory=dict)
    """By the numbers of two windows."""

    @property
    def finite(self) -> bool:
        return bool(
            np.isfinite(self.cost) and all(np.all(np.isfinite(x)) for x in (self.A, self.g, self.B, self.C, self.h))
        )

    def step(self, damping: float, held: Bool[np.ndarray, " size"]) -> tuple[np.ndarray, np.ndarray, float]:
        """Of the parameters that are not held, and of every window's own numbers; and the fall of the cost that it promises.

        Damped by Marquardt's diagonal.
        """
        of_z, of_s = damping * _diagonal(self.A[None])[0], damping * _diagonal(self.C)
        C = self.C + of_s[:, :, None] * np.eye(self.C.shape[-1])
        eliminated = _Eliminated(self.A + np.diag(of_z), self.g, self.B, C, self.h, self.E)
        free, dz = ~held, np.zeros(len(self.g))
        if np.any(free):
            dz[free] = -np.linalg.lstsq(eliminated.A[np.ix_(free, free)], eliminated.g[free], rcond=1e-15)[0]
        ds = eliminated.own(dz)
        promised = 0.5 * (dz[free] @ (of_z * dz - self.g)[free] + np.sum(ds * (of_s * ds - self.h)))
        return dz, ds, float(promised)

    def of_parameters(self) -> tuple[Float[np.ndarray, "size size"], Float[np.ndarray, " size"]]:
        """Information about z and slope of the cost, wherever every s_w is best for it (Schur complement)."""
        tiny = 1e-13 * _diagonal(self.C)[:, :, None] * np.eye(self.C.shape[-1])
        eliminated = _Eliminated(self.A, self.g, self.B, self.C + tiny, self.h, self.E)
        return eliminated.A, eliminated.g


class _Eliminated:
    """With the windows' own numbers eliminated."""

    def __init__(self, A, g, B, C, h, E):
        self._shape = h.shape
        if not h.size:
            self.A, self.g, self._inner, self._alone = A, g, np.zeros((0, len(g))), np.zeros(0)
            return
        right = np.concatenate([B.transpose(0, 2, 1), h[..., None]], axis=2)
        if E:
            joined = _joined(C, E)
            solved = np.linalg.solve(joined, right.reshape(-1, len(g) + 1)).reshape(right.shape)
        else:
            solved = np.linalg.solve(C, right)
        inner, self._alone = solved[..., :-1], solved[..., -1].ravel()
        across = B.transpose(1, 0, 2).reshape(len(g), -1)
        self._inner = inner.reshape(-1, len(g))
        self.A = A - across @ self._inner
        self.g = g - across @ self._alone

    def own(self, dz: np.ndarray) -> np.ndarray:
        return (-self._alone - self._inner @ dz).reshape(self._shape)


def _joined(C: np.ndarray, E: dict[tuple[int, int], np.ndarray]) -> np.ndarray:
    """All windows' own numbers in one matrix."""
    count, m, _ = C.shape
    whole = np.zeros((count, m, count, m))
    whole[np.arange(count), :, np.arange(count), :] = C
    for (i, j), block in E.items():
        whole[i, :, j, :] += block
        whole[j, :, i, :] += block.T
    return whole.reshape(count * m, count * m)


def _diagonal(matrices: np.ndarray) -> np.ndarray:
    """By which each number is damped: Marquardt's diagonal, but not below a share of its largest entry.

    Search coordinates are scaled such that a step of 1 is large for any of them; without the floor those that the data
    hardly see would run away.
    """
    found = np.einsum("wii->wi", matrices)
    return np.maximum(found, _FLOOR * found.max(axis=1, keepdims=True, initial=1e-300))


_FLOOR = 1e-3
