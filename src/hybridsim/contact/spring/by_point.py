"""Laws of springs that differ from point to point."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ...spatial import Array, pick
from .interface import FrictionLaw, NormalLaw, PairNumbers

Rows = tuple[tuple[int, ...], ...]
"""Of each law its points; every point has one law."""


class NormalByPoint(NormalLaw):
    """Each of the laws at its own points."""

    laws: tuple[NormalLaw, ...]
    rows: Rows = eqx.field(static=True)

    def __call__(self, depth, speed, numbers):
        return _each(self.laws, self.rows, depth, speed, numbers)


class FrictionByPoint(FrictionLaw):
    """Each of the laws at its own points."""

    laws: tuple[FrictionLaw, ...]
    rows: Rows = eqx.field(static=True)

    def ratio(self, speed, numbers):
        return _each([law.ratio for law in self.laws], self.rows, speed, numbers)


def _each(laws: Sequence[Callable], rows: Rows, *given: Array | PairNumbers) -> Float[Array, " points"]:
    parts = [
        law(*jax.tree.map(lambda x, own=np.array(own): pick(x, own), given))
        for law, own in zip(laws, rows, strict=True)
    ]
    return pick(jnp.concatenate(parts), np.argsort(np.concatenate(rows)))
