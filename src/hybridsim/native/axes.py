"""`in_axes` of a batch: what is one of many, and along which axis."""

from typing import Any

import jax
import numpy as np


def axes_of_leaves(in_axes: Any, args: tuple) -> list[int | None]:
    """One axis, or None, for each leaf of the arguments."""
    if isinstance(in_axes, (int, type(None))):
        in_axes = (in_axes,) * len(args)
    if not isinstance(in_axes, (tuple, list)):
        raise TypeError(
            f"in_axes is of type {type(in_axes).__name__}; give a number, None, or a tuple for the arguments"
        )
    if len(in_axes) != len(args):
        raise ValueError(f"in_axes has {len(in_axes)} entries for {len(args)} arguments")
    shared = object()  # None would vanish from trees

    def spread(axis, tree):
        if not isinstance(axis, (int, type(None))):
            raise TypeError(f"in_axes has {axis!r} where an axis belongs; give a number, or None to share")
        return jax.tree.map(lambda _: shared if axis is None else axis, tree)

    leaves = []
    for k, (axis, arg) in enumerate(zip(in_axes, args, strict=True)):
        try:
            full = jax.tree.map(spread, axis, arg, is_leaf=lambda x: x is None)
        except ValueError as error:
            raise ValueError(f"in_axes[{k}] must be a number, None or a tree like argument {k}: {error}") from None
        leaves += jax.tree.leaves(full)
    arrays = jax.tree.leaves(args)
    return [None if axis is shared else _counted(axis, x) for axis, x in zip(leaves, arrays, strict=True)]


def _counted(axis: int, x: Any) -> int | None:
    """From the front; what is no array has no axes and is shared."""
    if not hasattr(x, "shape"):
        return None
    if not -len(x.shape) <= axis < len(x.shape):
        raise ValueError(f"in_axes asks for axis {axis} of an array of shape {x.shape}; use None to share it")
    return axis % len(x.shape)


def batch_size(arrays: list, axes: list[int | None]) -> int:
    """How many rows there are; all that is batched must agree."""
    sizes = {np.shape(x)[axis] for x, axis in zip(arrays, axes, strict=True) if axis is not None}
    if not sizes:
        raise ValueError("no argument has an array with a batch axis; in_axes must name one for at least one array")
    if len(sizes) > 1:
        raise ValueError(f"the batched arguments must agree in the size of the batch; found {sorted(sizes)}")
    return sizes.pop()


def row_of(spec: jax.ShapeDtypeStruct, axis: int | None) -> jax.ShapeDtypeStruct:
    """Shape and type without the axis of the batch."""
    if axis is None:
        return spec
    shape = list(spec.shape)
    del shape[axis]
    return jax.ShapeDtypeStruct(tuple(shape), spec.dtype, weak_type=spec.weak_type)
