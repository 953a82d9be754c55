"""Derivatives of whole tosses, with several impacts, against differences of the whole motion.

Where a face lands, four corners touch at once and share the load. A solver that stops before it knows which of them opens gives
a motion that is almost right, and a derivative that is not.
"""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from gradient_table.tosses import Tosses, summary


def _tossed(count: int, kinds: tuple[str, ...] = (), seed: int = 0):
    found = list(Tosses().tosses(count, kinds, seed))
    assert [toss.where for toss in found if toss.errors] == []
    return summary(found)


def test_a_cube_that_lands_on_its_faces():
    found = _tossed(4, ("cube",), seed=1000)
    assert found["tested"] >= 3
    assert found["derivatives"] >= 40


@pytest.mark.slow
def test_all_bodies():
    found = _tossed(240)
    assert found["tested"] >= 200
    assert found["derivatives"] >= 3000
