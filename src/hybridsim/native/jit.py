"""`native.jit`: like jax.jit, for small programs on the CPU."""

import functools
import threading
from collections.abc import Callable

import jax

from .arguments import Arguments
from .executable import Executable
from .lowered import Lowered
from .program import trace


def jit(f: Callable, optimise: int = 2) -> "Jitted":
    """f as machine code. Pytrees in, pytrees with NumPy leaves out.

    Array leaves of the arguments are traced; all else (numbers, strings, functions) is static, and a new value
    of it compiles anew. `optimise` is LLVM's level, 0 to 3.
    """
    return Jitted(f, optimise)


class Jitted:
    """A function that is compiled when it is first called with arguments of new shapes or types."""

    def __init__(self, f: Callable, optimise: int):
        functools.update_wrapper(self, f, updated=())
        self._f = f
        self._optimise = optimise
        self._known: dict = {}
        self._lock = threading.Lock()

    def __call__(self, *args, out=None, **kwargs):
        """f(*args, **kwargs); with `out`, a pytree of arrays like the result, which are written and returned."""
        arguments = Arguments(args, kwargs)
        executable = self._known.get(arguments.key) or self._compile(arguments)
        return executable(arguments.arrays, None if out is None else jax.tree.leaves(out))

    def lower(self, *args, **kwargs) -> Lowered:
        """The program for these arguments, to look at: counts, LLVM text, times."""
        arguments = Arguments(args, kwargs)
        program = trace(arguments.function_of_arrays(self._f), *arguments.specs())
        return Lowered(program, self._optimise)

    def _compile(self, arguments: Arguments) -> Executable:
        with self._lock:
            if arguments.key not in self._known:
                program = trace(arguments.function_of_arrays(self._f), *arguments.specs())
                self._known[arguments.key] = Executable(program, self._optimise)
        return self._known[arguments.key]
