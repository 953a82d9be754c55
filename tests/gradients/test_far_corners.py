"""Corners far from a small, dense core: contacts that are hard beside what they yield alone, and share a load."""

import jax
import numpy as np
import pytest

import hybridsim as hs

RADIUS = 0.02
"""Of gyration; corners are up to 20 times as far from the centre of mass [m]."""
MASS, SIZE, COM = 0.006, (0.37, 0.11, 0.1), (0.09, -0.04, 0.0)
CORE = hs.Link("core", MASS, COM, np.full(3, MASS * RADIUS**2), [hs.Geom("box", SIZE)])
MODEL = hs.world(hs.free_body(CORE), hs.ground())


def after(friction):
    """Velocity after a step in which it slides and turns on four corners."""
    model = hs.with_contacts(MODEL, friction=friction)
    q = np.array([0.0, 0.0, SIZE[2], 1.0, 0.0, 0.0, 0.0])
    qd = np.array([0.0, 0.0, 0.05, 1.0, 0.02, 0.0])
    return hs.step(model, (q, qd), dt=2.5e-3, contact=hs.Impulses(tolerance=1e-13)).qd


def test_the_derivative_of_how_the_corners_share_the_load():
    """It shows in the turning, about which the loads' friction has moments."""
    run, mu, h = jax.jit(after), 0.1, 1e-4
    slope = np.asarray(run(mu + h) - run(mu - h)) / (2 * h)
    assert abs(slope[2]) > 1e-5
    found = np.asarray(jax.jvp(after, (mu,), (1.0,))[1])
    assert found == pytest.approx(slope, rel=1e-4, abs=1e-6 * np.abs(slope).max())
