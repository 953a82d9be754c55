"""Each integrator converges with its order, on joints whose configuration is flat and on those where it is curved."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.model import WORLD

LINK = (1.0, (0.1, -0.1, -0.3), (0.03, 0.04, 0.05, 0.002, -0.003, 0.004))
DURATION = 0.5
SPRING = {"stiffness": 2.0, "damping": 0.3}


def zoo() -> hs.Model:
    """Three mechanisms side by side, so that one compiled program serves all: arm, ball joint, tumbling body."""
    joints = [
        hs.Joint("upper", "revolute", WORLD, "upper", axis=(0, 1, 0), **SPRING),
        hs.Joint("lower", "revolute", "upper", "lower", position=(0, 0, -0.5), axis=(1, 1, 0), **SPRING),
        hs.Joint("ball", "spherical", WORLD, "ball", **SPRING),
        hs.Joint("free", "free", WORLD, "free", **SPRING),
    ]
    return hs.build([hs.Link(name, *LINK) for name in ("upper", "lower", "ball", "free")], joints)


MODEL = zoo()
MECHANISMS = {"revolute": ("upper", "lower"), "spherical": ("ball",), "free": ("free",)}
INTEGRATORS = {
    "semi-implicit Euler": (hs.SemiImplicitEuler(), 1, [64, 128, 256, 512]),
    "implicit damping": (hs.ImplicitDamping(), 1, [64, 128, 256, 512]),
    "Runge-Kutta 4": (hs.RungeKutta4(), 4, [32, 64, 128, 256]),
}


@functools.cache
def program(name: str):
    """The final state for any number of steps; the number is traced, so this compiles once."""
    integrator = INTEGRATORS[name][0]

    def final(state, steps):
        dt = DURATION / steps
        return jax.lax.fori_loop(0, steps, lambda _, s: hs.step(MODEL, s, dt=dt, integrator=integrator), state)

    return jax.jit(final)


def start() -> hs.State:
    q, qd = MODEL.rest()
    rng = np.random.default_rng(0)
    return hs.State(jnp.asarray(q), jnp.asarray(qd + 2 * rng.normal(size=qd.shape)))


@functools.cache
def errors(name: str) -> dict[str, np.ndarray]:
    """Of each mechanism, the error of the final state for each number of steps."""
    exact = program("Runge-Kutta 4")(start(), 2048)
    found = [program(name)(start(), steps) for steps in INTEGRATORS[name][2]]

    def error(joints, state):
        of = [
            (state.q[MODEL.q_of(j)] - exact.q[MODEL.q_of(j)], state.qd[MODEL.v_of(j)] - exact.qd[MODEL.v_of(j)])
            for j in joints
        ]
        return np.linalg.norm(np.concatenate([x for pair in of for x in pair]))

    return {kind: np.array([error(joints, state) for state in found]) for kind, joints in MECHANISMS.items()}


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("name", INTEGRATORS)
def test_error_falls_with_the_order_of_the_integrator(name, kind):
    slopes = np.log2(errors(name)[kind][:-1] / errors(name)[kind][1:])
    order = INTEGRATORS[name][1]
    assert slopes[-1] == pytest.approx(order, abs=0.02 * order), slopes
    assert abs(slopes[-1] - order) < abs(slopes[0] - order) + 0.02, slopes


@pytest.mark.parametrize("name", INTEGRATORS)
def test_quaternions_keep_unit_length(name):
    end = program(name)(start(), 16)
    for joint in ("ball", "free"):
        np.testing.assert_allclose(np.linalg.norm(end.q[MODEL.q_of(joint)][-4:]), 1, atol=1e-15)
