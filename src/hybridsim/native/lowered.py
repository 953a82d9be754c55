"""A program to look at."""

import time
from collections import Counter
from functools import cached_property

from .build import kernel_text
from .c_source import c_source
from .function import Function
from .kernel import Kernel
from .lengths.affine import NotGeneralError
from .live import facts
from .program import Program, lower


class Lowered:
    """What `native.jit` makes of a function for arguments of certain shapes and types."""

    def __init__(self, function: Function, tracing: float):
        started = time.perf_counter()
        self._closed = function.closed
        self._function, self._tracing = function, tracing + time.perf_counter() - started

    @cached_property
    def program(self) -> Program:
        """The graph of operations on numbers."""
        return self._lowered(any_lengths=True)

    def _lowered(self, any_lengths: bool) -> Program:
        template = self._function.for_any_lengths()
        try:
            return lower(self._closed if template is None else template, any_lengths)
        except NotGeneralError:
            return lower(self._closed)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many operations of each kind the program has; loops count once."""
        graph = self.program.graph
        ignored = ("const", "carry", "counter", "result")
        counted = Counter(graph.ops[v] for v in facts(graph).live)
        return {op: n for op, n in counted.most_common() if op not in ignored}

    @cached_property
    def llvm(self) -> str:
        """LLVM's text form, before LLVM has optimised it."""
        return kernel_text(self.program)[0]

    def c_source(self, name: str = "kernel") -> str:
        """A C file with the function `name`; see `hybridsim.native.c_source` for how to call it."""
        return c_source(self._lowered(any_lengths=False), name)

    @cached_property
    def kernel(self) -> Kernel:
        """Machine code, from disk where it is there."""
        return self._function.kernel()

    @property
    def seconds(self) -> dict[str, float]:
        """Of JAX's tracing, of lowering, and of LLVM or of reading from disk."""
        return {
            "trace": self._tracing,
            "lower": self.program.seconds,
            "compile": self.kernel.compiled.seconds,
        }
