"""What a friction model at the velocity level must say: one sweep, and the impulse of one contact."""

from abc import abstractmethod

import equinox as eqx
from jaxtyping import Float

from ...spatial import Array
from .problem import COULOMB, ContactRows, Limit, Problem, Response, Solution


class Friction(eqx.Module):
    """The set that holds a contact's impulse."""

    @abstractmethod
    def sweep(self, problem: Problem, x: Solution) -> Solution:
        """Every row once, in order, each solved for its own impulse with the others held (Gauss-Seidel)."""

    @abstractmethod
    def respond(self, rows: ContactRows, u: Float[Array, "3"], limit: Limit = COULOMB) -> Response:
        """The impulse x of one contact that solves its own rows at the velocity u = Y w - b, which x does not change."""
