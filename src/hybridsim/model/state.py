"""The state of a model: what a step changes."""

from collections.abc import Iterator
from typing import Any

import equinox as eqx
from jaxtyping import Float

from ..spatial import Array


class State(eqx.Module):
    """Configuration and velocity; unpacks as `q, qd = state`."""

    q: Float[Array, "*batch nq"]
    qd: Float[Array, "*batch nv"]
    memory: Any = None
    """What else a rollout carries from step to step, such as impulses from which the next ones are searched."""

    def __iter__(self) -> Iterator[Array]:
        return iter((self.q, self.qd))
