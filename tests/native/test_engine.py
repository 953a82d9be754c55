"""Every function of the engine, with its first and second derivatives, natively against XLA."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

import hybridsim as hs
from gradients import mechanisms
from hybridsim import native
from hybridsim.model import WORLD
from physics import mechanisms as random_mechanisms

from .disturbance import QUICK

FUNCTIONS = {
    "forward_kinematics": lambda m, q, qd, u: hs.forward_kinematics(m, q),
    "jacobian": lambda m, q, qd, u: hs.jacobian(m, q, m.topology.link_names[-1], point=jnp.array([0.1, -0.2, 0.3])),
    "forward_dynamics": lambda m, q, qd, u: hs.forward_dynamics(m, q, qd, jnp.sin(qd)),
    "inverse_dynamics": lambda m, q, qd, u: hs.inverse_dynamics(m, q, qd, jnp.cos(qd)),
    "bias_force": lambda m, q, qd, u: hs.bias_force(m, q, qd),
    "mass_matrix": lambda m, q, qd, u: hs.mass_matrix(m, q),
    "energy": lambda m, q, qd, u: hs.energy(m, q, qd),
    "momentum": lambda m, q, qd, u: hs.momentum(m, q, qd),
    "centre_of_mass": lambda m, q, qd, u: hs.centre_of_mass(m, q),
    "configuration_rate": lambda m, q, qd, u: hs.configuration_rate(m, q, qd),
    "passive_forces": lambda m, q, qd, u: hs.passive_forces(m, q, qd),
    "acceleration": lambda m, q, qd, u: hs.acceleration(m, (q, qd), u),
    "semi-implicit step": lambda m, q, qd, u: hs.step(m, (q, qd), u, dt=1e-2),
    "implicit step": lambda m, q, qd, u: hs.step(m, (q, qd), u, dt=1e-2, integrator=hs.ImplicitDamping()),
    "Runge-Kutta step": lambda m, q, qd, u: hs.step(m, (q, qd), u, dt=1e-2, integrator=hs.RungeKutta4()),
    "rollout": lambda m, q, qd, u: hs.rollout(m, (q, qd), jnp.stack([u, -u, 0.5 * u]), dt=1e-2),
}


def numbers(tree) -> jax.Array:
    """All floats of a tree in one array."""
    leaves = [x for x in jax.tree.leaves(tree) if eqx.is_inexact_array(x)]
    return jnp.concatenate([jnp.zeros(0), *(jnp.ravel(x) for x in leaves)])


def derivatives(f, *wanted: str):
    """f's numbers and their derivative in a direction; if wanted, a gradient, and a Hessian with respect to the motion."""

    def all_of_them(model, q, qd, u):
        physical, rest = eqx.partition(model, eqx.is_inexact_array)

        def g(physical, q, qd, u):
            return numbers(f(eqx.combine(physical, rest), q, qd, u))

        def loss(*args):
            return jnp.sum(jnp.sin(g(*args)))

        at = (physical, q, qd, u)
        direction = jax.tree.map(lambda x: jnp.cos(3 * jnp.arange(x.size, dtype=x.dtype)).reshape(x.shape), at)
        results = dict(zip(("value", "tangent"), jax.jvp(g, at, direction), strict=True))
        if "gradient" in wanted:
            results["gradient"] = jax.grad(loss, argnums=(0, 1, 2, 3))(*at)
        if "hessian" in wanted:
            results["jacobian"] = jax.jacfwd(g, argnums=1)(*at)
            results["hessian"] = jax.hessian(loss, argnums=(1, 2))(*at)
        return results

    return all_of_them


