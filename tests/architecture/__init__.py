"""Tests of the code as code, and the checker of its annotations, which pyproject.toml names."""

from .typecheck import checked

__all__ = ["checked"]
