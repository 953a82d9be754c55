"""What a model needs to know of the networks in it: that they act at marks, and may remember."""

from abc import abstractmethod
from typing import Any

import equinox as eqx

from .names import Marks


class Augmentation(eqx.Module):
    """Networks that are part of a model. Their weights are leaves of it like masses and friction."""

    @abstractmethod
    def memory(self, dtype) -> Any:
        """What they remember before the first step; None where none of them remembers anything."""

    @abstractmethod
    def begin(self, memory: Any, then: Marks) -> Marks:
        """Marks for one step at which the networks act, and after them the marks `then`."""