def assert_agree(f, *args) -> None:
    """To 1e-12 of the largest number of each of the results (the values, the whole gradient ...).

    Derivatives that are zero but for rounding, as of a constant mass matrix, are measured by the values.
    """
    found = native.jit(f)(*args)
    arrays, rest = eqx.partition(args, eqx.is_array)
    by_xla = jax.jit(lambda a: f(*eqx.combine(a, rest)), compiler_options=QUICK)
    expected = by_xla(arrays)
    assert found.keys() == expected.keys()
    least = np.max(np.abs(expected["value"]), initial=0.0)
    for name in expected:
        x, y = (np.asarray(numbers(result[name])) for result in (expected, found))
        assert np.isfinite(x).all()
        np.testing.assert_allclose(y, x, rtol=0, atol=1e-12 * np.max(np.abs(x), initial=least), err_msg=name)


def small() -> hs.Model:
    """A free, a revolute, a prismatic and a spherical joint and one that copies another, in as few bodies as can be."""
    link = {"mass": 1.3, "com": (0.1, -0.05, 0.07), "inertia": mechanisms.INERTIA}
    joint = {"position": (0.1, 0.2, -0.3), "axis": (0.5, -1.0, 1.5), **mechanisms.PASSIVE}
    joints = [
        hs.Joint("free", "free", WORLD, "trunk"),
        hs.Joint("hinge", "revolute", "trunk", "arm", **joint),
        hs.Joint("slide", "prismatic", "trunk", "arm", **joint, mimic=hs.Mimic("hinge", ratio=0.4, offset=-0.1)),
        hs.Joint("ball", "spherical", WORLD, "bob", **joint),
    ]
    return hs.build([hs.Link(name, **link) for name in ("trunk", "arm", "bob")], joints, timestep=1e-3)


COMPOSED = ("acceleration", "semi-implicit step", "implicit step", "Runge-Kutta step", "rollout")
"""Functions that consist of other ones, some several times over."""


_QUICK = ("forward_dynamics", "inverse_dynamics", "semi-implicit step")
"""All others are made of the same parts, and take as long."""


@pytest.mark.parametrize("name", [n if n in _QUICK else pytest.param(n, marks=pytest.mark.slow) for n in FUNCTIONS])
def test_values_and_first_derivatives(name):
    model = mechanisms.hinge() if name in COMPOSED else small()
    assert_agree(derivatives(FUNCTIONS[name]), *mechanisms.moving(model).values())


@pytest.mark.parametrize("name", ["inverse_dynamics"])
def test_gradients(name):
    assert_agree(derivatives(FUNCTIONS[name], "gradient"), *mechanisms.moving(small()).values())


@pytest.mark.parametrize("name", ["forward_dynamics", "semi-implicit step"])
@pytest.mark.slow
def test_second_derivatives(name):
    args = mechanisms.moving(mechanisms.hinge()).values()
    assert_agree(derivatives(FUNCTIONS[name], "gradient", "hessian"), *args)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("mechanism", [mechanisms.hinge, small, mechanisms.gripper, mechanisms.everything])
def test_first_and_second_derivatives(mechanism, name):
    args = mechanisms.moving(mechanism()).values()
    assert_agree(derivatives(FUNCTIONS[name], "gradient", "hessian"), *args)


@pytest.mark.slow
def test_actuators_at_their_limits():
    args = mechanisms.moving(mechanisms.limited()).values()
    assert_agree(derivatives(FUNCTIONS["acceleration"], "gradient"), *args)


def random_mechanism(case) -> None:
    model = hs.build(case.spec.links, case.spec.joints)
    u = np.random.default_rng(case.seed).normal(size=model.nv)
    for name in ("acceleration", "inverse_dynamics", "mass_matrix", "momentum"):
        assert_agree(derivatives(FUNCTIONS[name], "gradient"), model, case.q, case.qd, u)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [((-1, ("spherical",)), (0, ("planar", "prismatic")))])
def test_a_random_mechanism(shape):
    random_mechanism(random_mechanisms.Case(shape, seed=3, portable=False))


@pytest.mark.slow
@settings(max_examples=50)
@given(random_mechanisms.cases(max_links=5, portable=False))
def test_many_random_mechanisms(case):
    random_mechanism(case)
