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


def in_memory(x):
    """The same array, which native code keeps in memory, however small: for places that are computed."""
    x = jnp.asarray(x)
    return jax.lax.dynamic_update_slice(scratch(x.shape, x.dtype), x, (0,) * x.ndim)


def once_if(test, step, state):
    """step(state) if the test holds, else the state: as a loop, in which arrays in memory are changed where they are."""
    return jax.lax.while_loop(lambda s: s[0], lambda s: (jnp.asarray(False), step(s[1])), (jnp.asarray(test), state))[1]


scratch_p.def_impl(lambda shape, dtype: jnp.zeros(shape, dtype))
scratch_p.def_abstract_eval(lambda shape, dtype: ShapedArray(shape, dtype))
mlir.register_lowering(scratch_p, mlir.lower_fun(lambda shape, dtype: jnp.zeros(shape, dtype), multiple_results=False))
