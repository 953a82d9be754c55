"""Numbers of pairs with different contact models, identified together."""

import numpy as np
import pytest

import hybridsim as hs

from .scenes import DT, PUSH, approaching, pushed, resting_depth

STEPS = 60


def test_friction_of_springs_and_restitution_of_impulses_are_found():
    """A push in which the tip bounces off the box, and the box slides; the soft pair alone has friction that matters."""
    true = hs.with_contacts(pushed(), friction=[0.0, 0.35], restitution=[0.4, 0.0])
    start = approaching(true, 1.0, gap=2e-3, depth=resting_depth())
    start[1][true.v_of("root")] = 0.05, 0.04, 0.3, 0.1, 0.2, 0.0
    path = hs.native.jit(lambda q, qd: hs.rollout(true, (q, qd), dt=DT, steps=STEPS, contact=PUSH))(*start)
    log = hs.Trajectory(np.asarray(path.t), np.asarray(path.q), np.asarray(path.qd))
    guess = hs.with_contacts(true, friction=[0.0, 0.2], restitution=[0.1, 0.0])
    free = ["contact/*/ground/friction", "contact/tip*/restitution"]
    options = {"window": STEPS * DT, "start": "measured", "contact": PUSH}
    found = hs.fit(guess, [log], free, **options)
    assert found.model.contacts.friction[1] == pytest.approx(0.35, rel=1e-3)
    assert found.model.contacts.restitution[0] == pytest.approx(0.4, rel=1e-3)
    errors = [hs.evaluate(model, [log], STEPS * DT, contact=PUSH).median for model in (guess, found.model)]
    assert errors[1] < 1e-3 * errors[0]
