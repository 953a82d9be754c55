"""`native.jit`: like jax.jit, for small programs on the CPU."""

import functools
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

from .arguments import Arguments
from .entry import Entry
from .executable import Executable
from .function import Function
from .lowered import Lowered
from .traced import trace


def jit(f: Callable, *, fallback: Literal["xla"] | None = None, optimise: int = 2) -> "Jitted":
    """f as machine code. Pytrees in, pytrees with NumPy leaves out.

    Array leaves of the arguments are traced; all else (Python's numbers, strings, functions) is static, as in
    Equinox's filter_jit: it must be hashable, and a new value of it compiles anew. So give a number that changes
    as an array. `f` must be pure.

    With arguments of JAX's transformations (under jax.jit, jax.vmap, jax.grad ...) the result is part of that
    program: the native code is called by XLA, in lanes where it is mapped, and its derivatives are native too.

    A primitive of JAX that the native compiler does not know is an `UnsupportedPrimitiveError`, and a type of
    numbers that it does not know (complex, float16 ...) is a `TypeError`; with `fallback="xla"` both are a warning,
    and XLA compiles the function. NumPy's masked arrays are refused, because masks would be lost.

    `optimise` is LLVM's level, 0 to 3. Very long programs get less than asked, so that compiling them takes seconds and
    not minutes, except at level 3. The level changes the time to compile and to run, never the result.
    """
    if fallback not in (None, "xla"):
        raise ValueError(f'fallback is {fallback!r}; it may be "xla" or None')
    return Jitted(f, fallback == "xla", optimise)


class Jitted:
    """A function that is compiled when it is first called with arguments of new shapes or types."""

    def __init__(self, f: Callable, fallback: bool, optimise: int):
        functools.update_wrapper(self, f, updated=())
        self._f, self._fallback, self._optimise = f, fallback, optimise
        self._known: dict[tuple, JitEntry] = {}
        self._lock = threading.RLock()

    def __call__(self, *args, out=None, **kwargs):
        """f(*args, **kwargs); with `out`, a pytree of arrays like the result, which are written and returned."""
        try:
            arguments = Arguments(args, kwargs)
            entry = self._known.get(arguments.key)
        except TypeError:
            Arguments.check(args, kwargs, self._fallback)
            raise
        if entry is None:
            entry = self._trace(arguments)
        if arguments.has_tracers or entry.captured:
            return entry.inside(arguments.arrays, out)
        if out is None:
            return entry.result.of(entry.run(arguments.arrays))
        entry.run(arguments.arrays, entry.result.arrays_of(out))
        return out

    def lower(self, *args, **kwargs) -> Lowered:
        """The program for these arguments, to look at: counts, LLVM text, C source, times."""
        started = time.perf_counter()
        function = self._make(Arguments(args, kwargs)).function
        return Lowered(function, time.perf_counter() - started)

    def __get__(self, instance, owner=None):
        """As a method."""
        return self if instance is None else _Method(self, instance)

    def _trace(self, arguments: Arguments) -> "JitEntry":
        with self._lock:
            entry = self._known.get(arguments.key)
            if entry is None:
                Arguments.check(arguments.args, arguments.kwargs, self._fallback)
                entry = self._make(arguments)
                # What a function has captured from JAX's tracing is only of use there.
                if not entry.captured:
                    self._known[arguments.key] = entry
        return entry

    def _make(self, arguments: Arguments) -> "JitEntry":
        traced = trace(arguments.function_of_arrays(self._f), arguments.specs())
        return JitEntry(Function.of(traced.closed, self._optimise, self._fallback), traced.result, traced.captured)


class JitEntry(Entry):
    """With machine code for one input."""

    @functools.cached_property
    def run(self) -> Callable:
        """A function of a list of arrays, and perhaps of a list of arrays to be written."""
        function = self.function
        return self.native_or_xla(
            lambda: Executable(function.kernel(), function.inputs, function.outputs), function.call
        )


class _Method:
    """A native function bound to an instance, which becomes the first argument."""

    def __init__(self, function: Jitted, instance: Any):
        functools.update_wrapper(self, function, updated=())
        self._function, self._instance = function, instance

    def __call__(self, *args, **kwargs):
        return self._function(self._instance, *args, **kwargs)

    def lower(self, *args, **kwargs) -> Lowered:
        """See `Jitted.lower`."""
        return self._function.lower(self._instance, *args, **kwargs)
