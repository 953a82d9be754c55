"""lxml ships no types; to the type checker its names can be anything."""

from typing import Any

def __getattr__(name: str) -> Any: ...
