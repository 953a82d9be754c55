"""The rows that may act in a step, as a dense list, and loops over them that cost nothing for all others."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Int

from ...spatial import Array, in_memory, linear_map, row, scratch, with_row

Tree = Any


class Slots(eqx.Module):
    """Slot k < `count` holds the row `places[k]` of all rows. What arrays by slot have beyond that means nothing."""

    places: Int[Array, " rows"]
    count: Int[Array, ""] | None
    """None for all rows in order; then loops are scans, which JAX can differentiate."""

    @classmethod
    def all(cls, rows: int) -> "Slots":
        return cls(jnp.arange(rows, dtype=jnp.int32), None)

    @classmethod
    def of(cls, flags: Bool[Array, " rows"]) -> "Slots":
        """Those whose flag is set."""

        def add(listed, row):
            (places, count), (place, flag) = listed, row
            # What is written for a row that is not listed is overwritten by the next.
            return (with_row(places, count, place), count + flag.astype(jnp.int32)), None

        everything = jnp.arange(len(flags), dtype=jnp.int32)
        start = scratch((len(flags) + 1,), jnp.int32), jnp.int32(0)
        (places, count), _ = lax.scan(add, start, (everything, flags))
        return cls(places[:-1], count)

    @property
    def length(self) -> Int[Array, ""] | int:
        """How many rows are listed."""
        return self.size if self.count is None else self.count

    @property
    def size(self) -> int:
        """How many rows there are at most."""
        return len(self.places)

    def walk(
        self, step: Callable[..., tuple[Tree, Tree]], start: Tree, slots: Tree = (), rows: Tree = ()
    ) -> tuple[Tree, Tree]:
        """carry, out = step(carry, place, slots, rows) for each listed row, with its entries of arrays by slot and by row.

        The outputs are stacked by slot.
        """
        if self.size == 0:
            return start, self._buffers(step, start, slots, rows)
        if self.count is None:
            return lax.scan(lambda carry, x: step(carry, *x), start, (self.places, slots, rows))

        def turn(k, state):
            carry, outs = state
            place = row(self.places, k)
            carry, out = step(carry, place, *_at(slots, k), *_at(rows, place))
            return carry, jax.tree.map(lambda x, new: with_row(x, k, new), outs, out)

        def _at(stack, k):
            return (jax.tree.map(lambda x: row(x, k), stack),)

        return lax.fori_loop(0, self.count, turn, (start, self._buffers(step, start, slots, rows)))

    def update(
        self, step: Callable[..., tuple[Tree, Tree]], start: Tree, state: Tree, slots: Tree = ()
    ) -> tuple[Tree, Tree]:
        """carry, entries = step(carry, place, entries, slots): arrays by slot are changed where they are, slot by slot."""
        if self.size == 0:
            return start, state
        if self.count is None:
            return lax.scan(lambda carry, x: step(carry, *x), start, (self.places, state, slots))

        def turn(k, both):
            carry, state = both
            own = jax.tree.map(lambda x: row(x, k), state)
            carry, new = step(carry, row(self.places, k), own, jax.tree.map(lambda x: row(x, k), slots))
            return carry, jax.tree.map(lambda x, new: with_row(x, k, new), state, new)

        return lax.fori_loop(0, self.count, turn, (start, state))

    def each(self, step: Callable[..., Tree], slots: Tree = (), rows: Tree = ()) -> Tree:
        """out = step(place, slots, rows) for each listed row, stacked by slot."""
        return self.walk(lambda _, *x: ((), step(*x)), (), slots, rows)[1]

    def fold(self, step: Callable[..., Tree], start: Tree, slots: Tree = (), rows: Tree = ()) -> Tree:
        """carry = step(carry, place, slots, rows) for each listed row."""
        return self.walk(lambda *x: (step(*x), ()), start, slots, rows)[0]

    def spread(self, by_slot: Tree) -> Tree:
        """Arrays by slot as arrays by row, with zeros for rows that are not listed."""
        return by_slot if self.count is None else linear_map(_spread, _gathered, self, by_slot)

    def gathered(self, by_row: Tree) -> Tree:
        """Arrays by row as arrays by slot."""
        return by_row if self.count is None else linear_map(_gathered, _spread, self, by_row)

    def _buffers(self, step, start, slots, rows) -> Tree:
        def shape(x):
            return jax.ShapeDtypeStruct(jnp.shape(x)[1:], jnp.result_type(x))

        place = jax.ShapeDtypeStruct((), jnp.int32)
        out = jax.eval_shape(step, start, place, jax.tree.map(shape, slots), jax.tree.map(shape, rows))[1]
        return jax.tree.map(lambda x: scratch((self.size, *x.shape), x.dtype), out)


def _spread(slots: Slots, by_slot: Tree) -> Tree:
    def put(by_row, place, own, _):
        return jax.tree.map(lambda x, new: with_row(x, place, new), by_row, own)

    return slots.fold(put, jax.tree.map(lambda x: in_memory(jnp.zeros_like(x)), by_slot), by_slot)


def _gathered(slots: Slots, by_row: Tree) -> Tree:
    return slots.each(lambda _, __, own: own, (), by_row)
