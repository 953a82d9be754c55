"""What happens in each step of a motion, told from its impulses; and a choice of steps in which much happens."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

import hybridsim as hs
from hybridsim.contact.points import pairs_of_points

from .residual import limit_rows

SLOW = 1e-3
"""A body whose velocities are all below this is at rest [m/s, rad/s]."""


@dataclass(frozen=True)
class Regime:
    """What happens in one step."""

    event: str
    """The first that is true of: bounces (contact begins and ends), lands, leaves, slides, slips and sticks, rolls, rests."""
    points: int
    """How many touch, joint limits included."""

    @property
    def name(self) -> str:
        return f"{self.event}, {self.points if self.points < 4 else '4 or more'} touch"


def regimes(model: hs.Model, q: np.ndarray, qd: np.ndarray, impulse: np.ndarray) -> list[Regime | None]:
    """Of every step; None where nothing touches. q and qd have one row more than impulse (steps, points, 3)."""
    normal, tangential = impulse[..., 0], np.linalg.norm(impulse[..., 1:], axis=-1)
    friction = np.asarray(model.contacts.friction)[pairs_of_points(model)]
    closed = normal > 0
    slides = closed & (tangential >= (1 - 1e-6) * friction * normal)
    closed = np.concatenate([closed, _limited(model, q[1:])], axis=1)
    slides = np.concatenate([slides, np.zeros((len(slides), closed.shape[1] - slides.shape[1]), bool)], axis=1)
    before = np.concatenate([np.zeros_like(closed[:1]), closed[:-1]])
    after = np.concatenate([closed[1:], closed[-1:]])
    still = np.max(np.abs(qd[1:]), axis=1) < SLOW
    return [_regime(*step) for step in zip(closed, before, after, slides, still, strict=True)]


def _regime(closed, before, after, slides, still) -> Regime | None:
    count = int(closed.sum())
    if not count and not before.any():
        return None
    if np.any(closed & ~before):
        event = "bounces" if np.any(closed & ~before & ~after) else "lands"
    elif np.any(before & ~closed):
        event = "leaves"
    elif np.any(slides):
        event = "slides" if np.all(slides[closed]) else "slips and sticks"
    else:
        event = "rests" if still else "rolls"
    return Regime(event, count)


def _limited(model: hs.Model, q: np.ndarray) -> np.ndarray:
    """Which freedoms are at a limit after each step."""
    return limit_rows(model, q)[0] <= 1e-9


def choose(found: list[Regime | None], count: int, seen: Counter, rng: np.random.Generator) -> list[int]:
    """Some steps in contact: one after the other of the regime that was seen least so far, which is counted in `seen`."""
    steps: dict[str, list[int]] = {}
    for i in rng.permutation(len(found)):
        if (regime := found[i]) is not None:
            steps.setdefault(regime.name, []).append(int(i))
    chosen = []
    while steps and len(chosen) < count:
        rarest = min(steps, key=lambda name: seen[name])
        seen[rarest] += 1
        chosen.append(steps[rarest].pop())
        if not steps[rarest]:
            del steps[rarest]
    return sorted(chosen)
