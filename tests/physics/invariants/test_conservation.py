"""Energy changes by the power of the forces, momentum only by forces from outside: along the exact motion, at an instant."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given

from hybridsim.dynamics import bias_force, centre_of_mass, configuration_rate, energy, forward_dynamics, momentum
from hybridsim.model import WORLD, build_spec
from hybridsim.simulate import passive_forces

from ..evaluate import evaluate
from ..mechanisms import Case, cases, layout, thoroughly
from .models import model_of, relative


def rate_along_motion(quantity, model, q, qd, qdd):
    """d/dt quantity(q, qd) where the motion has the acceleration qdd."""
    return jax.jvp(quantity, (q, qd), (configuration_rate(model, q, qd), qdd))[1]


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_energy_changes_by_the_power_of_the_joint_forces(case):
    def rate(model, q, qd, tau):
        qdd = forward_dynamics(model, q, qd, tau)
        return rate_along_motion(lambda q, qd: energy(model, q, qd).total, model, q, qd, qdd), bias_force(model, q, qd)

    found, bias = evaluate(rate, model_of(case, stiffness=0.0), case.q, case.qd, case.tau)
    scale = np.linalg.norm(case.qd) * (np.linalg.norm(bias) + np.linalg.norm(case.tau))
    assert relative(found - case.tau @ case.qd, scale) < 1e-9


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_springs_store_the_work_done_on_them(case):
    """With springs but no damping, energy changes by the power of the other forces alone."""

    def rate(model, q, qd, tau):
        passive = passive_forces(model, q, qd)
        qdd = forward_dynamics(model, q, qd, tau + passive)
        return rate_along_motion(lambda q, qd: energy(model, q, qd).total, model, q, qd, qdd), passive

    found, passive = evaluate(rate, model_of(case, damping=0.0), case.q, case.qd, case.tau)
    scale = np.linalg.norm(case.qd) * (np.linalg.norm(passive) + np.linalg.norm(case.tau))
    assert relative(found - case.tau @ case.qd, scale) < 1e-9


def floating(one: Case) -> Case:
    """A case like this with every root on a free joint without a rotor, so that nothing touches the world."""
    shape = tuple((parent, ("free",) if parent == -1 else kinds) for parent, kinds in one.shape)
    loose = Case(shape, one.seed, portable=False)
    joints = [replace(j, armature=0.0) if j.parent == WORLD else j for j in loose.spec.joints]
    return loose.but(spec=replace(loose.spec, joints=joints))


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_momentum_of_a_floating_mechanism_is_constant(case):
    """Whatever the forces in its joints, where there is no gravity and no force on the free joints."""
    case = floating(case)
    inner = case.tau.copy()
    for joint, _, v in layout(case.spec):
        inner[v] *= joint.parent != WORLD

    def rate(model, q, qd, tau):
        def both(q, qd):
            h = momentum(model, q, qd)
            return jnp.concatenate([h.angular, h.linear])

        return rate_along_motion(both, model, q, qd, forward_dynamics(model, q, qd, tau)), bias_force(model, q, qd)

    found, bias = evaluate(rate, model_of(case, gravity=(0.0, 0.0, 0.0)), case.q, case.qd, inner)
    assert relative(found, bias, inner) < 1e-9


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_momentum_is_the_mass_times_the_velocity_of_its_centre(case):
    case = floating(case)

    def both(model, q, qd):
        velocity = jax.jvp(lambda q: centre_of_mass(model, q), (q,), (configuration_rate(model, q, qd),))[1]
        return momentum(model, q, qd).linear, jnp.sum(model.links.mass) * velocity

    found, expected = evaluate(both, build_spec(case.spec), case.q, case.qd)
    assert relative(found - expected, expected) < 1e-9
