"""Training, validation and test: whole runs, never windows of one run on both sides."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..folder import DataError
from .trajectory import Trajectory


@dataclass(frozen=True)
class Split:
    """Three sets that share no run."""

    train: list[Trajectory]
    validation: list[Trajectory]
    test: list[Trajectory]

    def __str__(self) -> str:
        lines = []
        for name in ("train", "validation", "test"):
            group = getattr(self, name)
            runs = list(dict.fromkeys(t.run for t in group))
            lines.append(
                f"{name}: {len(runs)} runs, {sum(t.duration for t in group):.4g} s ({', '.join(runs) or 'none'})"
            )
        return "\n".join(lines)


def split(
    trajectories: Sequence[Trajectory], fractions: tuple[float, float, float] = (0.7, 0.15, 0.15), seed: int = 0
) -> Split:
    """Divide by run: the windows of one recording stay together, since neighbours are nearly copies of each other.

    `fractions` of the number of runs; each set whose fraction is not zero gets one or more. The same seed and runs give
    the same split, in whatever order they come.
    """
    if min(fractions) < 0 or abs(sum(fractions) - 1) > 1e-9:
        raise DataError(f"fractions are {fractions}; they must not be negative and add up to 1")
    runs = sorted({t.run for t in trajectories})
    if "" in runs:
        raise DataError(
            "a trajectory has no run; set its `source` or `run`, by which windows of one recording are known"
        )
    wanted = sum(f > 0 for f in fractions)
    if len(runs) < wanted:
        raise DataError(
            f"{len(runs)} runs ({', '.join(runs)}) cannot be divided into {wanted} sets; add runs, or cut a long one "
            f"first: parts(trajectory, {wanted}, guard=1.0)"
        )
    _check_copies(trajectories)
    shuffled = [runs[i] for i in np.random.default_rng(seed).permutation(len(runs))]
    sets: list[list[str]] = []
    for count in _counts(len(runs), fractions):
        sets.append(shuffled[:count])
        shuffled = shuffled[count:]
    return Split(*([t for t in trajectories if t.run in group] for group in sets))


def _counts(total: int, fractions: tuple[float, float, float]) -> list[int]:
    """Whole numbers that add up, nearest to the fractions, none of a wanted set zero."""
    counts = [max(round(f * total), 1) if f > 0 else 0 for f in fractions]
    while sum(counts) != total:
        excess = [c - f * total for c, f in zip(counts, fractions, strict=True)]
        if sum(counts) > total:
            counts[max((e, i) for i, e in enumerate(excess) if counts[i] > 1)[1]] -= 1
        else:
            counts[min((e, i) for i, e in enumerate(excess) if fractions[i] > 0)[1]] += 1
    return counts


def _check_copies(trajectories: Sequence[Trajectory]) -> None:
    """Two runs with the same numbers are one run under two names: it would be trained on and tested with."""
    seen: dict[bytes, str] = {}
    for t in trajectories:
        if len(t) < 2 or np.ptp(t.q, axis=0).max() == 0:
            continue
        other = seen.setdefault(t.q.tobytes(), t.run)
        if other != t.run:
            raise DataError(f"runs {other!r} and {t.run!r} have the same positions: one is a copy; leave it out")
