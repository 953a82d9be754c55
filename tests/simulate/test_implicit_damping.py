"""Damping and friction that act on the new velocity: stable however strong they are."""

import jax
import numpy as np
import pytest

import hybridsim as hs

DT = 0.01


def test_one_step_solves_the_implicit_equation():
    """(M + dt D) qd' = M qd + dt (forces without damping), with M and the forces from other algorithms."""
    model = hs.chain(2, damping=30.0, stiffness=4.0, armature=0.1)
    q, qd = np.random.default_rng(0).normal(size=(2, 2))
    M, D = hs.mass_matrix(model, q), np.diag(model.joints.damping)
    forces = hs.passive_forces(model, q, np.zeros(2)) - hs.bias_force(model, q, qd)
    expected = np.linalg.solve(M + DT * D, M @ qd + DT * forces)
    after = hs.step(model, (q, qd), dt=DT, integrator=hs.ImplicitDamping())
    np.testing.assert_allclose(after.qd, expected, rtol=1e-12)
    np.testing.assert_allclose(after.q, q + DT * after.qd, rtol=1e-15)


def test_damping_of_a_million_is_stable_where_euler_explodes():
    model = hs.chain(3, damping=1e6)
    state = (np.array([0.5, -0.3, 0.8]), np.array([1.0, -2.0, 3.0]))
    calm = hs.rollout(model, state, dt=DT, steps=100, integrator=hs.ImplicitDamping())
    assert np.abs(calm.qd[1:]).max() < 1e-3  # Of order weight / damping.
    with pytest.raises(hs.DivergedError):
        hs.rollout(model, state, dt=DT, steps=100, check=True)


@pytest.mark.parametrize("friction", [1.0, 1e3, 1e8])
def test_friction_brakes_but_never_reverses(friction):
    puck = hs.Link("puck", 1.0, inertia=0.1)
    model = hs.build([puck], [hs.Joint("slide", "prismatic", "world", "puck", axis=(1, 0, 0), friction=friction)])

    def speeds(integrator):
        def slide(v):
            return hs.rollout(model, (np.zeros(1), v), dt=DT, steps=100, integrator=integrator).qd[:, 0]

        return np.asarray(jax.vmap(slide)(np.array([[-5.0], [-1e-3], [1e-6], [0.02], [3.0]])))

    implicit = speeds(hs.ImplicitDamping())
    assert np.all(implicit * np.sign(implicit[:, :1]) >= 0)
    assert np.all(np.abs(np.diff(np.abs(implicit))) <= np.abs(implicit[:, :-1]))
    assert np.all(np.diff(np.abs(implicit)) <= 0)
    if friction > 10:
        assert np.any(speeds(hs.SemiImplicitEuler()) * np.sign(implicit[:, :1]) < 0)  # So this test can fail.


def test_without_damping_it_is_semi_implicit_euler():
    model = hs.chain(2, stiffness=3.0)
    state = (np.array([0.5, -0.3]), np.array([1.0, -2.0]))
    implicit = hs.step(model, state, dt=DT, integrator=hs.ImplicitDamping())
    explicit = hs.step(model, state, dt=DT)
    np.testing.assert_allclose(implicit.qd, explicit.qd, rtol=1e-14)
