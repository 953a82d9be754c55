"""What goes into a network and what comes out: named blocks of numbers."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..model import Kind


@dataclass(frozen=True)
class Block:
    """Numbers that belong together: one variable of one entity at one time."""

    name: str
    """Of the variable: "joint.velocity"."""
    label: str
    """Unique in its signature: "joint.velocity[elbow]"."""
    size: int
    kind: Kind = "scalar"
    hidden: bool = False
    """Whether only a structure sees it, and not the network within."""
    own: int | None = None
    """The place of its entity among those that the network acts on; None where it is not one of them."""
    delays: tuple[int, ...] = (0,)
    cyclic: bool = False


@dataclass(frozen=True)
class Signature:
    inputs: tuple[Block, ...]
    outputs: tuple[Block, ...]

    @property
    def input_size(self) -> int:
        return sum(block.size for block in self.inputs)

    @property
    def output_size(self) -> int:
        return sum(block.size for block in self.outputs)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where each input lies."""
        ends = np.cumsum([0, *(block.size for block in self.inputs)])
        return {block.label: slice(a, b) for block, a, b in zip(self.inputs, ends[:-1], ends[1:], strict=True)}

    def places(self, name: str) -> np.ndarray:
        """Of all inputs of this name."""
        found = [np.arange(s.start, s.stop) for b in self.inputs if b.name == name for s in (self.slices[b.label],)]
        return np.concatenate([np.zeros(0, dtype=int), *found])

    @cached_property
    def seen(self) -> np.ndarray:
        """Places of what is not hidden."""
        places = [np.arange(s.start, s.stop) for b in self.inputs if not b.hidden for s in (self.slices[b.label],)]
        return np.concatenate([np.zeros(0, dtype=int), *places])

    def without_hidden(self) -> "Signature":
        """As the network within a structure knows it."""
        return replace(self, inputs=tuple(block for block in self.inputs if not block.hidden))

    def without(self, labels: frozenset[str]) -> "Signature":
        return replace(self, inputs=tuple(block for block in self.inputs if block.label not in labels))
