"""What a friction model at the velocity level must say: one sweep, and how one contact follows the others."""

from abc import abstractmethod

import equinox as eqx
from jaxtyping import Float

from ...spatial import Array
from .problem import ContactRows, Linear, Problem, Solution


class Friction(eqx.Module):
    """The set that holds a contact's impulse."""

    @abstractmethod
    def sweep(self, problem: Problem, x: Solution) -> Solution:
        """Every row once, in order, each solved for its own impulse with the others held (Gauss-Seidel)."""

    @abstractmethod
    def linearise(
        self, rows: ContactRows, A: Float[Array, "3 3"], x: Float[Array, "3"], r: Float[Array, "3"]
    ) -> Linear:
        """How the impulse x of one contact, whose rows have the value r, follows small changes."""
