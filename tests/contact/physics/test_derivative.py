"""The derivative of converged impulses is that of many sweeps."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs

from .scenes import alone, start

CASES = {
    "sticks": (0.9, [0.1, 0.05, 0, 0.02, 0.01, -0.3]),
    "slides": (0.2, [0.5, -0.3, 0.2, 1.5, -0.8, -0.3]),
    "bounces": (0.3, [0.5, 0.4, 0.2, 0.8, 0.4, -1.0]),
}


def _after(model, q, qd, friction, mass, contact):
    changed = eqx.tree_at(lambda m: (m.contacts.friction, m.links.mass), model, (friction, mass))
    state = hs.step(changed, (q, qd), dt=1e-3, contact=contact)
    return jnp.concatenate([state.q, state.qd])


_derivative = jax.jit(jax.jacfwd(_after, argnums=(1, 2, 3, 4)), static_argnums=5)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_implicit_equals_many_sweeps(case):
    """A capsule that lies on the ground: of the state after one step, by state, friction and mass."""
    friction, qd = CASES[case]
    model = alone("capsule", (0.1, 0.2), friction=friction, restitution=0.5 if case == "bounces" else 0.0)
    q, _ = start(model)
    q[2:] = [0.1 - 1e-5, 0.5**0.5, 0, 0.5**0.5, 0]
    arguments = (model, q, np.array(qd), np.asarray(model.contacts.friction), np.asarray(model.links.mass))
    contacts = (hs.Impulses(tolerance=1e-14), hs.Impulses(200, 0.0, derivative="sweeps"))
    for implicit, through in zip(*(_derivative(*arguments, contact) for contact in contacts), strict=True):
        scale = max(1.0, np.abs(through).max())
        assert np.asarray(implicit) == pytest.approx(np.asarray(through), abs=1e-5 * scale)
