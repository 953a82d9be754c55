"""Derivatives against differences, entry by entry, in blocks: positions or velocities by one group of numbers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .differences import ROUGH, Differences
from .parameters import Group

TOLERANCE = 1e-5
"""Of every smooth entry, relative."""
SMALL = 1e-3
"""An entry is measured by itself, but by no less than this part of the largest one of its block ..."""
TINY = 1e-5
"""... and than this part of the largest one of all."""
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
    """Entries on which differences do not agree: a kink is near by."""
    noisy: int
    """The same where rounding is as large as the differences."""
    returned: str
    """At kinks and jumps: what the derivative is."""
    nan: int


def compare(
    groups: tuple[Group, ...], nq: int, forward: np.ndarray, reverse: np.ndarray, found: Differences
) -> list[Block]:
    """All blocks of a map whose outputs are nq positions, then velocities."""
    scale, blocks, found = scales(groups, nq, found), [], whole_columns(found)
    for output, group, place in _places(groups, nq, len(forward)):
        part = Differences(*(getattr(found, name)[place] for name in found.__dataclass_fields__))
        blocks.append(_block(output, group, forward[place], reverse[place], part, scale[place]))
    return blocks


def whole_columns(found: Differences) -> Differences:
    """An input along which one output has a kink or a jump, or is near one, is left out for all outputs.

    Outputs without a kink of their own would be tested with slopes from both sides of it.
    """
    jump, kink, near = (np.broadcast_to(np.any(x, axis=0), x.shape) for x in (found.jump, found.kink, found.near))
    return replace(found, jump=jump, kink=kink & ~jump, near=near & ~kink & ~jump)


def scales(groups: tuple[Group, ...], nq: int, found: Differences) -> np.ndarray:
    """What the error of every entry is measured by."""
    size = np.abs(found.slope)
    scale = np.maximum(size, TINY * np.max(size))
    for _, _, place in _places(groups, nq, len(size)):
        scale[place] = np.maximum(scale[place], SMALL * np.max(size[place]))
    return scale


def _places(groups: tuple[Group, ...], nq: int, outputs: int) -> Iterator[tuple[str, str, tuple[slice, slice]]]:
    """Of each block that is not empty: output, group and where it lies."""
    ends = np.cumsum([group.count for group in groups])
    for output, rows in {"q": slice(0, nq), "qd": slice(nq, outputs)}.items():
        for group, end in zip(groups, ends, strict=True):
            if group.count:
                yield output, group.name, (rows, slice(int(end) - group.count, int(end)))


def _block(output: str, group: str, forward, reverse, found: Differences, scale: np.ndarray) -> Block:
    kink, jump = found.kink, found.jump
    unclear = ~(kink | jump) & (found.near | (found.doubt > ROUGH * scale))
    noisy = unclear & ~found.near & (found.noise > 0.3 * found.doubt)
    smooth = ~(kink | jump | unclear)
    resolved = found.doubt <= PRECISE * scale
    allowed = np.where(resolved, 0.0, 3 * found.doubt)

    def error(derivative) -> float:
        wrong = np.maximum(np.abs(derivative - found.slope) - allowed, 0.0) / scale
        return float(np.max(np.where(smooth, np.where(np.isfinite(wrong), wrong, np.inf), 0.0)))

    return Block(
        output,
        group,
        scale.size,
        error(forward),
        error(reverse),
        float(np.max(np.abs(forward - reverse) / scale)),
        int(np.sum(smooth & ~resolved)),
        int(np.sum(kink)),
        int(np.sum(jump)),
        int(np.sum(unclear & ~noisy)),
        int(np.sum(noisy)),
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
