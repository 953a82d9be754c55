"""The benchmark compares like with like: all engines get the same mechanism."""

import sys
from pathlib import Path

import numpy as np
import pytest

import hybridsim as hs

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def benchmark_modules():
    sys.path.insert(0, str(FOLDER))
    try:
        import mechanisms
        import rivals
        import rollouts
    finally:
        sys.path.remove(str(FOLDER))
    return mechanisms, rivals, rollouts


def test_quadruped_has_18_degrees_of_freedom(benchmark_modules):
    assert benchmark_modules[0].quadruped().nv == 18


@pytest.mark.parametrize("name", ["chain of 2", "chain of 5", "chain of 12", "arm, 7 joints", "quadruped, 18 dof"])
def test_engines_agree_on_every_mechanism(name, benchmark_modules):
    mechanisms, rivals, _ = benchmark_modules
    model = mechanisms.mechanisms()[name]
    state = mechanisms.random_state(model)
    text = mechanisms.mjcf(model, 1e-3)
    expected = np.asarray(hs.forward_dynamics(model, *state))
    mujoco = rivals.MuJoCo(text)
    mujoco.set_state(*state)
    for found in (mujoco.accelerations(), rivals.Pinocchio(text).accelerations(*state)):
        np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["chain of 2", "quadruped, 18 dof"])
def test_rollouts_are_those_of_mujoco(name, benchmark_modules):
    """So neither engine has contact or limits there."""
    mechanisms, rivals, rollouts = benchmark_modules
    model = mechanisms.mechanisms()[name]
    q, qd, _ = mechanisms.random_state(model)
    expected = rivals.MuJoCo(mechanisms.mjcf(model, rollouts.DT)).rollout(q, qd, 50)()[0]
    np.testing.assert_allclose(rollouts.positions(model, 50)(q, qd)[1:], expected, atol=1e-10)
