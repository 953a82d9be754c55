"""A ball meets the ground: simulated impacts against Hunt and Crossley's theory.

Without gravity, and with b = d/k, the equation m y dy/dx = -k x^n (1 + b y) of depth x and speed y separates. Both
the greatest depth and the speed after the impact, e v, have closed forms for any n, and the latter does not know n.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from hybridsim.contact.spring import HuntCrossley

from .laws import NORMAL, numbers

MASS = 0.8


def simulate(law, pair, speed, gravity=0.0, height=0.0, until=10.0, events=()):
    """Depth and its rate, from a height and downward speed."""
    force = jax.jit(lambda x, y: law(x[None], y[None], pair)[0])

    def rate(_, state):
        return [state[1], gravity - float(force(*state)) / MASS]

    start = [-height, speed]
    return solve_ivp(rate, (0, until), start, method="DOP853", rtol=1e-10, atol=1e-13, events=events, max_step=0.01)


def impact(law, pair, speed):
    """Speed ratio and greatest depth."""

    def leaves(_, state):
        return state[0] + (1e-30 if state[1] > 0 else 0.0)

    def turns(_, state):
        return state[1]

    leaves.terminal, leaves.direction = True, -1
    path = simulate(law, pair, speed, events=(leaves, turns))
    assert path.status == 1
    return -path.y[1, -1] / speed, path.y_events[1][0][0]


def restitution(b, v):
    """The root of b v (1 + e) = log((1 + b v)/(1 - b e v)) other than e = -1."""
    return brentq(lambda e: np.log1p(b * v) - np.log1p(-b * e * v) - b * v * (1 + e), 1e-9, min(1, 1 / (b * v)) - 1e-12)


@pytest.mark.parametrize("n", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("b", [0.02, 0.5, 3.0])
def test_restitution_and_depth_of_the_theory(n, b):
    k, v = 4e4, 0.7
    e, depth = impact(HuntCrossley(), numbers(stiffness=k, dissipation=b * k, exponent=n), v)
    assert e == pytest.approx(restitution(b, v), rel=1e-6)
    deepest = (MASS * (n + 1) / k * (v / b - np.log1p(b * v) / b**2)) ** (1 / (n + 1))
    assert depth == pytest.approx(deepest, rel=1e-6)


@pytest.mark.parametrize("n", [1.5, 2.0])
def test_slow_impacts_lose_in_proportion_to_their_speed(n):
    """e = 1 - (2/3)(d/k) v (Hunt and Crossley, to first order)."""
    k, d = 4e4, 2e4
    for v in (0.002, 0.01):
        e, _ = impact(HuntCrossley(), numbers(stiffness=k, dissipation=d, exponent=n), v)
        assert 1 - e == pytest.approx(2 / 3 * d / k * v, rel=2 * d / k * v)


def test_without_dissipation_all_speed_returns():
    for name in ("hard", "sigmoid", "rational"):
        assert impact(NORMAL[name], numbers(dissipation=0.0), 0.6)[0] == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("name", ["hard", "sigmoid", "rational", "adhesive"])
def test_restitution_falls_with_dissipation(name):
    found = [impact(NORMAL[name], numbers(dissipation=d), 0.5)[0] for d in (0.0, 1e3, 1e4, 5e4, 5e5)]
    assert np.all(np.diff(found) < -1e-3)
    assert found[-1] > 0


def test_the_papers_rebound_is_nearly_dead():
    """TDS's exponent of separation takes far more speed than the formula of Hunt and Crossley."""
    assert impact(NORMAL["as in TDS"], numbers(), 0.5)[0] < 0.5 * impact(NORMAL["adhesive"], numbers(), 0.5)[0]


@pytest.mark.parametrize("name", ["hard", "sigmoid", "exponential", "adhesive"])
def test_a_dropped_ball_only_loses_energy(name):
    """And comes to rest where the spring carries its weight. The energy of the spring is its force's integral."""
    law, g = NORMAL[name], 9.81
    stiffness = 1.0 if name == "exponential" else 2e3
    pair = numbers(stiffness=stiffness, dissipation=4e3)
    path = simulate(law, pair, 0.0, gravity=g, height=0.1, until=3.0)
    depth, speed = path.y
    grid = jnp.linspace(-0.5, 0.5, 200_001)
    push = np.asarray(law(grid, jnp.zeros_like(grid), numbers(len(grid), stiffness=stiffness)))
    stored = np.concatenate([[0], np.cumsum((push[1:] + push[:-1]) / 2)]) * (grid[1] - grid[0])
    energy = MASS * speed**2 / 2 - MASS * g * depth + np.interp(depth, grid, stored)
    assert np.diff(energy).max() < 1e-7
    assert energy[0] - energy[-1] > 0.1
    assert law(jnp.array(depth[-1:]), jnp.zeros(1), pair)[0] == pytest.approx(MASS * g, rel=0.1)
