"""Values as text, so that two values share a text only if no program can tell them apart."""

import enum
import hashlib
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.core import Tracer


class UnknownPartError(TypeError):
    """Something of which one cannot say when it is the same."""


Other = Callable[[Any, Any], None]
"""Adds what `describe` does not know to the parts, or raises an `UnknownPartError`."""


def describe(value: Any, parts: list[str], other: Other) -> None:
    """Add the text of a value to the parts."""
    kind = type(value)
    if value is None or kind in (bool, int, float, complex, str, bytes):
        parts.append(f"{kind.__name__} {value!r}")
    elif isinstance(value, enum.Enum):
        parts.append(f"{kind.__module__}.{kind.__qualname__}.{value.name}")
    elif isinstance(value, np.dtype) or (kind is type and issubclass(value, np.generic)):
        parts.append(f"dtype {np.dtype(value).name}")
    elif _is_numbers(value):
        array = np.asarray(value)
        digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        weak = " weak" if getattr(value, "weak_type", False) else ""
        parts.append(f"{_family(value)} {array.dtype}{array.shape}{weak} {digest}")
    elif kind in (tuple, list, set, frozenset):
        items = value if kind in (tuple, list) else sorted(value, key=repr)
        parts.append(f"{kind.__name__} {len(items)}")
        for item in items:
            describe(item, parts, other)
    elif kind is dict:
        parts.append(f"dict {len(value)}")
        for item in value.items():
            describe(item, parts, other)
    else:
        other(value, parts)


def _is_numbers(value: Any) -> bool:
    if not isinstance(value, (np.ndarray, np.generic, jax.Array)) or isinstance(value, Tracer):
        return False
    return isinstance(value.dtype, np.dtype) and not value.dtype.hasobject


def _family(value: Any) -> str:
    """NumPy computes with its own arrays while JAX is tracing; with those of JAX it cannot."""
    return "jax" if isinstance(value, jax.Array) else type(value).__name__
