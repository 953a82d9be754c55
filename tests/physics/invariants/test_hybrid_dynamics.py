"""Hybrid dynamics: some accelerations are given, the others follow from forces, and both belong to one inverse dynamics."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from hypothesis import assume, given

import hybridsim as hs
from hybridsim.dynamics import configuration, expand_q, forward_dynamics, inverse_dynamics, mass_root
from hybridsim.dynamics.mechanism import assemble
from hybridsim.model import Model, build_spec

from ..evaluate import evaluate
from ..mechanisms import cases, random_case, thoroughly
from .models import model_of, relative
from .test_mimic import coupled


def some_prescribed(model: Model, seed: int) -> Model:
    """About a third of the joints that move; at least one, and where there are several not all."""
    topology, rng = model.topology, np.random.default_rng([seed, 77])
    able = [n for n, k, m in zip(model.joint_names, topology.kinds, topology.mimics, strict=True) if k.nv and m < 0]
    chosen = [name for name in able if rng.uniform() < 1 / 3] or able[:1]
    return hs.prescribed(model, chosen[: max(len(able) - 1, 1)])


def check_against_inverse_dynamics(model: Model, q, qd, tau, seed: int) -> None:
    given = np.random.default_rng([seed, 78]).normal(scale=3.0, size=len(model.topology.prescribed_v))

    def there_and_back(model, q, qd, tau, given):
        qdd = forward_dynamics(model, q, qd, tau, prescribed=given)
        return qdd, inverse_dynamics(model, q, qd, qdd)

    qdd, force = evaluate(there_and_back, model, q, qd, tau, given)
    yields = model.topology.yields
    assert np.array_equal(qdd[~yields], given)
    assert relative((force - tau)[yields], force, tau) < 1e-9


@thoroughly(examples=8)
@given(case=cases(portable=False, max_links=12))
def test_free_joints_obey_their_forces_and_prescribed_ones_their_data(case):
    assume({kind for _, kinds in case.shape for kind in kinds} != {"fixed"})
    model = some_prescribed(model_of(case), case.seed)
    check_against_inverse_dynamics(model, case.q, case.qd, case.tau, case.seed)


@thoroughly(examples=6)
@given(case=cases(portable=False, max_links=10))
def test_joints_that_copy_prescribed_ones_follow(case):
    spec = coupled(case.spec, np.random.default_rng(case.seed))
    model = some_prescribed(build_spec(spec), case.seed)
    rng = np.random.default_rng([case.seed, 79])
    q = hs.initial_state(model).q  # rest is a random configuration in these cases
    check_against_inverse_dynamics(
        model, np.asarray(q), rng.normal(size=model.nv), rng.normal(size=model.nv), case.seed
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_response_to_impulses_is_the_inverse_of_the_mass_matrix_of_free_freedoms(seed):
    """For contact, a square root: velocities(of_force(tau)) = M_ff^-1 tau_f, and zero at prescribed freedoms."""
    case = random_case(seed, links=6, portable=False)
    model = some_prescribed(model_of(case), seed)

    def response(model, q, tau):
        mechanism = assemble(model)
        root = mass_root(mechanism, configuration(mechanism, expand_q(mechanism, q)))
        return root.velocities(root.of_force(tau)), hs.mass_matrix(model, q)

    change, M = evaluate(response, model, case.q, case.tau)
    yields = model.topology.yields
    expected = np.zeros(model.nv)
    expected[yields] = np.linalg.solve(M[np.ix_(yields, yields)], case.tau[yields])
    assert relative(change - expected, expected) < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_derivatives_by_everything_agree_with_differences(seed):
    case = random_case(seed + 10, links=4, portable=False)
    model = some_prescribed(model_of(case), seed)
    given = np.random.default_rng(seed).normal(size=len(model.topology.prescribed_v))

    def qdd(mass, q, qd, tau, given):
        changed = replace(model, links=replace(model.links, mass=mass))
        return forward_dynamics(changed, q, qd, tau, prescribed=given)

    arguments = np.asarray(model.links.mass), case.q, case.qd, case.tau, given
    rng = np.random.default_rng(seed)
    direction = tuple(rng.normal(size=x.shape) for x in arguments)
    _, forward = jax.jvp(qdd, arguments, direction)
    weights = rng.normal(size=forward.shape)
    pulled = jax.vjp(qdd, *arguments)[1](weights)
    assert np.isclose(weights @ forward, sum(np.sum(a * b) for a, b in zip(pulled, direction, strict=True)), rtol=1e-9)
    h = 1e-5
    ahead, behind = (qdd(*(x + s * h * d for x, d in zip(arguments, direction, strict=True))) for s in (1, -1))
    assert relative((ahead - behind) / (2 * h) - forward, forward) < 1e-5
