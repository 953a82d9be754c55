"""A name for loops whose number of turns is data, not code."""

from contextlib import AbstractContextManager

import jax

ANY_LENGTH = "hybridsim.any_length"


def any_length() -> AbstractContextManager:
    """A scope in which `jax.lax.scan` is compiled once to native code for all numbers of turns.

    Without it this is so for loops of at least 32 turns with a long body that are in no other loop. Times of its turns
    that are made in the scope (by `jnp.arange`) are known to be as many as there are turns, however few these are.
    """
    return jax.named_scope(ANY_LENGTH)
