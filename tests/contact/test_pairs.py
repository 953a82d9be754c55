"""The model's table of kinds of shapes that may touch is the detector's."""

from hybridsim.contact.detect import PAIRS
from hybridsim.model.pairs import TOUCHING


def test_shapes_that_may_touch_are_those_whose_contact_is_known():
    assert frozenset(PAIRS) == TOUCHING
