"""What the tests of the main job share."""

import pytest

import hybridsim as hs


@pytest.fixture(scope="session")
def arm_model(arm_file) -> hs.Model:
    """The shipped two-link arm."""
    return hs.load(arm_file)
