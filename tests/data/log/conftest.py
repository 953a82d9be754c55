"""The shipped arm as the model of all logs."""

import pytest

import hybridsim as hs


@pytest.fixture(scope="session")
def arm(arm_file):
    return hs.load(arm_file)
