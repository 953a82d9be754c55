"""Derivatives by differences over a ladder of steps, and what the map itself says about being smooth.

The step is chosen by agreement of differences with each other, never with a derivative that is under test.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

RATIO = 0.1
LADDER = 1e-3 * RATIO ** np.arange(9)
"""Steps, from 1e-3 to 1e-11."""
JUMP = 1e-8
"""Changes below this may be a solver's tolerance [m, rad, m/s, rad/s]."""
SLIGHT = 1e-6
"""Kinks by a smaller part of a slope do not show in the comparison with derivatives."""
ROUGH = 1e-2
"""Slopes that differ by more than this part of themselves are different ones."""


@dataclass(frozen=True)
class Differences:
    """Of every entry (outputs, inputs)."""

    slope: np.ndarray
    """Richardson's extrapolation of central differences where three in a row agree best."""
    doubt: np.ndarray
    """How far these three are apart."""
    noise: np.ndarray
    """What of the doubt rounding, or the tolerance of a solver, explains."""
    ahead: np.ndarray
    behind: np.ndarray
    """One-sided differences at the finest step that rounding does not spoil."""
    kink: np.ndarray
    """Whether both sides have different slopes at some finer step than that of the slope, or at the finest."""
    near: np.ndarray
    """Whether central differences at some finer step contradict the slope: a kink is closer than that step."""
    jump: np.ndarray
    """Whether the map changes by a finite amount, however small the step."""


def differences(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> Differences:
    """Of f at x. f is given many x at once, one in each row, and returns as many rows."""
    offsets = np.concatenate([LADDER, -LADDER])[:, None, None] * np.eye(len(x))
    values = f(np.concatenate([x[None], (x + offsets).reshape(-1, len(x))]))
    middle, moved = values[0], values[1:].reshape(2, len(LADDER), len(x), -1)
    fields = _differences(*np.swapaxes(moved, 2, 3), middle[:, None])
    return Differences(*fields)


def _differences(above, below, middle):
    """`above` and `below` are (steps, outputs, inputs)."""
    h = LADDER[:, None, None]
    noise = _rounding(above, below, middle) / h
    ahead, behind, central = (above - middle) / h, (middle - below) / h, (above - below) / (2 * h)
    slope, doubt, level = _central(central, noise)
    size = _size(slope)
    finer = np.arange(len(LADDER))[:, None, None] > level
    kink = np.any(finer & (np.abs(ahead - behind) > ROUGH * size + 4 * noise), axis=0)
    near = np.any(finer & (np.abs(central - slope) > ROUGH * size + 4 * noise), axis=0)
    clear = np.arange(len(LADDER))[:, None, None] * (noise <= 0.1 * ROUGH * size)
    finest = np.maximum(np.max(clear, axis=0), 2)
    jump = _jump(above, below, middle)
    own = _at(noise, level)
    # Also where differences agree down to the finest steps: on the mean of two slopes.
    kink |= np.abs(_at(ahead, finest) - _at(behind, finest)) > ROUGH * size + 4 * _at(noise, finest)
    kink |= _slight_kink(np.abs(ahead - behind), noise, level, size)
    return slope, doubt, own, _at(ahead, finest), _at(behind, finest), kink & ~jump, near & ~kink & ~jump, jump


def _slight_kink(apart, noise, level, size) -> np.ndarray:
    """Whether the slopes of both sides stay apart as steps become finer, by however little, at the step of the slope.

    Curvature sets them apart by as much as the step is long; what a step ten times finer leaves more than half of is a kink.
    """
    stays = (apart[1:] > 0.5 * apart[:-1]) & (apart[1:] > SLIGHT * size + 4 * noise[1:])
    around = np.abs(np.arange(1, len(apart))[:, None, None] - level) <= 1
    return np.any(stays & around, axis=0)


def _rounding(above, below, middle) -> np.ndarray:
    """Of each entry: what is left of second differences at steps where even a kink would leave next to nothing.

    A solver's noise is not that of every value, so the noise of an output is what most of the inputs stay below.
    """
    second = np.abs(above + below - 2 * middle)[-3:]
    usual = np.quantile(np.max(second[-2:], axis=0), 0.9, axis=1, keepdims=True)
    return 4 * np.maximum(np.min(second, axis=0), usual) + 8 * np.finfo(float).eps * np.abs(middle) + 1e-18


def _size(slope: np.ndarray) -> np.ndarray:
    """What a slope is measured by: itself, but no less than a thousandth of the largest of its input."""
    return np.maximum(np.abs(slope), 1e-3 * np.max(np.abs(slope), axis=-2, keepdims=True))


def _at(values: np.ndarray, level: np.ndarray) -> np.ndarray:
    return np.take_along_axis(values, level[None], axis=0)[0]


def _central(central: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slope, doubt and the step that it comes from, from central differences (steps, outputs, inputs).

    Differences may also agree at coarse steps, across a kink near by, on the slope of another piece of the map. So the
    finest steps that agree decide, and coarser ones, which are more precise, are used only where they tell the same.
    """
    better = (central[1:] - RATIO**2 * central[:-1]) / (1 - RATIO**2)
    apart = np.abs(np.diff(better, axis=0))
    doubt = np.maximum(apart[1:], apart[:-1]) + noise[2:-1]
    slope = better[1:-1]
    size, levels = _size(slope), np.arange(len(slope))[:, None, None]
    same = np.ones_like(doubt, dtype=bool)
    for agreement in (1e-3, 1e-4, 1e-5):
        good = same & (doubt <= agreement * size)
        finest = np.max(np.where(good, levels, -1), axis=0)
        close = np.abs(slope - _at(slope, finest)) <= 3 * (doubt + _at(doubt, finest))
        same &= close | (finest < 0)
    best = np.argmin(np.where(same, doubt, np.inf), axis=0)
    return _at(slope, best), _at(doubt, best), best + 2


def _jump(above, below, middle) -> np.ndarray:
    """A change that three ever finer steps, the last a thousand times finer, leave as it is."""
    found = np.zeros(above.shape[1:], dtype=bool)
    for side in (above, below):
        change = np.abs(side - middle)
        found |= (change[-1] > 0.5 * change[-4]) & (change[-1] > JUMP * np.maximum(np.abs(middle), 1.0))
    return found
