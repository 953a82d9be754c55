"""A linear function with a transpose that is written by hand, as a primitive of JAX.

JAX transposes a scan, but no loop whose length is computed. Where such a loop is linear, its transpose is a loop as well,
and somebody who knows the function can write it.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir

Tree = Any

linear_map_p = Primitive("linear_map")
linear_map_p.multiple_results = True


def linear_map(
    forward: Callable[[Tree, Tree], Tree], backward: Callable[[Tree, Tree], Tree], fixed: Tree, x: Tree
) -> Tree:
    """y = forward(fixed, x), linear in x. `backward(fixed, dy)` is its transpose: a pytree like x."""
    fixed_leaves, fixed_tree = jax.tree.flatten(fixed)
    x_leaves, x_tree = jax.tree.flatten(x)
    outputs: list = []

    def flat_forward(*leaves):
        y = forward(*_both(fixed_tree, x_tree, leaves))
        outputs.append(jax.tree.structure(y))
        return jax.tree.leaves(y)

    there = jax.make_jaxpr(flat_forward)(*fixed_leaves, *x_leaves)
    y_tree = outputs[-1]

    def flat_backward(*leaves):
        pulled = backward(*_both(fixed_tree, y_tree, leaves))
        assert jax.tree.structure(pulled) == x_tree, (jax.tree.structure(pulled), x_tree)
        return jax.tree.leaves(pulled)

    back = jax.make_jaxpr(flat_backward)(*fixed_leaves, *(jnp.zeros(a.shape, a.dtype) for a in there.out_avals))
    leaves = linear_map_p.bind(*fixed_leaves, *x_leaves, there=there, back=back, fixed=len(fixed_leaves))
    return jax.tree.unflatten(y_tree, leaves)


def _both(first, second, leaves):
    size = first.num_leaves
    return jax.tree.unflatten(first, leaves[:size]), jax.tree.unflatten(second, leaves[size:])


def _apply(*args, there: ClosedJaxpr, back: ClosedJaxpr, fixed: int):
    return jaxpr_as_fun(there)(*args)


def _shapes(*_, there: ClosedJaxpr, back: ClosedJaxpr, fixed: int):
    return [ShapedArray(a.shape, a.dtype) for a in there.out_avals]


def _push(primals, tangents, *, there: ClosedJaxpr, back: ClosedJaxpr, fixed: int):
    """Forward mode: linear in x; for what is fixed, the derivative of the function itself."""
    options = {"there": there, "back": back, "fixed": fixed}
    y = linear_map_p.bind(*primals, **options)
    held, x = primals[:fixed], primals[fixed:]
    d_held, dx = tangents[:fixed], tangents[fixed:]
    dy = [ad.Zero(jax.typeof(a).to_tangent_aval()) for a in y]
    if any(type(t) is not ad.Zero for t in dx):
        dy = linear_map_p.bind(*held, *map(ad.instantiate_zeros, dx), **options)
    if any(type(t) is not ad.Zero for t in d_held):
        moved = [ad.instantiate_zeros(t) for t in d_held]
        _, more = jax.jvp(lambda *held: jaxpr_as_fun(there)(*held, *x), held, moved)
        dy = [b if type(a) is ad.Zero else a + b for a, b in zip(dy, more, strict=True)]
    return y, dy


def _pull(cotangents, *args, there: ClosedJaxpr, back: ClosedJaxpr, fixed: int):
    given = [ad.instantiate_zeros(c) for c in cotangents]
    pulled = linear_map_p.bind(*args[:fixed], *given, there=back, back=there, fixed=fixed)
    return [None] * fixed + [
        c if ad.is_undefined_primal(x) else None for c, x in zip(pulled, args[fixed:], strict=True)
    ]


def _batch(args, axes, *, there: ClosedJaxpr, back: ClosedJaxpr, fixed: int):
    """One function of a whole batch."""
    size = next(x.shape[axis] for x, axis in zip(args, axes, strict=True) if axis is not None)
    full = [
        jnp.broadcast_to(x, (size, *jnp.shape(x))) if axis is None else jnp.moveaxis(x, axis, 0)
        for x, axis in zip(args, axes, strict=True)
    ]
    new_there = jax.make_jaxpr(jax.vmap(jaxpr_as_fun(there)))(*full)
    cotangents = [jnp.zeros((size, *a.shape), a.dtype) for a in there.out_avals]
    new_back = jax.make_jaxpr(jax.vmap(jaxpr_as_fun(back)))(*full[:fixed], *cotangents)
    return linear_map_p.bind(*full, there=new_there, back=new_back, fixed=fixed), [0] * len(there.out_avals)


linear_map_p.def_impl(jax.jit(linear_map_p.bind, static_argnames=("there", "back", "fixed")))
linear_map_p.def_abstract_eval(_shapes)
ad.primitive_jvps[linear_map_p] = _push
ad.primitive_transposes[linear_map_p] = _pull
batching.primitive_batchers[linear_map_p] = _batch
mlir.register_lowering(linear_map_p, mlir.lower_fun(_apply, multiple_results=True))
