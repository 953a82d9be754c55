"""A traced function as a program: its graph, and the memory that it reads and writes."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.extend import core as jcore

from .arrays import FROM_MEMORY, Small, Stored, size_of
from .fuse import fuse
from .graph import Buffer, Graph
from .lengths.template import Template
from .lower import Lowering, inline
from .types import type_of


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


def lower(source: jcore.ClosedJaxpr | Template) -> Program:
    """The program of a jaxpr, or of a template for any lengths."""
    started = time.perf_counter()
    low = Lowering()
    inputs, arrays = [], []
    closed: Any = source.closed if isinstance(source, Template) else source
    if isinstance(source, Template):
        low.g.lengths = low.g.buffer(type_of(np.dtype(np.int32)), len(source.lengths), "input", region=low.g.top)
    for aval in closed.in_avals:
        type = type_of(aval.dtype)
        buffer = low.g.buffer(type, size_of(aval.shape), "input", region=low.g.top)
        stored = Stored(aval.shape, type, buffer, low.s)
        inputs.append(buffer)
        arrays.append(low.a.small(stored) if buffer.size <= FROM_MEMORY else stored)
    inputs += [low.g.lengths] if low.g.lengths is not None else []
    outputs = [_write(low, out) for out in inline(low, closed, arrays)]
    fuse(low.g)
    return Program(low.g, inputs, outputs, low.rows + low.runs, time.perf_counter() - started)


def _write(low: Lowering, out) -> Buffer:
    buffer = low.g.buffer(out.type, size_of(out.shape), "output", region=low.g.top)
    if isinstance(out, Small):
        for i, value in enumerate(out.ids.ravel().tolist()):
            low.g.store(buffer, low.s.index(i), value)
    else:
        low.a.fill(buffer, out.shape, out.element)
    return buffer
