"""MuJoCo's names live in a compiled module without types; to the type checker they can be anything."""

from typing import Any

def __getattr__(name: str) -> Any: ...
