"""A traced function as a program: its graph, and the memory that it reads and writes."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.extend import core as jcore

from .arrays import Small, Stored, size_of
from .fuse import fuse
from .graph import Buffer, Graph
from .lengths.affine import Size
from .lengths.template import Template
from .lower import Lowering, inline
from .rules.unrolled import writes_out_loops
from .types import Type, type_of


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


def lower(source: jcore.ClosedJaxpr | Template, any_lengths: bool = True) -> Program:
    """The program of a jaxpr, or of a template.

    That of a template reads its lengths, and the constants that are as long, from memory that it is given; without
    `any_lengths` they are a part of it. Its operations and their order are the same.
    """
    started = time.perf_counter()
    low = Lowering()
    template = source if isinstance(source, Template) else None
    closed: Any = source if template is None else template.closed
    low.a.straight = writes_out_loops(closed.jaxpr)
    extra = () if template is None else template.extra
    known = [None if any_lengths else x for x in extra]
    given = len(closed.in_avals) - len(extra[:-1])
    buffers, arrays = [], []
    for aval, data in zip(closed.in_avals, [*[None] * given, *known[:-1]], strict=True):
        type = type_of(aval.dtype)
        buffer = _memory(low, type, size_of(aval.shape), data)
        stored = Stored(aval.shape, type, buffer, low.s)
        buffers.append(buffer)
        arrays.append(low.a.small(stored) if buffer.size <= low.a.read_up_to else stored)
    if extra:
        low.g.lengths = _memory(low, type_of(extra[-1].dtype), extra[-1].size, known[-1])
        buffers.append(low.g.lengths)
    outputs = [_write(low, out) for out in inline(low, closed, arrays)]
    fuse(low.g)
    inputs = [b for b in buffers if b.kind == "input"]
    return Program(low.g, inputs, outputs, low.rows + low.runs, time.perf_counter() - started)


def _memory(low: Lowering, type: Type, size: Size, data: np.ndarray | None) -> Buffer:
    """Of an input, or of numbers that are known."""
    if data is None:
        return low.g.buffer(type, size, "input", region=low.g.top)
    return low.g.buffer(type, size, "constant", data.ravel(), region=low.g.top)


def _write(low: Lowering, out) -> Buffer:
    buffer = low.g.buffer(out.type, size_of(out.shape), "output", region=low.g.top)
    if isinstance(out, Small):
        for i, value in enumerate(out.ids.ravel().tolist()):
            low.g.store(buffer, low.s.index(i), value)
    else:
        low.a.fill(buffer, out.shape, out.element)
    return buffer
