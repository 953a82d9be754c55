"""Models with their networks in files: readable structure, exact numbers, and nothing that a stranger could run."""

from .errors import HybridFileError
from .load import load_hybrid
from .save import save_hybrid

__all__ = ["HybridFileError", "load_hybrid", "save_hybrid"]
