"""Derivatives against differences, entry by entry, in blocks: positions or velocities by one group of numbers."""

from dataclasses import dataclass

import numpy as np

from .differences import Differences
from .parameters import Group

TOLERANCE = 1e-5
"""Of every smooth entry, relative."""
SMALL = 1e-3
"""An entry is measured by itself, but by no less than this part of the largest one of its block ..."""
TINY = 1e-5
"""... and than this part of the largest one of all."""
ROUGH = 1e-2
"""Differences whose doubt is larger than this part of an entry say nothing about it."""
PRECISE = 0.3 * TOLERANCE
"""Differences whose own doubt is larger do not resolve an entry, and are only asked not to contradict."""


@dataclass(frozen=True)
class Block:
    """The derivative of final positions or velocities by one group of numbers."""

    output: str
    group: str
    entries: int
    forward: float
    """Largest relative error of forward mode over smooth entries."""
    reverse: float
    modes: float
    """Largest relative difference of both modes, over all entries."""
    unresolved: int
    """Smooth entries that differences do not resolve."""
    kinks: int
    jumps: int
    rough: int
    """Entries on which differences agree at no step: the map changes its slope at every scale of steps."""
    returned: str
    """At kinks and jumps: what the derivative is."""
    nan: int


def compare(
    groups: tuple[Group, ...], nq: int, forward: np.ndarray, reverse: np.ndarray, found: Differences
) -> list[Block]:
    """All blocks of a map whose outputs are nq positions, then velocities."""
    outputs = {"q": slice(0, nq), "qd": slice(nq, len(forward))}
    ends = np.cumsum([group.count for group in groups])
    blocks = []
    largest = np.max(np.abs(found.slope))
    for output, rows in outputs.items():
        for group, end in zip(groups, ends, strict=True):
            place = (rows, slice(end - group.count, end))
            part = Differences(*(getattr(found, name)[place] for name in found.__dataclass_fields__))
            blocks.append(_block(output, group.name, forward[place], reverse[place], part, largest))
    return blocks


def _block(output: str, group: str, forward, reverse, found: Differences, largest: float) -> Block:
    size = np.abs(found.slope)
    scale = np.maximum(size, max(SMALL * size.max(), TINY * largest))
    apart = np.abs(found.ahead - found.behind) > TOLERANCE * scale
    kink, jump = found.kink & apart, found.jump
    rough = ~(kink | jump) & (found.doubt > ROUGH * scale)
    smooth = ~(kink | jump | rough)
    resolved = found.doubt <= PRECISE * scale
    allowed = np.where(resolved, 0.0, 3 * found.doubt)

    def error(derivative) -> float:
        wrong = np.maximum(np.abs(derivative - found.slope) - allowed, 0.0) / scale
        return float(np.max(np.where(smooth, np.where(np.isfinite(wrong), wrong, np.inf), 0.0)))

    return Block(
        output,
        group,
        size.size,
        error(forward),
        error(reverse),
        float(np.max(np.abs(forward - reverse) / scale)),
        int(np.sum(smooth & ~resolved)),
        int(np.sum(kink)),
        int(np.sum(jump)),
        int(np.sum(rough)),
        _returned(forward, found, kink, jump, scale),
        int(np.sum(~np.isfinite(forward)) + np.sum(~np.isfinite(reverse))),
    )


def _returned(derivative, found: Differences, kink, jump, scale) -> str:
    """At kinks: the slope of which side."""
    if not np.any(kink | jump):
        return ""
    close = 1e-3 * np.abs(found.ahead - found.behind) + TOLERANCE * scale
    sides = {
        "the slope ahead": np.abs(derivative - found.ahead) <= close,
        "the slope behind": np.abs(derivative - found.behind) <= close,
        "their mean": np.abs(derivative - (found.ahead + found.behind) / 2) <= close,
    }
    parts, left = [], kink.copy()
    for name, here in sides.items():
        if count := int(np.sum(left & here)):
            parts.append(f"{name} {count}")
        left &= ~here
    if np.any(left):
        parts.append(f"another finite number {int(np.sum(left))}")
    if np.any(jump):
        parts.append(f"the slope beside a jump {int(np.sum(jump))}")
    return ", ".join(parts)
