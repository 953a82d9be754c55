"""The algorithms fit together: M(q) qdd + h(q, qd) = tau + J^T wrench, whichever of them one asks."""

import jax
import numpy as np
from hypothesis import given

from hybridsim.dynamics import bias_force, energy, forward_dynamics, inverse_dynamics, jacobian, mass_matrix

from ..evaluate import evaluate
from ..mechanisms import cases, thoroughly
from .models import model_of, relative


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_forward_dynamics_undo_inverse_dynamics(case):
    def there_and_back(model, q, qd, qdd):
        return forward_dynamics(model, q, qd, inverse_dynamics(model, q, qd, qdd))

    found = evaluate(there_and_back, model_of(case), case.q, case.qd, case.qdd)
    assert relative(found - case.qdd, case.qdd) < 1e-9


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_forward_dynamics_solve_the_equation_of_motion(case):
    def terms(model, q, qd, tau):
        return mass_matrix(model, q) @ forward_dynamics(model, q, qd, tau), bias_force(model, q, qd)

    inertial, bias = evaluate(terms, model_of(case), case.q, case.qd, case.tau)
    assert relative(inertial + bias - case.tau, inertial, bias, case.tau) < 1e-9


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_mass_matrix_is_the_derivative_of_force_by_acceleration(case):
    model = model_of(case)
    slope = evaluate(lambda qdd: jax.jacfwd(inverse_dynamics, argnums=3)(model, case.q, case.qd, qdd), case.qdd)
    M = evaluate(mass_matrix, model, case.q)
    assert relative(slope - M, M) < 1e-9


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_mass_matrix_is_symmetric_and_positive(case):
    M = evaluate(mass_matrix, model_of(case), case.q)
    assert relative(M - M.T, M) < 1e-14
    assert np.all(np.linalg.eigvalsh(M) > 0)


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_kinetic_energy_is_half_the_mass_matrix_between_velocities(case):
    def both(model, q, qd):
        return energy(model, q, qd).kinetic, qd @ mass_matrix(model, q) @ qd / 2

    kinetic, expected = evaluate(both, model_of(case), case.q, case.qd)
    assert relative(kinetic - expected, expected) < 1e-9


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_a_wrench_acts_through_the_jacobian(case):
    """Forward and inverse dynamics with a wrench on a link are those with the joint force J^T wrench."""
    link = case.spec.links[0].name
    wrench = np.random.default_rng(case.seed).normal(scale=5.0, size=6)

    def pairs(model, q, qd, qdd, tau):
        through = jacobian(model, q, link).T @ wrench
        pushed = forward_dynamics(model, q, qd, tau, {link: wrench}), forward_dynamics(model, q, qd, tau + through)
        held = inverse_dynamics(model, q, qd, qdd, {link: wrench}), inverse_dynamics(model, q, qd, qdd) - through
        return pushed, held

    for found, expected in evaluate(pairs, model_of(case), case.q, case.qd, case.qdd, case.tau):
        assert relative(found - expected, expected) < 1e-9
