"""A name for loops whose number of turns is data, not code."""

from contextlib import AbstractContextManager

import jax

ANY_LENGTH = "hybridsim.any_length"


def any_length() -> AbstractContextManager:
    """A scope in which `jax.lax.scan` is compiled once to native code for all numbers of turns.

    Without it this is so for loops of at least 32 turns with a long body that are in no other loop.
    """
    return jax.named_scope(ANY_LENGTH)
