"""Native functions as a primitive of JAX: how it is evaluated, compiled, batched, differentiated and transposed.

    native(inputs; function, rows, shared)

`function` is a `Function`; all rules follow from what it can make. If `rows` is a number, the function is applied to that many
rows, which lie along the first axis of inputs and outputs; inputs marked in `shared` are the same for all rows.
"""

import warnings
from itertools import compress

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir

from .ffi import ALIGNMENT, register
from .function import Function
from .lower import UnsupportedPrimitiveError
from .types import UnsupportedTypeError

UNSUPPORTED = (UnsupportedPrimitiveError, UnsupportedTypeError)
"""What `fallback` leaves to XLA."""

native = Primitive("native")
native.multiple_results = True

native.def_impl(jax.jit(native.bind, static_argnames=("function", "rows", "shared")))


@native.def_abstract_eval
def _shapes(*_, function: Function, rows: int | None, shared: tuple[bool, ...]) -> list[ShapedArray]:
    if rows is None:
        return list(function.outputs)
    return [ShapedArray((rows, *aval.shape), aval.dtype, weak_type=aval.weak_type) for aval in function.outputs]


def _push(primals, tangents, *, function: Function, rows: int | None, shared: tuple[bool, ...]):
    """Forward mode; integers have no tangents."""
    outputs = native.bind(*primals, function=function, rows=rows, shared=shared)
    moving = tuple(type(t) is not ad.Zero for t in tangents)
    changes = native.bind(
        *primals,
        *compress(tangents, moving),
        function=function.tangent(moving),
        rows=rows,
        shared=(*shared, *compress(shared, moving)),
    )
    found = iter(changes)
    zeros = [ad.Zero(jax.typeof(x).to_tangent_aval()) for x in outputs]
    return outputs, [next(found) if moves else zero for zero, moves in zip(zeros, function.moves, strict=True)]


def _pull(cotangents, *inputs, function: Function, rows: int | None, shared: tuple[bool, ...]):
    """Reverse mode: from cotangents of outputs to those of the inputs in which the function is linear."""
    fixed, linear = inputs[: function.linear], inputs[function.linear :]
    wanted = tuple(ad.is_undefined_primal(x) for x in linear)
    given = tuple(type(c) is not ad.Zero for c in cotangents)
    nothing = [None] * len(inputs)
    if not any(given):
        return nothing
    results = native.bind(
        *fixed,
        *compress(cotangents, given),
        function=function.transposed(wanted, given),
        rows=rows,
        shared=shared and (*shared[: function.linear], *(False for g in given if g)),
    )
    found = iter(results)
    pulled = [next(found) if want else None for want in wanted]
    if rows is not None:  # what all rows share gets a part from each of them
        common = shared[function.linear :]
        pulled = [x.sum(0) if x is not None and same else x for x, same in zip(pulled, common, strict=True)]
    return [*nothing[: function.linear], *pulled]


def _batch(inputs, axes, *, function: Function, rows: int | None, shared: tuple[bool, ...]):
    """One more batch: the rows of all batches are rows of one."""
    size = next(x.shape[axis] for x, axis in zip(inputs, axes, strict=True) if axis is not None)
    inputs = [x if axis is None else jnp.moveaxis(x, axis, 0) for x, axis in zip(inputs, axes, strict=True)]
    new = tuple(axis is None for axis in axes)
    if rows is None:
        return native.bind(*inputs, function=function, rows=size, shared=new), [0] * len(function.outputs)
    same = tuple(a and b for a, b in zip(new, shared, strict=True))
    full = []
    for x, aval, in_new, in_old, in_both in zip(inputs, function.inputs, new, shared, same, strict=True):
        if not in_both:
            x = jnp.expand_dims(x, 0) if in_new else jnp.expand_dims(x, 1) if in_old else x
            x = jnp.broadcast_to(x, (size, rows, *aval.shape)).reshape(size * rows, *aval.shape)
        full.append(x)
    outputs = native.bind(*full, function=function, rows=size * rows, shared=same)
    shapes = [(size, rows, *aval.shape) for aval in function.outputs]
    return [x.reshape(shape) for x, shape in zip(outputs, shapes, strict=True)], [0] * len(outputs)


def _foreign_call(*inputs, function: Function, rows: int | None, shared: tuple[bool, ...]):
    """XLA's call of the native code, with scratch memory as one more result."""
    try:
        kernel = function.kernel(None if rows is None else shared)
    except UNSUPPORTED as error:
        if not function.fallback:
            raise
        warn_of_fallback(error)
        return jaxpr_as_fun(function.jaxpr(rows, shared))(*inputs)
    inputs = (*inputs, *kernel.extra)
    target = register(kernel, len(inputs), len(function.outputs), rows is not None)
    results = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in _shapes(function=function, rows=rows, shared=shared)]
    results.append(jax.ShapeDtypeStruct((kernel.scratch + ALIGNMENT,), jnp.uint8))
    attributes = {} if rows is None else {"rows": np.int64(rows)}
    return jax.ffi.ffi_call(target, results)(*inputs, **attributes)[:-1]


def warn_of_fallback(error: Exception) -> None:
    """One sentence that names the primitive or type and the user's line."""
    reason = str(error).split(";")[0]
    warnings.warn(f"{reason}; XLA compiles this function instead", RuntimeWarning, stacklevel=2)


def _elsewhere(*_, **__):
    raise NotImplementedError(
        "a native function runs on the CPU only; call it under jax.default_device(jax.devices('cpu')[0]), "
        "or call the function itself on this device"
    )


ad.primitive_jvps[native] = _push
ad.primitive_transposes[native] = _pull
batching.primitive_batchers[native] = _batch
mlir.register_lowering(native, _elsewhere)
mlir.register_lowering(native, mlir.lower_fun(_foreign_call, multiple_results=True), platform="cpu")
