"""Tests draw the same random numbers in any order and on any number of processes."""

import numpy as np
import pytest

RNG = np.random.default_rng(0)
FIRST = RNG.normal()
SECOND = RNG.normal()
RNG = np.random.default_rng(0)
RNG.normal()


@pytest.mark.parametrize("time", [1, 2])
def test_a_generator_of_a_module_begins_anew_in_every_test(time):
    assert RNG.normal() == SECOND != FIRST
