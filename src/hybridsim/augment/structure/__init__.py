"""Structures, one file each behind `Structure`: networks that keep a law of physics whatever their weights are."""

from .bounded import Bounded
from .conservative import Conservative
from .dissipative import Dissipative
from .interface import Structure, Structured
from .invariant import Invariant
from .parity import Even, Odd
from .reaction import ActionReaction
from .rest import ZeroAtRest

__all__ = [
    "ActionReaction",
    "Bounded",
    "Conservative",
    "Dissipative",
    "Even",
    "Invariant",
    "Odd",
    "Structure",
    "Structured",
    "ZeroAtRest",
]
