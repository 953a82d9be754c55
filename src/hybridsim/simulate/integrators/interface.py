"""What an integrator must say; each one is a file."""

from abc import abstractmethod
from collections.abc import Callable

import equinox as eqx
from jaxtyping import Float

from ...model import Model, State
from ...spatial import Array, Scalar

Acceleration = Callable[..., Float[Array, " nv"]]
"""acceleration(q, qd, implicit=0): solves (M + implicit D) qdd = forces, with D the damping of the joints."""


class Integrator(eqx.Module):
    """A rule for the next state."""

    @abstractmethod
    def __call__(self, model: Model, acceleration: Acceleration, state: State, dt: Scalar) -> State:
        """The state dt later."""
