"""What a network must say, before it has weights and with them."""

from abc import ABC, abstractmethod
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ...spatial import Array
from ..inputs import Input
from ..signature import Signature


class Network(eqx.Module):
    """A function of one vector, with weights; perhaps with a memory."""

    @abstractmethod
    def __call__(self, x: Float[Array, " inputs"], memory: Any) -> tuple[Float[Array, " outputs"], Any]:
        """Outputs, and the memory for the next step (None stays None)."""

    def memory(self, dtype) -> Any:
        """Before the first step."""
        return None

    @abstractmethod
    def normalised(self, x: Float[np.ndarray, "samples inputs"], gain: Float[np.ndarray, " outputs"]) -> "Network":
        """The same network for inputs with the mean and spread of the samples, and outputs of the size `gain`."""

    @abstractmethod
    def without(self, labels: frozenset[str]) -> "Network":
        """The same network without these inputs, whose weights should be zero."""


class Architecture(ABC):
    """A network before its sizes are known. Frozen dataclasses, so that blueprints compare and hash."""

    starts_at_zero: bool = True
    """Whether weights can be chosen so that it gives zero and yet learns from there."""

    @abstractmethod
    def build(self, signature: Signature, rng: np.random.Generator, at_zero: bool) -> Network:
        """With random weights; where `at_zero` those of the last layer are zero."""

    def needs(self, outputs: tuple[str, ...]) -> tuple[Input, ...]:
        """What a structure must know beside the inputs that are given."""
        return ()

    def kept(self, left: frozenset[str]) -> "Architecture | None":
        """The same where only inputs of these names and labels are left; None where it then always gives zero."""
        return self

    def check(self, signature: Signature, mode: str, together: bool) -> None:
        """Raise a ValueError where this network cannot keep its promise."""
        return
