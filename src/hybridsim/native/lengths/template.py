"""A jaxpr in which the lengths of loops are left open: what the rules of the compiler read of a jaxpr, with `Affine` sizes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .affine import Size


@dataclass(frozen=True)
class Aval:
    """Shape and type of an array."""

    shape: tuple[Size, ...]
    dtype: Any
    weak_type: bool


@dataclass(eq=False)
class Variable:
    """Stands for a variable of the jaxpr that was traced."""

    aval: Aval


@dataclass(frozen=True)
class Equation:
    """As an equation of a jaxpr."""

    primitive: Any
    invars: list[Any]
    outvars: list[Any]
    params: dict[str, Any]
    effects: Any
    source_info: Any


@dataclass(frozen=True)
class OpenJaxpr:
    """As a jaxpr."""

    constvars: list[Any]
    invars: list[Any]
    outvars: list[Any]
    eqns: list[Any]


@dataclass(frozen=True)
class ClosedTemplate:
    """As a closed jaxpr."""

    jaxpr: OpenJaxpr
    consts: list[Any]

    @property
    def in_avals(self) -> list[Any]:
        return [v.aval for v in self.jaxpr.invars]

    @property
    def out_avals(self) -> list[Any]:
        return [v.aval for v in self.jaxpr.outvars]


@dataclass(frozen=True)
class Template:
    """A program for any lengths, and the lengths and arrays with which it is the program that was traced."""

    closed: ClosedTemplate
    """Its inputs are those of the traced program, then `arrays`."""
    arrays: tuple[np.ndarray, ...]
    """Constants of the program whose sizes depend on lengths."""
    lengths: tuple[int, ...]

    @cached_property
    def extra(self) -> tuple[np.ndarray, ...]:
        """Inputs of the machine code after those of the function."""
        return *self.arrays, np.array(self.lengths, dtype=np.int32)
