"""yourdfpy declares every field of its records optional; what must be there, the loader has checked before."""

from typing import Any

def __getattr__(name: str) -> Any: ...
