"""Planar pushing as in the papers: a plate with a grid of springs under it, and a steel cylinder that pushes by impulses."""

import warnings

import jax
import numpy as np
import pytest

import hybridsim as hs

G, DT, SPEED = 9.81, 5e-4, 0.05
MASS, MU = 0.8374, 0.3
SIDE, THICKNESS, RADIUS = 0.09, 0.013, 0.00475
CORNERS = SIDE / 2 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
RULES = hs.ContactByPair(
    {("tip*", "plate*"): hs.Impulses(), ("grid", "ground"): hs.Springs(hs.HuntCrossley(), hs.Coulomb())}
)


def scene(spacing: float, side: float):
    """The tip moves along x on a rail, `side` beside the centre of the plate. It is so heavy that nothing slows it down."""
    inertia = MASS * SIDE**2 / 6
    grid = hs.contact_grid(CORNERS, -THICKNESS / 2, spacing)
    outline = hs.Geom("prism", size=THICKNESS / 2, points=np.column_stack([CORNERS, np.zeros(4)]), name="plate_outline")
    plate = hs.free_body(hs.Link("plate", MASS, inertia=(inertia / 2, inertia / 2, inertia), geoms=[grid, outline]))
    rail = hs.Joint("rail", "prismatic", "world", "tip", axis=(1, 0, 0), position=(0, side, THICKNESS / 2))
    tip = hs.build([hs.solid("tip", 1e4, "cylinder", (RADIUS, 0.05))], [rail])
    pairs = [("tip", "plate_outline"), ("grid", "ground")]
    # The stiffness of the whole patch, whatever the spacing: it carries the plate 0.1 mm deep.
    stiffness = MASS * G / 1e-4**1.5
    numbers = {"friction": [0.2, MU], "transition_speed": 0.005, "stiffness": stiffness, "dissipation": stiffness}
    with warnings.catch_warnings():
        # Before pairs are chosen: contact of the tip with the grid need not be known.
        warnings.simplefilter("ignore", hs.ModelWarning)
        world = hs.world(plate, tip, hs.ground())
    model = hs.with_contacts(world, pairs, **numbers)
    q, qd = model.rest()
    q[:3] = 0, 0, THICKNESS / 2 - 1e-4
    q[7], qd[6] = -SIDE / 2 - RADIUS - 1e-4, SPEED
    return model, q, qd


RECORD = ("contact.normal_force", "contact.friction_force")
RUN = hs.native.jit(lambda m, q, qd: hs.rollout(m, (q, qd), dt=DT, steps=400, contact=RULES, record=RECORD))
POINTS = 9
"""On the ground."""


def yaw(q):
    return 2 * np.arctan2(q[..., 6], q[..., 3])


def test_a_push_through_the_centre_needs_the_force_of_friction():
    """mu times the load, while the plate slides with the tip and does not turn."""
    path = RUN(*scene(0.04, 0.0))
    assert np.abs(yaw(path.q)).max() < 1e-6
    assert path.qd[200:, 3] == pytest.approx(SPEED, rel=2e-3)
    load, rubbing = (np.asarray(path.values[name])[200:] for name in RECORD)
    # The plate tilts a little as it is pushed, so that the tip rubs along it and presses it down.
    carried = load[:, -POINTS:].sum(1)
    assert carried == pytest.approx(MASS * G + rubbing[:, :-POINTS, 2].sum(1), rel=0.02)
    assert rubbing[:, -POINTS:, 0].sum(1) == pytest.approx(-MU * carried, rel=1e-3)
    assert load[:, :-POINTS].sum(1) == pytest.approx(MU * carried, rel=1e-3)


def test_a_push_beside_the_centre_turns_the_plate():
    """Clockwise for a tip on its left; the mirrored push gives the mirrored motion."""
    left, right = (RUN(*scene(0.04, side)) for side in (0.02, -0.02))
    assert yaw(left.q)[-1] < -0.05
    assert 0.003 < left.q[-1, 0] < SPEED * 400 * DT
    assert yaw(right.q) == pytest.approx(-yaw(left.q), abs=1e-5)
    assert right.q[:, :2] == pytest.approx(left.q[:, :2] * [1, -1], abs=1e-6)


def test_the_derivative_of_a_push():
    """Of the end by friction on the ground and at the tip, against differences."""
    model, q, qd = scene(0.04, 0.02)

    def end(friction):
        return hs.rollout(hs.with_contacts(model, friction=friction), (q, qd), dt=DT, steps=60, contact=RULES).qd[-1][
            :6
        ]

    run, x = jax.jit(end), np.array([0.2, MU])
    forward = np.asarray(jax.jit(jax.jacfwd(end))(x))
    steps = 1e-6 * np.eye(2)
    slopes = np.stack([(np.asarray(run(x + h)) - np.asarray(run(x - h))) / 2e-6 for h in steps], axis=1)
    assert np.abs(slopes).max() > 1e-3
    assert forward == pytest.approx(slopes, abs=1e-4 * np.abs(slopes).max())
