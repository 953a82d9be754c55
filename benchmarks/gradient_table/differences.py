"""Derivatives by differences over a ladder of steps, and what the map itself says about being smooth.

The step is chosen by agreement of differences with each other, never with a derivative that is under test.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LADDER = 1e-2 * 0.25 ** np.arange(16)
"""Steps, from 1e-2 to 1e-11."""
JUMP = 1e-8
"""Changes below this may be a solver's tolerance [m, rad, m/s, rad/s]."""


@dataclass(frozen=True)
class Differences:
    """Of every entry (outputs, inputs)."""

    slope: np.ndarray
    """Richardson's extrapolation of central differences where three in a row agree best."""
    doubt: np.ndarray
    """How far these three are apart."""
    ahead: np.ndarray
    behind: np.ndarray
    """One-sided differences at the finest step that rounding does not spoil."""
    kink: np.ndarray
    """Whether both sides converge, to different slopes."""
    jump: np.ndarray
    """Whether the map changes by a finite amount, however small the step."""


def differences(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> Differences:
    """Of f at x, one input at a time."""
    middle = f(x)
    columns = [_column(f, x, direction, middle) for direction in np.eye(len(x))]
    fields = zip(*columns, strict=True)
    return Differences(*(np.stack(field, axis=1) for field in fields))


def _column(f, x, direction, middle):
    above, below = (np.stack([f(x + sign * h * direction) for h in LADDER]) for sign in (1, -1))
    h = LADDER[:, None]
    rounding = _rounding(above, below, middle)
    ahead, behind = (above - middle) / h, (middle - below) / h
    slope, doubt = _central((above - below) / (2 * h), rounding)
    finest = _finest(ahead, behind, rounding)
    rows = np.arange(len(middle))
    kink, jump = _kink(ahead, behind, finest, rows), _jump(above, below, middle, rows)
    return slope, doubt, ahead[finest, rows], behind[finest, rows], kink & ~jump, jump


def _rounding(above, below, middle) -> np.ndarray:
    """Of each output: what is left of second differences at steps where even a kink would leave nothing."""
    second = np.abs(above + below - 2 * middle)[-3:]
    return 4 * np.max(second, axis=0) + 8 * np.finfo(float).eps * np.abs(middle) + 1e-18


def _central(central: np.ndarray, rounding: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope and doubt of every output, from central differences (steps, outputs).

    Differences may also agree at coarse steps, across a kink near by, on the slope of another piece of the map. So the
    finest steps that agree decide, and coarser ones, which are more precise, are used only where they tell the same.
    """
    better = (16 * central[1:] - central[:-1]) / 15
    apart = np.abs(np.diff(better, axis=0))
    noise = rounding / LADDER[2:-1, None]  # a generous bound, to choose by
    doubt = np.maximum(apart[1:], apart[:-1]) + noise
    slope = better[1:-1]
    size = np.maximum(np.abs(slope), 1e-3 * np.max(np.abs(slope), axis=1, keepdims=True))
    rows, levels = np.arange(central.shape[1]), np.arange(len(slope))[:, None]
    same = np.ones_like(doubt, dtype=bool)
    for agreement in (1e-3, 1e-4, 1e-5):
        good = same & (doubt <= agreement * size)
        finest = np.max(np.where(good, levels, -1), axis=0)
        close = np.abs(slope - slope[finest, rows]) <= 3 * (doubt + doubt[finest, rows])
        same &= close | (finest < 0)
    best = np.argmin(np.where(same, doubt, np.inf), axis=0)
    return slope[best, rows], (doubt - 0.9 * noise)[best, rows]


def _finest(ahead, behind, rounding) -> np.ndarray:
    """The finest step at which the difference of both sides is well above rounding; else the coarsest but one."""
    clear = np.abs(ahead - behind) > 25 * rounding / LADDER[:, None]
    levels = np.arange(len(LADDER))[:, None]
    return np.maximum(np.max(np.where(clear, levels, 0), axis=0), 2)


def _kink(ahead, behind, finest, rows) -> np.ndarray:
    """Of a smooth map the sides approach each other as fast as each one converges; at a kink they stay apart."""
    found = np.ones(len(rows), dtype=bool)
    for coarse in (finest - 2, finest - 1):
        apart = np.minimum(*(np.abs(ahead - behind)[level, rows] for level in (coarse, coarse + 1)))
        moved = sum(np.abs(side[coarse + 1, rows] - side[coarse, rows]) for side in (ahead, behind))
        found &= apart > 4 * moved
    return found


def _jump(above, below, middle, rows) -> np.ndarray:
    """A change that three ever finer steps, the last 64 times finer, leave as it is."""
    found = np.zeros(len(rows), dtype=bool)
    for side in (above, below):
        change = np.abs(side - middle)
        found |= (change[-1] > 0.5 * change[-4]) & (change[-1] > JUMP * np.maximum(np.abs(middle), 1.0))
    return found
