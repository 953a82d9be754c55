"""Memory that a loop fills in, row by row: its contents matter only where something was written before it is read."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import mlir

scratch_p = Primitive("scratch")


def scratch(shape: tuple[int, ...], dtype):
    """An array of anything. XLA takes zeros; native code takes memory, however small the array, and leaves it as it is."""
    return scratch_p.bind(shape=tuple(shape), dtype=np.dtype(dtype))


def zeros_in_memory(shape: tuple[int, ...], dtype):
    """Zeros that native code keeps in memory, however few: for places that are computed."""
    return jax.lax.dynamic_update_slice(scratch(shape, dtype), jnp.zeros(shape, dtype), (0,) * len(shape))


scratch_p.def_impl(lambda shape, dtype: jnp.zeros(shape, dtype))
scratch_p.def_abstract_eval(lambda shape, dtype: ShapedArray(shape, dtype))
mlir.register_lowering(scratch_p, mlir.lower_fun(lambda shape, dtype: jnp.zeros(shape, dtype), multiple_results=False))
