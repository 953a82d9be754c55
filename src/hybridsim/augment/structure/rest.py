"""Functions that vanish where nothing moves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import equinox as eqx
import numpy as np

from ..networks import Architecture
from ..signature import Block
from .interface import Structure, Structured
from .parity import as_names, chosen

VELOCITIES = ("joint.velocity", "link.velocity", "contact.sliding_velocity", "contact.normal_velocity")


@dataclass(frozen=True)
class ZeroAtRest(Structure):
    """F(x) = f(x) - f(x0), where in x0 the inputs of these names are zero: no damping of what does not move.

    By default all velocities among the inputs, those of earlier steps included.
    """

    network: Architecture
    names: str | Sequence[str] = VELOCITIES

    law = "rest"
    keeps = frozenset({"parity", "rest", "frame"})
    may_remember = False

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "names", as_names(self, self.names))

    def kept(self, left):
        return super().kept(left) if left.intersection(self.names) else None

    def demand(self, signature, mode, together):
        if not chosen(signature, tuple(self.names)):
            there = ", ".join(block.label for block in signature.inputs if not block.hidden)
            raise ValueError(f"ZeroAtRest: none of {', '.join(self.names)} is among the inputs, which are: {there}")

    def around(self, network, signature, known):
        return Resting(network, signature, known, tuple(self.names))


class Resting(Structured):
    names: tuple[str, ...] = eqx.field(static=True, default=())

    def __call__(self, x, memory):
        return self.network(x, None)[0] - self.network(self._at_rest(x), None)[0], memory

    def _at_rest(self, x):
        left, rest = np.ones(self.signature.input_size), np.zeros(self.signature.input_size)
        for block in chosen(self.signature, self.names):
            left[self.signature.slices[block.label]] = 0.0
            rest[self.signature.slices[block.label]] = _of_zero(block)
        return left.astype(x.dtype) * x + rest.astype(x.dtype)

    def normalised(self, x, gain):
        return replace(self, network=self.network.normalised(np.concatenate([x, self._at_rest(x)]), gain))


def _of_zero(block: Block) -> np.ndarray:
    """A block whose variable is zero: seen as sine and cosine that is 0, 1."""
    if not block.cyclic:
        return np.zeros(block.size)
    half = np.zeros(block.size // len(block.delays) // 2)
    return np.tile(np.concatenate([half, half + 1]), len(block.delays))
