"""Each friction law is the formula of TDS, opposes sliding, and keeps its bounds."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hybridsim.contact.spring import Andersson, BrownMcPhee, Coulomb, Frictionless, Hollars

from .laws import FRICTION, SLIDING, numbers

SPEEDS = [0.0, 1e-6, 1e-4, 3e-3, 0.00999, 0.01, 0.0101, 0.017, 0.05, 0.3, 1.0, 2.5, 40.0]
COEFFICIENTS = [(0.4, 0.5), (0.5, 0.5), (0.1, 0.9), (1.2, 1.3)]


# Written from the table of formulas of the papers' engine, on Python's numbers, for one point.
def andersson(v, mu, mu_s, vt, vs, p, ktanh):
    return (mu + (mu_s - mu) * math.exp(-((abs(v) / vs) ** p))) * math.tanh(ktanh * v)


def hollars(v, mu, mu_s, vt):
    s = v / vt
    return min(s, 1) * (mu + 2 * (mu_s - mu) / (1 + s**2))


def brown(v, mu, mu_s, vt, epsilon):
    s = v / vt
    return mu * math.tanh(4 * s + epsilon) + (mu_s - mu) * s / (s**2 / 4 + 3 / 4) ** 2


FORMULAS = {
    "coulomb": (Coulomb(), lambda v, mu, mu_s, vt: mu * math.tanh(v / vt)),
    "andersson": (Andersson(), lambda *a: andersson(*a, 1, 1, 1)),
    "andersson, own numbers": (Andersson(vs=0.3, p=1.7, ktanh=20.0), lambda *a: andersson(*a, 0.3, 1.7, 20.0)),
    "hollars": (Hollars(), hollars),
    "brown": (BrownMcPhee(), lambda *a: brown(*a, 0.0)),
    "brown of TDS": (BrownMcPhee(offset=1e-3), lambda *a: brown(*a, 1e-3)),
    "none": (Frictionless(), lambda *_: 0.0),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("transition", [0.01, 0.2])
def test_formula(name, transition):
    law, formula = FORMULAS[name]
    for mu, mu_s in COEFFICIENTS:
        pair = numbers(len(SPEEDS), friction=mu, static_friction=mu_s, transition_speed=transition)
        expected = [formula(v, mu, mu_s, transition) for v in SPEEDS]
        np.testing.assert_allclose(law.ratio(jnp.array(SPEEDS), pair), expected, rtol=1e-14, atol=1e-300)


def test_coulomb_of_fast_sliding_is_that_of_tds():
    """Which is mu sign(v)."""
    assert Coulomb().ratio(jnp.array([0.3]), numbers()) == pytest.approx(0.4, rel=1e-14)


@pytest.mark.parametrize("name", FRICTION)
def test_nothing_at_rest(name):
    assert FRICTION[name].ratio(jnp.zeros(1), numbers())[0] == 0


def test_offset_of_tds_is_a_force_at_rest():
    assert BrownMcPhee(offset=1e-3).ratio(jnp.zeros(1), numbers())[0] == pytest.approx(0.4 * math.tanh(1e-3))


@pytest.mark.parametrize("name", SLIDING)
def test_between_zero_and_the_static_level(name):
    """With a static coefficient that is not below the sliding one, all laws promise this."""
    speeds = jnp.geomspace(1e-9, 1e3, 4001)
    for mu, mu_s in COEFFICIENTS:
        ratio = SLIDING[name].ratio(speeds, numbers(len(speeds), friction=mu, static_friction=mu_s))
        assert ratio.min() > 0
        assert ratio.max() <= max(mu, mu_s) * (1 + 1e-15)
        assert ratio[-1] == pytest.approx(mu, rel=1e-5)


@pytest.mark.parametrize("name", ["coulomb", "hollars", "brown"])
def test_level_at_the_transition_speed(name):
    """Hollars is at the static level, Brown and McPhee all but, with tanh(4) for 1; Coulomb is at tanh(1)."""
    level = {"coulomb": 0.4 * math.tanh(1), "hollars": 0.5, "brown": 0.4 * math.tanh(4) + 0.1}
    assert SLIDING[name].ratio(jnp.array([0.01]), numbers())[0] == pytest.approx(level[name], rel=1e-14)


@pytest.mark.parametrize("name", SLIDING)
def test_slope_at_rest(name):
    """The closed forms, by differentiating the formulas by hand."""
    mu, mu_s, vt = 0.4, 0.5, 0.01
    slope = {
        "coulomb": mu / vt,
        "andersson": mu_s,
        "andersson, sharp": mu_s * 100,
        "hollars": (2 * mu_s - mu) / vt,
        "brown": (4 * mu + (mu_s - mu) * 16 / 9) / vt,
    }
    found = jax.grad(lambda v: SLIDING[name].ratio(v[None], numbers())[0])(1e-12)
    assert found == pytest.approx(slope[name], rel=1e-9)
