"""Walks over a forest, one array operation a level: outward from the roots, inward from the leaves.

A long run of levels in which every node has one child is a `lax.scan`, so that the program of a snake of 100
links is as short as that of an arm.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..spatial import add_at, pick
from .layout import Forest

SIDE_BY_SIDE = 2
"""Levels that XLA writes out in one turn of a loop. Native code takes it as leave to write out a loop, or to join loops."""

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
    if len(parts) == 1:
        return jax.tree.map(lambda rows: take(rows, order), parts[0])
    return jax.tree.map(lambda *rows: take(jnp.concatenate(rows), order), *parts)


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

    def next_level(above, inputs):
        value = step(above, *inputs)
        return value, value

    for run, here in zip(forest.runs, _by_run(forest, inputs), strict=True):
        first = run[0]
        parent = jax.tree.map(lambda x, first=first: take(x, first.parents), above)
        if len(run) == 1:
            above = step(parent, *here)
            values.append(above)
        else:
            above, of_levels = lax.scan(next_level, parent, here, unroll=SIDE_BY_SIDE)
            values.append(_flat(of_levels))
    return _in_order(forest, values)


def inward(forest: Forest, step: Callable[..., tuple[Tree, Tree]], *inputs: Tree) -> Tree:
    """value, passed = step(sum of what children passed or None, *inputs of the node), from the leaves to the roots.

    At a level where only some nodes have children the others receive zero.
    """
    values, received = [], None

    def next_level(received, inputs):
        value, passed = step(received, *inputs)
        return passed, value

    for run, here in reversed(list(zip(forest.runs, _by_run(forest, inputs), strict=True))):
        first = run[0]
        if len(run) == 1:
            value, received = step(received, *here)
            values.append(value)
        else:
            if received is None:
                _, passed = jax.eval_shape(step, None, *jax.tree.map(lambda x: x[0], here))
                received = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), passed)
            received, of_levels = lax.scan(next_level, received, here, reverse=True, unroll=SIDE_BY_SIDE)
            values.append(_flat(of_levels))
        received = jax.tree.map(lambda x, first=first: add_up(x, first.parents, first.above), received)
    return _in_order(forest, values[::-1])


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


def _by_run(forest: Forest, inputs: tuple[Tree, ...]) -> list[tuple[Tree, ...]]:
    """The rows of each run; where it has several levels, with one more axis for these.

    All rows are sorted and cut at once: so the derivative puts them together at once, and its cost does not grow with
    the number of levels for every row.
    """
    sizes = [sum(len(level.nodes) for level in run) for run in forest.runs]

    def cut(x) -> list:
        x = take(jnp.asarray(x), forest.order)
        pieces = lax.split(x, sizes) if len(sizes) > 1 else [x]
        return [
            piece if len(run) == 1 else piece.reshape(len(run), -1, *x.shape[1:])
            for run, piece in zip(forest.runs, pieces, strict=True)
        ]

    leaves, tree = jax.tree.flatten(inputs)
    return [tree.unflatten(pieces) for pieces in zip(*map(cut, leaves), strict=True)]


def _in_order(forest: Forest, values: list[Tree]) -> Tree:
    """The values of all runs, in the order of the nodes."""
    return put_together(values, [level.nodes for run in forest.runs for level in run])


def _flat(values: Tree) -> Tree:
    """Rows of several levels as rows."""
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), values)
