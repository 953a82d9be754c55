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
