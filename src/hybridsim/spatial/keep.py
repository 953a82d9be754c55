"""What a gradient keeps of a computation that it otherwise does again."""

from jax.ad_checkpoint import checkpoint_name

KEPT = "hybridsim.kept"
"""The name by which policies of `jax.checkpoint` know it."""


def keep(x):
    """Mark numbers that are few and took long to compute."""
    return checkpoint_name(x, KEPT)
