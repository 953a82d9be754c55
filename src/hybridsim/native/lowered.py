"""A program to look at."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from .c_source import c_source
from .emit import Emitter
from .executable import Executable
from .live import facts
from .program import Program


@dataclass
class Lowered:
    program: Program
    optimise: int

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
        return Emitter(self.program.graph).function("kernel", self.program.inputs, self.program.outputs)

    def c_source(self, name: str = "kernel") -> str:
        """A C file with the function `name`; see `hybridsim.native.c_source` for how to call it."""
        return c_source(self.program, name)

    def compile(self) -> Executable:
        return Executable(self.program, self.optimise)

    @property
    def seconds(self) -> dict[str, float]:
        """Of JAX's tracing and of lowering."""
        return self.program.seconds
