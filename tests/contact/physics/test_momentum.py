"""Bodies that meet keep their momentum together, linear and angular: contact acts on both alike."""

import jax
import numpy as np
import pytest

import hybridsim as hs

from .internals import take_apart, velocity_after
from .scenes import BY_NAME, lasting, many, start, turned, with_gravity

# Inertia the same about all axes, so that Euler's method keeps angular momentum exactly in flight.
BODIES = {
    "box and ball": [hs.solid("box", 1.0, "box", (0.1, 0.1, 0.1)), hs.solid("ball", 0.5, "sphere", 0.1)],
    "boxes": [hs.solid("box", 1.0, "box", (0.1, 0.1, 0.1)), hs.solid("other", 0.5, "box", (0.08, 0.08, 0.08))],
    "balls": [hs.solid("ball", 1.0, "sphere", 0.1), hs.solid("other", 0.5, "sphere", 0.08)],
}


CLOSING = np.linalg.norm([2.5, 0.1, -0.2])


def meeting(bodies, seed=0):
    """Two bodies that fly into each other, off centre and spinning."""
    model = hs.with_contacts(many(*BODIES[bodies], ground=False), friction=0.4, restitution=0.6, dissipation=1e4)
    model = with_gravity(model, (0, 0, 0))
    q, qd = start(model)
    rng = np.random.default_rng(seed)
    q[:3], q[7:10] = [-0.12, 0, 0], [0.12, 0.05, 0.03]
    for i in (3, 10):
        q[i : i + 4] = rng.normal(size=4)
        q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
    qd[:] = rng.normal(size=12)
    back = np.array([1.0, -1, -1, -1])
    qd[3:6] = turned(np.concatenate([np.zeros(3), back * q[3:7]]), np.array([1.5, 0.1, 0.0]))
    qd[9:12] = turned(np.concatenate([np.zeros(3), back * q[10:14]]), np.array([-1.0, 0.0, 0.2]))
    return model, q, qd


def momenta(model, path):
    every = slice(None, None, max(len(path.t) // 100, 1))
    total = jax.jit(jax.vmap(lambda q, qd: hs.momentum(model, q, qd)))(path.q[every], path.qd[every])
    return np.asarray(total.linear), np.asarray(total.angular)


@pytest.mark.parametrize("bodies", BODIES)
@pytest.mark.parametrize("contact", **BY_NAME)
def test_bodies_that_meet_keep_their_momentum(contact, bodies):
    model, q, qd = meeting(bodies)
    path = lasting(contact, 0.2)(model, q, qd)
    linear, angular = momenta(model, path)
    assert np.abs(path.qd[-1, :3] - path.qd[0, :3]).max() > 1e-2, "they did not meet"
    assert np.ptp(linear, axis=0) == pytest.approx(0, abs=1e-11)
    if isinstance(contact, hs.Springs):
        assert np.ptp(angular, axis=0) == pytest.approx(0, abs=1e-11)
        return
    # Impulses J act where bodies are at the start of the step of an impact: up to dt v_rel x J is gained.
    passed = BODIES[bodies][0].mass * np.diff(turned(path.q[:, :7], path.qd[:, 3:6]), axis=0)
    assert np.linalg.norm(np.ptp(angular, axis=0)) < 1e-3 * CLOSING * np.linalg.norm(passed, axis=1).sum()


@pytest.mark.parametrize("bodies", BODIES)
def test_impulses_keep_momentum_in_place(bodies):
    """At one configuration, to rounding."""
    model, q, qd = meeting(bodies)
    path = lasting(hs.Impulses(), 0.2)(model, q, qd)
    met = 0

    @jax.jit
    def both(q, qd):
        step = take_apart(model, q, qd)
        after = velocity_after(hs.Impulses(), step)
        return [hs.momentum(model, q, v) for v in (step.free, after)], after - step.free

    for k in range(100):
        (free, kept), change = both(path.q[k], path.qd[k])
        met += bool(np.abs(change).max() > 1e-9)
        assert np.asarray(kept.linear) == pytest.approx(np.asarray(free.linear), abs=1e-13)
        assert np.asarray(kept.angular) == pytest.approx(np.asarray(free.angular), abs=1e-13)
    assert met > 0
