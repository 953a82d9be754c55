"""Picking entries at static places with one traced operation.

`x[index]` traces to half a dozen operations that normalise the index; ours is a constant and in range.
"""

import jax.numpy as jnp
import numpy as np
from jax import lax


def pick(x, index: np.ndarray, axis: int = 0):
    """Entries of x along one axis at the places `index` (a one-dimensional NumPy array of valid places)."""
    x = jnp.asarray(x)
    axis %= x.ndim
    others = tuple(i for i in range(x.ndim) if i != axis)
    numbers = lax.GatherDimensionNumbers(offset_dims=others, collapsed_slice_dims=(axis,), start_index_map=(axis,))
    sizes = tuple(1 if i == axis else n for i, n in enumerate(x.shape))
    # int32 as a NumPy constant: no conversion is traced, whatever JAX's default integer is.
    places = np.asarray(index, dtype=np.int32)[:, None]
    return lax.gather(x, places, numbers, sizes, mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS)


def add_at(size: int, index: np.ndarray, x):
    """An array of `size` rows of zeros, to which the rows of x are added at the places `index`."""
    x = jnp.asarray(x)
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(range(1, x.ndim)), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
    )
    zeros = jnp.zeros((size, *x.shape[1:]), dtype=x.dtype)
    places = np.asarray(index, dtype=np.int32)[:, None]
    return lax.scatter_add(zeros, places, x, numbers, mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS)


def row(x, place):
    """x[place] for a place that is computed; it must be a valid one. Of an empty x, as loops that never run have it, zeros."""
    x = jnp.asarray(x)
    if not len(x):
        return jnp.zeros(x.shape[1:], dtype=x.dtype)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(x.ndim - 1)), collapsed_slice_dims=(0,), start_index_map=(0,)
    )
    sizes = (1, *x.shape[1:])
    return lax.gather(x, jnp.asarray(place)[None], numbers, sizes, mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS)


def rows_at(x, places):
    """Rows of x at places that are computed, or constant."""
    if isinstance(places, np.ndarray):
        return pick(x, places)
    x = jnp.asarray(x)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(1, x.ndim)), collapsed_slice_dims=(0,), start_index_map=(0,)
    )
    sizes = (1, *x.shape[1:])
    return lax.gather(x, places[:, None], numbers, sizes, mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS)


def with_row(x, place, value):
    """x with another row at a place that is computed."""
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(range(x.ndim - 1)), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
    )
    value = jnp.asarray(value, dtype=x.dtype)
    return lax.scatter(x, jnp.asarray(place)[None], value, numbers, mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS)


def added_at(x, places, values):
    """x with values added to its rows at places that are computed, or constant."""
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(range(1, x.ndim)), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
    )
    places = np.asarray(places, dtype=np.int32) if isinstance(places, np.ndarray) else places
    return lax.scatter_add(x, places[:, None], values, numbers, mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS)


def lowered_at(x, places, values):
    """x with rows lowered to values, where these are less, at places that are computed, or constant."""
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(range(1, x.ndim)), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
    )
    places = np.asarray(places, dtype=np.int32) if isinstance(places, np.ndarray) else places
    return lax.scatter_min(x, places[:, None], values, numbers, mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS)


def row_added_at(matrix, place, columns, values):
    """A matrix with values added to one row, at columns that are computed."""
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=(), inserted_window_dims=(0, 1), scatter_dims_to_operand_dims=(0, 1)
    )
    both = jnp.stack([jnp.broadcast_to(place, columns.shape), columns], axis=-1)
    return lax.scatter_add(matrix, both, values, numbers, mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS)


def block_added_at(matrix, places, block):
    """A matrix with a block added to the rows and columns at the same places."""
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=(), inserted_window_dims=(0, 1), scatter_dims_to_operand_dims=(0, 1)
    )
    size = len(places)
    if isinstance(places, np.ndarray):
        first, second = np.meshgrid(places.astype(np.int32), places.astype(np.int32), indexing="ij")
        both = np.stack([first, second], axis=-1)
    else:
        first, second = (jnp.broadcast_to(x, (size, size)) for x in (places[:, None], places[None, :]))
        both = jnp.stack([first, second], axis=-1)
    return lax.scatter_add(matrix, both, block, numbers, mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS)
