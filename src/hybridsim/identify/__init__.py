"""From measured motion to parameters."""

from .parameters import Free, Parameters
from .places import Place, places

__all__ = ["Free", "Parameters", "Place", "places"]
