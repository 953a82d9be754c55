"""What a friction model at the velocity level must say: one sweep, and its linearisation at a solution."""

from abc import abstractmethod

import equinox as eqx

from .problem import Linear, Problem, Solution


class Friction(eqx.Module):
    """The set that holds a contact's impulse."""

    @abstractmethod
    def sweep(self, problem: Problem, x: Solution) -> Solution:
        """Every row once, in order, each solved for its own impulse with the others held (Gauss-Seidel)."""

    @abstractmethod
    def linearise(self, problem: Problem, x: Solution) -> Linear:
        """How each contact's impulse follows small changes, at a solution."""
