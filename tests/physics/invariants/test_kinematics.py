"""Jacobians are the derivatives of poses along the motion."""

import jax
import numpy as np
from hypothesis import given

from hybridsim.dynamics import configuration_rate, forward_kinematics, jacobian

from ..evaluate import evaluate
from ..mechanisms import cases, thoroughly
from .models import model_of, relative


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_jacobian_times_velocity_is_the_velocity_of_the_link(case):
    link, point = case.spec.links[-1].name, np.array([0.1, -0.2, 0.3])

    def motion(model, q, qd):
        pose, rate = jax.jvp(lambda q: forward_kinematics(model, q)[link], (q,), (configuration_rate(model, q, qd),))
        return pose, rate, jacobian(model, q, link) @ qd, jacobian(model, q, link, point) @ qd

    pose, rate, at_origin, at_point = evaluate(motion, model_of(case), case.q, case.qd)
    spin = rate.rotation @ pose.rotation.T  # The matrix of the angular velocity: dR/dt = [w] R.
    angular = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    assert relative(spin + spin.T, spin) < 1e-9
    assert relative(at_origin - np.concatenate([angular, rate.position]), at_origin) < 1e-9
    moved = rate.position + rate.rotation @ point
    assert relative(at_point - np.concatenate([angular, moved]), at_point) < 1e-9


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_rotations_stay_rotations(case):
    poses = evaluate(forward_kinematics, model_of(case), case.q)
    for link in case.spec.links:
        R = poses[link.name].rotation
        assert relative(R @ R.T - np.eye(3), np.eye(3)) < 1e-13
        assert np.linalg.det(R) > 0
