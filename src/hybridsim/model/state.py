"""The state of a model: what a step changes."""

from collections.abc import Iterator

import equinox as eqx
from jaxtyping import Float

from ..spatial import Array


class State(eqx.Module):
    """Configuration and velocity; unpacks as `q, qd = state`."""

    q: Float[Array, "*batch nq"]
    qd: Float[Array, "*batch nv"]

    def __iter__(self) -> Iterator[Array]:
        return iter((self.q, self.qd))
