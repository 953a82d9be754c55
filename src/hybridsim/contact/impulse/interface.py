"""What a friction model at the velocity level must say: one sweep, and the impulse of one contact."""

from abc import abstractmethod

import equinox as eqx
from jaxtyping import Float

from ...spatial import Array, Scalar
from .problem import COULOMB, ContactRows, Limit, Problem, Response, Solution


class Friction(eqx.Module):
    """The set that holds a contact's impulse."""

    @abstractmethod
    def sweep(self, problem: Problem, x: Solution) -> Solution:
        """Every row once, in order, each solved for its own impulse with the others held (Gauss-Seidel)."""

    @abstractmethod
    def respond(self, rows: ContactRows, y: Float[Array, "3"], rho: Scalar, limit: Limit = COULOMB) -> Response:
        """The projection of y = x - rho r onto the set, and how the impulse follows there.

        At a solution it is x itself, whatever rho; with rho = 1/R, y = (b - Y w)/R depends on w alone.
        """
