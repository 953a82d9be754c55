"""Walks over a forest, one array operation a level: outward from the roots, inward from the leaves.

A long run of levels in which every node has one child is a `lax.scan`, so that JAX traces a snake of 100 links as
fast as an arm. It asks to be unrolled, which native code does.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..spatial import add_at, pick
from .layout import Forest

UNROLL = 2
"""Levels in one turn of a scan of XLA. Native code writes any scan out that is to be unrolled (`native/rules/unrolled.py`)."""

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
    values, places, above = [], [], world
    for run in forest.runs:
        first = run[0]
        parent = jax.tree.map(lambda x, first=first: take(x, first.parents), above)
        above = step(parent, *_rows(inputs, first.nodes))
        values.append(above)
        places.append(first.nodes)
        if len(run) > 1:

            def next_level(above, inputs):
                value = step(above, *inputs)
                return value, value

            nodes = np.stack([level.nodes for level in run[1:]])
            above, rest = lax.scan(next_level, above, _rows(inputs, nodes), unroll=UNROLL)
            values.append(_flat(rest))
            places.append(nodes.ravel())
    return put_together(values, places)


def inward(forest: Forest, step: Callable[..., tuple[Tree, Tree]], *inputs: Tree) -> Tree:
    """value, passed = step(sum of what children passed or None, *inputs of the node), from the leaves to the roots.

    At a level where only some nodes have children the others receive zero.
    """
    values, places, received = [], [], None
    for run in reversed(forest.runs):
        last, first = run[-1], run[0]
        value, received = step(received, *_rows(inputs, last.nodes))
        values.append(value)
        places.append(last.nodes)
        if len(run) > 1:

            def next_level(received, inputs):
                value, passed = step(received, *inputs)
                return passed, value

            nodes = np.stack([level.nodes for level in run[:-1]])
            received, rest = lax.scan(next_level, received, _rows(inputs, nodes), reverse=True, unroll=UNROLL)
            values.append(_flat(rest))
            places.append(nodes.ravel())
        received = jax.tree.map(lambda x, first=first: add_up(x, first.parents, first.above), received)
    return put_together(values, places)


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


def _rows(inputs: tuple[Tree, ...], nodes: np.ndarray) -> tuple[Tree, ...]:
    return jax.tree.map(lambda x: rows(x, nodes), inputs)


def _flat(values: Tree) -> Tree:
    """Rows of several levels as rows."""
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), values)
