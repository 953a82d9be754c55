"""What a motion without friction keeps, each integrator keeps as well as theory says."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ellipk

import hybridsim as hs

AMPLITUDE = 1.5


def pendulum() -> hs.Model:
    """A point mass of 1 kg on a rod of 1 m, so its period is that of the textbook."""
    return hs.build(
        [hs.Link("bob", 1.0, (0, 0, -1.0))], [hs.Joint("pivot", "revolute", "world", "bob", axis=(0, 1, 0))]
    )


def period() -> float:
    return 4 * np.sqrt(1 / 9.81) * ellipk(np.sin(AMPLITUDE / 2) ** 2)


def energies(model, trajectory) -> np.ndarray:
    return np.asarray(jax.vmap(lambda q, qd: hs.energy(model, q, qd).total)(trajectory.q, trajectory.qd))


@pytest.mark.parametrize("dt", [0.01, 0.02])
def test_semi_implicit_euler_keeps_the_energy_bounded_for_ever(dt):
    model, steps = pendulum(), 20_000
    energy = energies(model, hs.rollout(model, (np.array([AMPLITUDE]), np.zeros(1)), dt=dt, steps=steps))
    error = np.abs(energy - energy[0])
    early, late = error[: steps // 10].max(), error[-steps // 10 :].max()
    assert late == pytest.approx(early, rel=0.01)  # It oscillates with the motion but does not grow.
    assert early < 15 * dt


def test_energy_error_of_semi_implicit_euler_is_of_first_order():
    model = pendulum()

    def worst(dt, steps):
        energy = energies(model, hs.rollout(model, (np.array([AMPLITUDE]), np.zeros(1)), dt=dt, steps=steps))
        return np.abs(energy - energy[0]).max()

    assert worst(0.01, 2_000) / worst(0.005, 2_000) == pytest.approx(2, rel=0.05)


def test_energy_drift_of_runge_kutta_is_of_fifth_order():
    """After whole periods the part of order four, which depends on the state alone, has come back to zero."""
    model, swings = pendulum(), 10

    @jax.jit
    def drift(steps_a_period):
        dt = period() / steps_a_period
        start = hs.State(jnp.array([AMPLITUDE]), jnp.zeros(1))
        step = functools.partial(hs.step, model, dt=dt, integrator=hs.RungeKutta4())
        end = jax.lax.fori_loop(0, swings * steps_a_period, lambda _, state: step(state), start)
        return hs.energy(model, *end).total - hs.energy(model, *start).total

    drifts = np.array([drift(steps) for steps in (50, 100, 200)])
    np.testing.assert_allclose(np.log2(drifts[:-1] / drifts[1:]), 5, atol=0.1)


def floating(kind: str) -> hs.Model:
    """A chain in space whose joints have springs, dampers and friction: inner forces, which keep momentum."""
    inner = {"stiffness": 0.2, "damping": 0.02, "friction": 0.01, "friction_speed": 1.0}
    return hs.chain(3, length=0.4, radius=0.15, base="free", kind=kind, axis=(1, 2, 0.5), gravity=(0, 0, 0), **inner)


def moving(model: hs.Model, seed: int = 0) -> hs.State:
    """In random motion, with random angles, five metres from the origin."""
    rng = np.random.default_rng(seed)
    q = hs.dynamics.project(model, model.rest()[0] + rng.normal(size=model.nq))
    return hs.State(q.at[:3].add(jnp.array([3.0, -4.0, 0.0])), jnp.asarray(0.5 * rng.normal(size=model.nv)))


@pytest.mark.parametrize("kind", ["revolute", "spherical", "planar"])
def test_momentum_of_a_floating_chain_has_no_rate(kind):
    model = floating(kind)

    @jax.jit
    def rate(state):
        direction = (hs.configuration_rate(model, *state), hs.acceleration(model, state))
        return jax.jvp(lambda q, qd: hs.momentum(model, q, qd), tuple(state), direction)

    momentum, change = rate(moving(model))
    for part in ("linear", "angular"):
        size = np.linalg.norm(getattr(momentum, part))
        np.testing.assert_allclose(getattr(change, part) / size, 0, atol=1e-13)


@pytest.mark.parametrize("kind", ["revolute", pytest.param("spherical", marks=pytest.mark.slow)])
def test_runge_kutta_keeps_the_momentum_of_a_floating_chain(kind):
    """Over one second to 1e-12: at this step the method's own error is below rounding."""
    model = floating(kind)
    trajectory = hs.rollout(model, moving(model), dt=2.5e-4, steps=4000, integrator=hs.RungeKutta4())
    first, last = (hs.momentum(model, *trajectory[i]) for i in (0, -1))
    for part in ("linear", "angular"):
        before, after = getattr(first, part), getattr(last, part)
        assert np.linalg.norm(after - before) < 1e-12 * np.linalg.norm(before), part


def test_a_thrown_spinning_body_keeps_its_linear_momentum_exactly_even_by_euler():
    """A centre of mass away from the origin would turn Euler's rounding into drift if it stepped in body axes."""
    body = hs.Link("stick", 2.0, inertia=(0.1, 0.2, 0.25))
    model = hs.free_body(body, gravity=(0, 0, 0))
    spinning = (model.rest()[0], np.array([1.0, 8.0, -3.0, 2.0, 0.5, -1.0]))
    trajectory = hs.rollout(model, spinning, dt=0.01, steps=1000)
    momenta = jax.vmap(lambda q, qd: hs.momentum(model, q, qd).linear)(trajectory.q, trajectory.qd)
    np.testing.assert_allclose(momenta, np.tile(momenta[0], (1001, 1)), rtol=1e-13, atol=1e-13)
