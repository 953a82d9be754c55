"""Contact at the level of velocities: a complementarity problem a step, solved by Newton's method."""

from .cone import Cone
from .impulses import Impulses
from .interface import Friction
from .pyramid import Pyramid

__all__ = ["Cone", "Friction", "Impulses", "Pyramid"]
