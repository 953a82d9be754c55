"""The state of a model: what a step changes."""

from collections.abc import Iterator
from typing import Any

import equinox as eqx
from jaxtyping import Float

from ..spatial import Array


class Memory(eqx.Module):
    """What a state holds beside positions and velocities."""

    contact: Any = None
    """Impulses, from which those of the next step are searched: they save time and change no result."""
    networks: Any = None
    """Past values that networks look at, and the memories of recurrent ones."""

    def or_nothing(self) -> "Memory | None":
        return None if self.contact is None and self.networks is None else self


class State(eqx.Module):
    """Configuration and velocity; unpacks as `q, qd = state`."""

    q: Float[Array, "*batch nq"]
    qd: Float[Array, "*batch nv"]
    memory: Memory | None = None
    """None where nothing is remembered, or not yet."""

    def __iter__(self) -> Iterator[Array]:
        return iter((self.q, self.qd))
