"""What an integrator must say; each one is a file."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
from jaxtyping import Float

from ...model import Model, State
from ...spatial import Array, Scalar


@dataclass(frozen=True)
class Motion:
    """How a model moves: what integrators are made of."""

    acceleration: Callable[..., Float[Array, " nv"]]
    """acceleration(q, qd, part=0): qdd of q and qd when a part of the step, 0 to 1, is over. The part matters to
    prescribed joints only, which are where their data say."""
    first_order: Callable[..., State]
    """first_order(state, dt, implicit=0): the state after a semi-implicit Euler step, contact impulses included, in
    which the damping of the joints acts on the velocity a time `implicit` later."""
    impulsive: bool
    """Whether contact acts by impulses, which only `first_order` knows."""


class Integrator(eqx.Module):
    """A rule for the next state."""

    @abstractmethod
    def __call__(self, model: Model, motion: Motion, state: State, dt: Scalar) -> State:
        """The state dt later."""
