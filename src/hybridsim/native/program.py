"""A traced function as a program: its graph, and the memory that it reads and writes."""

import time
from dataclasses import dataclass, field

import jax

from .arrays import FROM_MEMORY, Small, Stored, size_of
from .graph import Buffer, Graph
from .lower import Lowering, inline
from .types import type_of


@dataclass
class Program:
    graph: Graph
    inputs: list[Buffer]
    outputs: list[Buffer]
    out_avals: list
    out_tree: object
    seconds: dict[str, float] = field(default_factory=dict)
    """Of tracing by JAX and of lowering."""
    equations: int = 0


def trace(f, *args) -> Program:
    """The program of f for arguments of these shapes and types."""
    started = time.perf_counter()
    closed, shapes = jax.make_jaxpr(f, return_shape=True)(*args)
    traced = time.perf_counter()
    low = Lowering()
    inputs, arrays = [], []
    for aval in closed.in_avals:
        type = type_of(aval.dtype)
        buffer = low.g.buffer(type, size_of(aval.shape), "input", region=low.g.top)
        stored = Stored(aval.shape, type, buffer, low.s)
        inputs.append(buffer)
        arrays.append(low.a.small(stored) if buffer.size <= FROM_MEMORY else stored)
    outputs = [_write(low, out) for out in inline(low, closed, arrays)]
    seconds = {"trace": traced - started, "lower": time.perf_counter() - traced}
    return Program(low.g, inputs, outputs, closed.out_avals, jax.tree.structure(shapes), seconds, len(closed.eqns))


def _write(low: Lowering, out) -> Buffer:
    buffer = low.g.buffer(out.type, size_of(out.shape), "output", region=low.g.top)
    if isinstance(out, Small):
        for i, value in enumerate(out.ids.ravel().tolist()):
            low.g.store(buffer, low.s.index(i), value)
    else:
        low.a.fill(buffer, out.shape, out.element)
    return buffer
