"""Whether native code of a random program agrees with XLA: row by row, and every number of lanes with one.

Where it does not, there are two reasons that are not mistakes: products with a factor that the compiler knows to be
zero, and numbers that are too small for XLA. They excuse a difference only if it is seen to come from them.
"""

import time

import jax
import numpy as np
from jax.extend.core import subjaxprs

from hybridsim import native

from .disturbance import oracle, wrong
from .program_strategy import Case
from .programs import BATCH
from .subnormals import flushed
from .zero_products import computed, hidden, run, watched


def agree(case: Case) -> None:
    """By XLA, by native code row by row, and by native code in lanes."""
    by_xla, by_native = oracle(case.function, case.tolerance), native.jit(case.function)
    with watched() as some:
        started = time.process_time()
        by_native(*case.row(0))
        compiled_in_time(case, time.process_time() - started)
        rows = [[np.asarray(x) for x in jax.tree.leaves(by_native(*case.row(k)))] for k in range(BATCH)]
        for k in range(BATCH):
            check(case, k, rows[k], *by_xla(*case.row(k)), bool(some))
        started = time.process_time()
        together = native.batch(case.function, case.in_axes, threads=1, lanes=case.lanes)(*case.batched())
        compiled_in_time(case, time.process_time() - started)
    for k, found in enumerate(jax.tree.leaves(together)):
        np.testing.assert_array_equal(found, np.stack([row[k] for row in rows]))


def compiled_in_time(case: Case, seconds: float) -> None:
    """Seconds of the processor, so that other processes count little. Most programs take less than one, none of thousands five."""
    allowed = 20.0 + 4e-3 * numbers(jax.make_jaxpr(case.function)(*case.row(0)).jaxpr)
    assert seconds < allowed, f"compiling took {seconds:.1f} s, more than {allowed:.1f} s"


def numbers(jaxpr) -> int:
    """How many numbers the equations of a program make, those in loops once; arrays beyond a size are made in loops."""
    own = sum(min(v.aval.size, 400) for eqn in jaxpr.eqns for v in eqn.outvars)
    return own + sum(numbers(inner) for inner in subjaxprs(jaxpr))


def check(case: Case, k: int, found: list, expected: list, sensitive: list, zero_products: bool) -> None:
    """The same as XLA's, but for products with a known zero and what is too small for XLA."""

    def differing(xs: list, ys: list, sensitive: list = sensitive) -> list:
        return [wrong(*each, case.tolerance) for each in zip(xs, ys, sensitive, strict=True)]

    f, row, exact = case.function, case.row(k), found
    bad = differing(exact, expected)
    if any(map(np.any, bad)) and zero_products:
        with hidden():
            own = run(f, row)  # without disturbances, in which the compiler knows less
            _, own_sensitive = oracle(f, case.tolerance, native.jit)(*row)
        refuse(differing(found, own, own_sensitive), found, own, "with zeros that the compiler does not know: ")
        with computed():
            exact = run(f, row)
        bad = differing(exact, expected)
    if any(map(np.any, bad)):
        with computed(), flushed():
            as_xla = run(f, row)
        with computed(), flushed(0.0):
            same = run(f, row)
        # Without subnormal numbers it must be as XLA's, and for no other reason than these.
        excused = zip(differing(as_xla, expected), differing(same, exact), strict=True)
        refuse([b & (x | y) for b, (x, y) in zip(bad, excused, strict=True)], exact, expected)


def refuse(bad: list, found: list, expected: list, variant: str = "") -> None:
    if any(map(np.any, bad)):
        raise AssertionError(variant + described(bad, found, expected))


def described(bad: list, found: list, expected: list) -> str:
    return "\n".join(f"{x[b]} is not {y[b]}" for b, x, y in zip(bad, found, expected, strict=True) if b.any())
