"""In which unit positions are shown: degrees, metres, or both kinds as they are."""

import math
from dataclasses import dataclass

from ...identify.places import position_names
from ...model import Model
from ...model.joints import Continuous, Prismatic, Revolute


@dataclass(frozen=True)
class Units:
    """Positions of a model [rad or m], times `factor`, are in `unit`."""

    factor: float
    unit: str
    by_joint: dict[str, str]
    """The unit of each joint's own position, after the same factor."""

    @property
    def mixed(self) -> bool:
        return self.unit == "rad or m"


def units_of(model: Model) -> Units:
    """Degrees where all joints turn, metres where all slide; a mean over both kinds keeps rad and m."""
    topology = model.topology
    kinds = [k for k, mimic in zip(topology.kinds, topology.mimics, strict=True) if mimic < 0 for _ in range(k.nq)]
    names = position_names(model)
    if kinds and all(isinstance(kind, Revolute | Continuous) for kind in kinds):
        return Units(math.degrees(1), "deg", dict.fromkeys(names, "deg"))
    if kinds and all(isinstance(kind, Prismatic) for kind in kinds):
        return Units(1.0, "m", dict.fromkeys(names, "m"))
    return Units(1.0, "rad or m", {name: _own(kind) for name, kind in zip(names, kinds, strict=True)})


def _own(kind: object) -> str:
    if isinstance(kind, Revolute | Continuous):
        return "rad"
    return "m" if isinstance(kind, Prismatic) else "rad or m"
