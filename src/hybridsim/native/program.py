"""A traced function as a program: its graph, and the memory that it reads and writes."""

import time
from dataclasses import dataclass

import numpy as np
from jax.extend import core as jcore

from .arrays import FROM_MEMORY, Stored, size_of
from .fuse import fuse
from .graph import Buffer, Graph
from .lower import Lowering, inline
from .rows import is_long
from .types import type_of
from .workspace import share


@dataclass
class Program:
    """What the emitters of LLVM text and of C read."""

    graph: Graph
    inputs: list[Buffer]
    outputs: list[Buffer]
    rows: list[np.ndarray]
    """Tables of values with as many rows as a vector has lanes: what `pack` tries to put side by side."""
    seconds: float
    """Of lowering."""


def lower(closed: jcore.ClosedJaxpr) -> Program:
    """The program of a jaxpr."""
    started = time.perf_counter()
    low = Lowering()
    inputs, arrays = [], []
    for aval in closed.in_avals:
        type = type_of(aval.dtype)
        buffer = low.g.buffer(type, size_of(aval.shape), "input", region=low.g.top)
        stored = Stored(aval.shape, type, buffer, low.s)
        inputs.append(buffer)
        small = buffer.size <= FROM_MEMORY and not is_long(aval.shape)
        arrays.append(low.a.small(stored) if small else stored)
    outputs = [_write(low, out) for out in inline(low, closed, arrays)]
    low.g.close(low.g.top)
    fuse(low.g)
    share(low.g)
    return Program(low.g, inputs, outputs, low.rows + low.runs, time.perf_counter() - started)


def _write(low: Lowering, out) -> Buffer:
    buffer = low.g.buffer(out.type, size_of(out.shape), "output", region=low.g.top)
    low.a.copy(buffer, out)
    return buffer
