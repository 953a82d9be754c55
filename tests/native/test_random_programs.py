"""Native code against XLA on random programs, and every number of lanes against one."""

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from hybridsim import native

from .program_strategy import Case, cases
from .programs import BATCH, oracle, wrong
from .zero_products import dependent, zero_products

SETTINGS = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}


def agree(case: Case) -> None:
    """By XLA, by native code row by row, and by native code in lanes."""
    by_xla, by_native = oracle(case.function), native.jit(case.function)
    with zero_products() as some:
        rows = [[np.asarray(x) for x in jax.tree.leaves(by_native(*case.row(k)))] for k in range(BATCH)]
        for k in range(BATCH):
            check(case, k, rows[k], *by_xla(*case.row(k)), bool(some))
        together = native.batch(case.function, case.in_axes, threads=1, lanes=case.lanes)(*case.batched())
    for k, found in enumerate(jax.tree.leaves(together)):
        np.testing.assert_array_equal(found, np.stack([row[k] for row in rows]))


def check(case: Case, k: int, found: list, expected: list, sensitive: list, zero_products: bool) -> None:
    """The same as XLA's, except what depends on products with a constant zero that are not finite."""
    bad = [wrong(*xs) for xs in zip(found, expected, sensitive, strict=True)]
    if not any(map(np.any, bad)):
        return
    if not zero_products:
        raise AssertionError(described(bad, found, expected))
    exact, exempt = dependent(case.function, case.row(k))
    also = [wrong(*xs) for xs in zip(exact, expected, sensitive, strict=True)]
    assert not any(map(np.any, also)), "with zero products computed: " + described(also, exact, expected)
    left = [b & ~e for b, e in zip(bad, exempt, strict=True)]
    assert not any(map(np.any, left)), "independent of zero products: " + described(left, found, expected)


def described(bad: list, found: list, expected: list) -> str:
    return "\n".join(f"{x[b]} is not {y[b]}" for b, x, y in zip(bad, found, expected, strict=True) if b.any())


@settings(max_examples=150, derandomize=True, **SETTINGS)
@given(cases())
def test_random_programs(case):
    agree(case)


@pytest.mark.slow
@settings(max_examples=3000, derandomize=True, **SETTINGS)
@given(cases(largest=10))
def test_many_random_programs(case):
    agree(case)
