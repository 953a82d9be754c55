"""How long the Jacobian of a single step takes in native code, by forward and by reverse mode."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np

from .jacobians import Map
from .motions import motion
from .scenes import Scene
from .single_steps import Survey
from .walk import walk

KINDS = ("cube", "flat box", "sphere", "capsule", "cylinder")


@dataclass(frozen=True)
class Timing:
    """Medians, for one Jacobian by all inputs."""

    body: str
    inputs: int
    forward: float
    """[s]"""
    reverse: float


def timings(survey: Survey) -> list[Timing]:
    """Of a step in contact of each of the bodies that MuJoCo is timed with."""
    found = []
    for kind in KINDS:
        f: Map = survey.map(_touching(kind))
        found.append(Timing(kind, len(f.zero), _median(f.forward), _median(f.reverse)))
    return found


def _touching(kind: str) -> Scene:
    """The first step that counts as contact, of the first random motion that has one."""
    for seed in count():
        along = walk(motion(kind, seed))
        for step, regime in enumerate(along.regimes):
            if regime is not None:
                return along.scene(step)
    raise AssertionError("counting does not end")


def _median(call: Callable[[], object]) -> float:
    call()
    took = []
    for _ in range(51):
        started = time.perf_counter()
        call()
        took.append(time.perf_counter() - started)
    return float(np.median(took))
