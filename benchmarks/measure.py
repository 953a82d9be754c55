"""Times: of preparing a function once, and of calling it, each apart from the other."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import jax
import numpy as np

import hybridsim as hs

BATCH = 2e-3
"""Shortest time that the clock is asked to measure [s]."""


@dataclass(frozen=True)
class Effort:
    """How long to measure. Rounds are what medians are taken of; `at_least` is the time of one measurement [s]."""

    rounds: int
    at_least: float
    fewest: int = 3
    """Batches of calls in one measurement."""


@dataclass(frozen=True)
class Wait:
    """What a user waits for once, in seconds: JAX's tracing, our lowering (none for jax.jit), LLVM or XLA."""

    trace: float
    lower: float
    compile: float

    @property
    def total(self) -> float:
        return self.trace + self.lower + self.compile


class Timings:
    """Of several engines, round by round."""

    def __init__(self, rows: list[dict[str, float]]):
        self.rows = rows

    def __contains__(self, engine: str) -> bool:
        return engine in self.rows[0]

    def time(self, engine: str) -> float:
        """[s] of one call."""
        return median(row[engine] for row in self.rows)

    def speedup(self, engine: str, over: str) -> float:
        """How many times faster: the median of the rounds' own ratios, so that a slow round harms both."""
        return median(row[over] / row[engine] for row in self.rows)


def in_rounds(calls: dict[str, Callable[[], object]], effort: Effort) -> Timings:
    """Each round measures all engines one after the other. A call must wait for its result."""
    for call in calls.values():
        call()  # memory is touched and code is loaded
    return Timings(
        [
            {engine: seconds(call, effort.at_least, effort.fewest) for engine, call in calls.items()}
            for _ in range(effort.rounds)
        ]
    )


def seconds(call: Callable[[], object], at_least: float, fewest: int = 3) -> float:
    """Of one call: the fastest of many batches of calls, and of at least `fewest`.

    Other programs only ever make a call slower. With a single chance slow engines would seem slower than they are.
    """

    def batch(calls: int) -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return time.perf_counter() - begin

    end = time.perf_counter() + at_least
    first = batch(1)
    calls = max(1, round(BATCH / first))
    found = [first] if calls == 1 else []
    while len(found) < fewest or time.perf_counter() < end:
        found.append(batch(calls) / calls)
    return min(found)


def prepare_native(f: Callable, *arguments, by: Callable | None = None) -> tuple[Wait, Callable]:
    """What `native.jit` (or `by`) takes for these arguments with nothing on disk, and the function as users call it."""
    jax.clear_caches()
    function = (by or hs.native.jit)(f)
    begin = time.perf_counter()
    lowered = function.lower(*arguments)
    traced = time.perf_counter()
    kernel = lowered.kernel
    end = time.perf_counter()
    llvm = kernel.compiled.seconds
    function(*arguments)
    return Wait(traced - begin, end - traced - llvm, llvm), function


def prepare_jax(f: Callable, *arguments) -> tuple[Wait, Callable]:
    """The same by `jax.jit`; the function waits for its result. It is compiled once and outlives JAX's caches."""
    jax.clear_caches()
    begin = time.perf_counter()
    traced = jax.jit(f).trace(*arguments)
    middle = time.perf_counter()
    compiled = traced.lower().compile()
    end = time.perf_counter()
    return Wait(middle - begin, 0.0, end - middle), lambda *args: jax.block_until_ready(compiled(*args))


def difference(found, expected) -> float:
    """The largest, relative to the largest number; of arrays or pytrees of them, leaf by leaf."""
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    return max(_relative(np.asarray(a), np.asarray(b)) for a, b in pairs)


def _relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), np.finfo(float).tiny))
