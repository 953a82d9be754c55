"""Evaluate a JAX function without compiling it: trace it once, then do every operation in NumPy.

XLA takes seconds to compile the dynamics of one topology, and every random mechanism is a new one. Traced
operations are few and simple, so NumPy does a thousand of them in milliseconds. An operation that has no
rule here is done by JAX itself. `test_evaluate.py` compares with compiled functions.
"""

from collections.abc import Callable
from string import ascii_letters

import jax
import numpy as np
from jax.extend import core


def evaluate(function: Callable, *arguments):
    """function(*arguments), with NumPy arrays in the place of JAX's."""
    closed, shapes = jax.make_jaxpr(function, return_shape=True)(*arguments)
    results = _run(closed.jaxpr, closed.consts, jax.tree.leaves(arguments))
    return jax.tree.unflatten(jax.tree.structure(shapes), results)


def _run(jaxpr, constants: list, arguments: list) -> list[np.ndarray]:
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], map(np.asarray, [*constants, *arguments]), strict=True))

    def read(atom):
        return np.asarray(atom.val) if isinstance(atom, core.Literal) else values[atom]

    for equation in jaxpr.eqns:
        inputs = [read(atom) for atom in equation.invars]
        outputs = _operation(equation.primitive, equation.params, inputs)
        values.update(zip(equation.outvars, outputs, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _operation(primitive, parameters: dict, inputs: list) -> list[np.ndarray]:
    for inner in ("jaxpr", "call_jaxpr"):
        if inner in parameters and primitive.name in ("jit", "closed_call", "custom_jvp_call", "custom_vjp_call"):
            return _run(parameters[inner].jaxpr, parameters[inner].consts, inputs)
    if primitive.name == "scan":
        return _scan(parameters, inputs)
    if rule := SIMPLE.get(primitive.name):
        return [np.asarray(rule(*inputs))]
    if rule := SHAPED.get(primitive.name):
        return [np.asarray(rule(parameters, *inputs))]
    outputs = primitive.bind(*inputs, **parameters)
    return [np.asarray(x) for x in (outputs if primitive.multiple_results else [outputs])]


def _scan(p, inputs: list) -> list[np.ndarray]:
    constants, carry = inputs[: p["num_consts"]], inputs[p["num_consts"] :][: p["num_carry"]]
    rows = inputs[p["num_consts"] + p["num_carry"] :]
    steps = range(p["length"])
    collected = []
    for i in reversed(steps) if p["reverse"] else steps:
        results = _run(p["jaxpr"].jaxpr, p["jaxpr"].consts, [*constants, *carry, *(x[i] for x in rows)])
        carry = results[: p["num_carry"]]
        collected.append(results[p["num_carry"] :])
    collected = reversed(collected) if p["reverse"] else collected
    return [*carry, *(np.stack(column) for column in zip(*collected, strict=True))]


def _dot(p, a, b):
    (contract_a, contract_b), (batch_a, batch_b) = p["dimension_numbers"]
    letters_a = ascii_letters[: a.ndim]
    letters_b = list(ascii_letters[a.ndim : a.ndim + b.ndim])
    for i, j in zip([*contract_a, *batch_a], [*contract_b, *batch_b], strict=True):
        letters_b[j] = letters_a[i]
    kept_a = [c for i, c in enumerate(letters_a) if i not in contract_a and i not in batch_a]
    kept_b = [c for j, c in enumerate(letters_b) if j not in contract_b and j not in batch_b]
    batch = [letters_a[i] for i in batch_a]
    return np.einsum(f"{letters_a},{''.join(letters_b)}->{''.join([*batch, *kept_a, *kept_b])}", a, b)


def _broadcast(p, x):
    shape = np.ones(len(p["shape"]), dtype=int)
    shape[list(p["broadcast_dimensions"])] = x.shape
    return np.broadcast_to(x.reshape(shape), p["shape"])


def _slice(p, x):
    strides = p["strides"] or [1] * x.ndim
    return x[tuple(slice(*ends) for ends in zip(p["start_indices"], p["limit_indices"], strides, strict=True))]


def _window(sizes, indices, index_map, batching: list[tuple[int, int]], dropped) -> tuple[np.ndarray, ...]:
    """Of each axis of an array, the places that a gather or scatter touches: axes of `indices`, then of the window."""
    outer = indices.shape[:-1]
    kept = [axis for axis in range(len(sizes)) if axis not in dropped]
    places = []
    for axis, size in enumerate(sizes):
        place = np.zeros(outer, dtype=int)
        if axis in index_map:
            place = indices[..., index_map.index(axis)]
        for array_axis, index_axis in batching:
            if array_axis == axis:
                place = np.arange(outer[index_axis]).reshape([-1 if i == index_axis else 1 for i in range(len(outer))])
        place = np.broadcast_to(place, outer).reshape(*outer, *[1] * len(kept))
        if axis in kept:
            place = place + np.arange(size).reshape([-1 if other == axis else 1 for other in kept])
        if place.size and place.min() < 0:
            raise IndexError(f"a place before the start of axis {axis}")
        places.append(place)
    return tuple(np.broadcast_arrays(*places))


def _gather(p, x, indices):
    n = p["dimension_numbers"]
    batching = list(zip(n.operand_batching_dims, n.start_indices_batching_dims, strict=True))
    dropped = {*n.collapsed_slice_dims, *n.operand_batching_dims}
    out = x[_window(p["slice_sizes"], indices, n.start_index_map, batching, dropped)]
    window = range(indices.ndim - 1, out.ndim)
    return np.moveaxis(out, window, n.offset_dims)


def _scatter(p, x, indices, updates, add: bool):
    n = p["dimension_numbers"]
    batching = list(zip(n.operand_batching_dims, n.scatter_indices_batching_dims, strict=True))
    dropped = {*n.inserted_window_dims, *n.operand_batching_dims}
    updates = np.moveaxis(updates, n.update_window_dims, range(indices.ndim - 1, updates.ndim))
    window = iter(updates.shape[indices.ndim - 1 :])
    sizes = [1 if axis in dropped else next(window) for axis in range(x.ndim)]
    places, out = _window(sizes, indices, n.scatter_dims_to_operand_dims, batching, dropped), x.copy()
    if add:
        np.add.at(out, places, updates)
    else:
        out[places] = updates
    return out


SIMPLE = {
    "add": np.add,
    "add_any": np.add,
    "and": np.logical_and,
    "atan2": np.arctan2,
    "cos": np.cos,
    "div": np.divide,
    "eq": np.equal,
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "lt": np.less,
    "mul": np.multiply,
    "neg": np.negative,
    "select_n": lambda which, *choices: np.where(which, choices[-1], choices[0]),
    "sin": np.sin,
    "sqrt": np.sqrt,
    "square": np.square,
    "stop_gradient": lambda x: x,
    "sub": np.subtract,
    "tanh": np.tanh,
}
SHAPED = {
    "broadcast_in_dim": _broadcast,
    "concatenate": lambda p, *parts: np.concatenate(parts, axis=p["dimension"]),
    "convert_element_type": lambda p, x: x.astype(p["new_dtype"]),
    "dot_general": _dot,
    "gather": _gather,
    "integer_pow": lambda p, x: x ** p["y"],
    "reduce_sum": lambda p, x: np.sum(x, axis=tuple(p["axes"])),
    "reshape": lambda p, x: x.reshape(p["new_sizes"]),
    "scatter": lambda p, *inputs: _scatter(p, *inputs, add=False),
    "scatter-add": lambda p, *inputs: _scatter(p, *inputs, add=True),
    "slice": _slice,
    "squeeze": lambda p, x: np.squeeze(x, axis=tuple(p["dimensions"])),
    "stack": lambda p, *parts: np.stack(parts, axis=p["axis"]),
    "transpose": lambda p, x: np.transpose(x, p["permutation"]),
}
