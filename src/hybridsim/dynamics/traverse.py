"""Walks over a forest, one array operation a level: outward from the roots, inward from the leaves."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..spatial import add_at, pick
from .layout import Forest, Level

Tree = Any
"""A pytree of arrays with one row a node."""


def take(x, index: np.ndarray):
    """Rows of x at static places; a slice, or x itself, where that is the same."""
    if len(index) == 0:
        return x[:0]
    start = int(index[0])
    if np.array_equal(index, np.arange(start, start + len(index))):
        return x if len(index) == x.shape[0] else lax.slice_in_dim(jnp.asarray(x), start, start + len(index))
    return pick(x, index)


def rows(x, index: np.ndarray):
    """x at a table of static places: the result has the shape of `index`, then that of x's rows."""
    return take(x, index.ravel()).reshape(*index.shape, *x.shape[1:])


def put_together(parts: list[Tree], places: list[np.ndarray]) -> Tree:
    """Concatenate rows and sort them by their places: row i of the result was at place i."""
    order = np.argsort(np.concatenate(places)) if places else np.zeros(0, dtype=int)
    return jax.tree.map(lambda *rows: take(jnp.concatenate(rows) if len(rows) > 1 else rows[0], order), *parts)


def add_up(x, targets: np.ndarray, size: int):
    """Row i of the result is the sum of the rows of x whose target is i."""
    if np.array_equal(targets, np.arange(size)):
        return x
    return add_at(size, targets, x)


def outward(forest: Forest, step: Callable[..., Tree], world: Tree, *inputs: Tree) -> Tree:
    """value = step(value of the parent, *inputs of the node), from the roots to the leaves.

    `world` is the value of the roots' parent, with one row.
    """
    values, above = [], world
    for level in forest.levels:
        parent = jax.tree.map(lambda x, level=level: take(x, level.parents), above)
        above = step(parent, *_rows(inputs, level))
        values.append(above)
    return put_together(values, [level.nodes for level in forest.levels])


def inward(forest: Forest, step: Callable[..., tuple[Tree, Tree]], *inputs: Tree) -> Tree:
    """value, passed = step(sum of what children passed or None, *inputs of the node), from the leaves to the roots.

    At a level where only some nodes have children the others receive zero.
    """
    values, received = [], None
    for level in reversed(forest.levels):
        value, passed = step(received, *_rows(inputs, level))
        values.append(value)
        received = jax.tree.map(lambda x, level=level: add_up(x, level.parents, level.above), passed)
    return put_together(values, [level.nodes for level in reversed(forest.levels)])


def sum_outward(forest: Forest, x):
    """Of each node, the sum over itself and all its ancestors."""
    if not forest.levels:
        return x
    return outward(forest, lambda parent, own: parent + own, jnp.zeros_like(x[:1]), x)


def sum_inward(forest: Forest, x: Tree) -> Tree:
    """Of each node, the sum over itself and all its descendants."""
    if not forest.levels:
        return x

    def step(received, own):
        total = own if received is None else jax.tree.map(jnp.add, own, received)
        return total, total

    return inward(forest, step, x)


def _rows(inputs: tuple[Tree, ...], level: Level) -> list[Tree]:
    return [jax.tree.map(lambda x: take(x, level.nodes), tree) for tree in inputs]
