"""The experiments run, on a tiny budget, and show what they are there for."""

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.experiments import discovery, energy, motor, pendulum


@pytest.mark.slow
def test_the_damping_of_a_double_pendulum_is_found():
    before, found = discovery.find("damping", count=3, steps=20, finish=40)
    assert str(hs.blueprint_of(found.model)) == "joint.force[joint1,joint2] += MLP(joint.velocity)"
    assert str(hs.blueprint_of(before)) == "joint.force[joint1,joint2] += MLP(joint.position[*], joint.velocity[*])"
    assert found.chosen.error < 1e-2 * found.points[-1].error
    assert found.points[-1].model.augmentation is None
    assert "MLP(joint.velocity)" in str(found)


@pytest.mark.slow
def test_springs_and_coulomb_friction_are_found():
    _, found = discovery.find("springs and Coulomb friction")
    assert str(hs.blueprint_of(found.model)) == "joint.force[joint1,joint2] += MLP(joint.position, joint.velocity)"
    assert found.chosen.error < 1e-3 * found.points[-1].error


@pytest.mark.slow
def test_a_hybrid_model_needs_less_data_than_a_network_of_the_next_state():
    curve = discovery.learning_curve((2,), steps=100)
    assert curve.pruned[0] < curve.dense[0] < curve.learned[0]
    assert curve.pruned[0] < 1e-2 * curve.plain


@pytest.mark.slow
def test_only_networks_with_a_past_find_the_delay_of_a_motor():
    errors = motor.run(count=3, steps=150).errors
    assert errors["network of its last 8 samples"] < 0.2 * errors["the model alone"]
    assert errors["network of the command now"] > 0.5 * errors["the model alone"]


@pytest.mark.slow
def test_structures_gain_no_energy_where_plain_networks_do():
    cases = {(case.effect, case.network): case for case in energy.run()}
    assert np.max(cases["friction", "Dissipative"].gained) < 1e-6
    assert np.max(cases["friction", "plain"].gained) > 1
    assert np.max(cases["springs", "Conservative"].gained) < 1e-3
    assert np.max(cases["springs", "plain"].gained) > 0.05
    assert np.max(np.abs(cases["springs", "Conservative"].drift)) < np.max(np.abs(cases["springs", "plain"].drift))


def test_windows_begin_at_measured_states():
    motion = pendulum.motions(pendulum.pendulum(), 2, 0, steps=20)
    pieces = pendulum.windows(motion, 5)
    assert pieces.q.shape == (8, 6, 2)
    np.testing.assert_array_equal(pieces.q[1, 0], motion.q[0, 5])
    np.testing.assert_array_equal(pieces.q[5, -1], motion.q[1, 10])
    np.testing.assert_allclose(pendulum.errors(pendulum.pendulum(), pieces), 0, atol=1e-24)
