"""Native code against XLA on random programs, and every number of lanes against one."""

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from hybridsim import native

from .program_strategy import Case, cases
from .programs import BATCH, check, oracle

SETTINGS = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}


def agree(case: Case) -> None:
    """By XLA, by native code row by row, and by native code in lanes."""
    by_xla, by_native = oracle(case.function), native.jit(case.function)
    rows = []
    for k in range(BATCH):
        expected, sensitive = by_xla(*case.row(k))
        rows.append([np.asarray(x) for x in jax.tree.leaves(by_native(*case.row(k)))])
        for found, x, change in zip(rows[-1], expected, sensitive, strict=True):
            check(found, x, change, zero_times_nan=True)
    together = native.batch(case.function, case.in_axes, threads=1, lanes=case.lanes)(*case.batched())
    for k, found in enumerate(jax.tree.leaves(together)):
        np.testing.assert_array_equal(found, np.stack([row[k] for row in rows]))


@settings(max_examples=150, derandomize=True, **SETTINGS)
@given(cases())
def test_random_programs(case):
    agree(case)


@pytest.mark.slow
@settings(max_examples=3000, derandomize=True, **SETTINGS)
@given(cases(largest=10))
def test_many_random_programs(case):
    agree(case)
