"""Derivatives of rollouts in contact against differences: a part of what `make gradients` prints."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from gradient_table import bounce
from gradient_table.jacobians import Programs, contact_models
from gradient_table.parameters import final_state
from gradient_table.scenes import bouncing, rolling
from gradient_table.table import row

MODES = 1e-5
"""Of forward against reverse mode: relative to entries that may be a thousandth of their block."""


@pytest.mark.slow
@pytest.mark.parametrize("name", contact_models())
def test_a_ball_that_rolls_and_one_that_bounces(name):
    programs = Programs(*contact_models()[name])
    for scene in (rolling(), bouncing()):
        found = row(programs, scene, name)
        assert found.right, found
        assert found.largest("modes") < MODES
        assert found.count("unresolved") < 0.1 * found.count("entries")
        assert found.count("rough") == found.count("jumps") == 0


@pytest.mark.slow
def test_the_table_finds_a_derivative_that_is_one_percent_off():
    @jax.custom_jvp
    def same(x):
        return x

    same.defjvp(lambda x, dx: (x[0], 1.01 * dx[0]))

    def wrong(groups, steps, contact, arrays, theta):
        return same(final_state(groups, steps, contact, arrays, theta))

    found = row(Programs(hs.Springs(), function=wrong), bouncing(), "wrong")
    assert not found.right
    assert found.largest("forward") == pytest.approx(0.01, rel=1e-2)
    assert found.largest("reverse") == pytest.approx(0.01, rel=1e-2)


@pytest.mark.slow
def test_a_bounce_has_the_derivative_of_its_motion_to_first_order_in_the_step():
    truth = np.array(jax.jacfwd(bounce.exact)(jnp.asarray(bounce.START)))
    errors = [b.error for b in bounce.bounces(steps=(1e-3, 2.5e-4), on_grid=False)[1:]]
    assert np.all(np.isfinite(truth))
    assert errors[0] < 0.02
    assert errors[1] < 0.4 * errors[0]
