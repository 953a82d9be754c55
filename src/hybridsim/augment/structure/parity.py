"""Functions that are odd or even in some of their inputs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import equinox as eqx
import numpy as np

from ...model import VARIABLES
from ..networks import Architecture
from ..signature import Block, Signature
from .interface import Structure, Structured


@dataclass(frozen=True)
class Parity(Structure):
    """F(x) = (f(x) + sign f(x'))/2, where in x' the inputs of these names have the other sign: F(x') = sign F(x)."""

    network: Architecture
    names: str | Sequence[str]
    """Of variables ("joint.velocity") or of single inputs ("joint.velocity[elbow]"); all of them change sign at once."""

    sign: ClassVar[float]
    law = "parity"
    keeps = frozenset({"parity", "rest", "bound", "frame"})
    may_remember = False

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "names", as_names(self, self.names))

    def kept(self, left):
        inner, names = self.network.kept(left), tuple(name for name in self.names if name in left)
        if inner is None or names:
            return None if inner is None else type(self)(inner, names)
        # Without an input that changes sign f(x') = f(x).
        return inner if self.sign > 0 else None

    def demand(self, signature, mode, together):
        _check_names(self, signature)

    def around(self, network, signature, known):
        return Mirrored(network, signature, known, tuple(self.names), self.sign)


@dataclass(frozen=True)
class Odd(Parity):
    """F(x') = -F(x), where in x' the inputs of these names have the other sign.

    A friction that is odd in the velocity acts the same way forwards and backwards.
    """

    sign = -1.0


@dataclass(frozen=True)
class Even(Parity):
    """F(x') = F(x), where in x' the inputs of these names have the other sign."""

    sign = 1.0


class Mirrored(Structured):
    names: tuple[str, ...] = eqx.field(static=True, default=())
    sign: float = eqx.field(static=True, default=1.0)

    def __call__(self, x, memory):
        here, there = self.network(x, None)[0], self.network(self._mirrored(x), None)[0]
        return (here + self.sign * there) / 2, memory

    def _mirrored(self, x):
        signs = np.ones(self.signature.input_size)
        for block in chosen(self.signature, self.names):
            signs[self.signature.slices[block.label]] = _signs(block)
        return x * signs.astype(x.dtype)

    def normalised(self, x, gain):
        # The network within sees both.
        return replace(self, network=self.network.normalised(np.concatenate([x, self._mirrored(x)]), gain))


def as_names(structure: Structure, names: str | Sequence[str]) -> tuple[str, ...]:
    found = (names,) if isinstance(names, str) else tuple(names)
    if not found or not all(isinstance(name, str) for name in found):
        raise ValueError(
            f"{type(structure).__name__}: give names of inputs, such as ('joint.velocity',), not {names!r}"
        )
    return found


def chosen(signature: Signature, names: tuple[str, ...]) -> list[Block]:
    """Inputs that the network sees, by the variable's name or by their own."""
    return [block for block in signature.inputs if not block.hidden and (block.name in names or block.label in names)]


def _signs(block: Block) -> np.ndarray:
    """Of the mirrored block; of an angle that is seen as sine and cosine the sine alone changes."""
    if not block.cyclic:
        return -np.ones(block.size)
    half = np.ones(block.size // len(block.delays) // 2)
    return np.tile(np.concatenate([-half, half]), len(block.delays))


def _check_names(structure: Parity, signature: Signature) -> None:
    own = type(structure).__name__
    for name in structure.names:
        if not chosen(signature, (name,)):
            there = ", ".join(block.label for block in signature.inputs if not block.hidden)
            raise ValueError(f"{own}: {name!r} is not among the inputs of the network, which are: {there}")
    for block in chosen(signature, tuple(structure.names)):
        turns = block.name in ("joint.position", "state.next_position") and (
            block.size // len(block.delays) // (2 if block.cyclic else 1) in (4, 7)
        )
        if turns or (block.name in VARIABLES and VARIABLES[block.name].kind in ("rotation", "pose")):
            raise ValueError(f"{own}: {block.label} is a rotation, which with the other sign is the same one or none")
