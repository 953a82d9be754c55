"""The same for many entries: written out for a few, one after the other for many, so that programs do not grow with them."""

from collections.abc import Callable
from typing import Any

import jax
from jax import lax

MANY = 32
"""Entries beyond which a loop over memory replaces straight-line code."""


def for_each(function: Callable, count: int, entries: Any) -> Any:
    """function(entry) for each entry along the leading axes, stacked. A gradient computes what many gave again."""
    if count <= MANY:
        return jax.vmap(function)(entries)
    return lax.map(jax.checkpoint(function), entries)


def total(step: Callable, start: Any, count: int, entries: Any) -> Any:
    """carry = step(carry, entry) for each entry."""
    if count <= MANY:
        for k in range(count):
            start = step(start, jax.tree.map(lambda x, k=k: x[k], entries))
        return start
    return lax.scan(lambda carry, entry: (step(carry, entry), None), start, entries)[0]
