"""Hulls, cylinders and ellipsoids on boxes and on each other: they rest, slide, roll and settle as they should."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hybridsim as hs

HEXAGON = np.array([[0.1 * np.cos(a), 0.1 * np.sin(a), z] for a in np.arange(6) * np.pi / 3 for z in (-0.05, 0.05)])


def nut(name: str = "nut", scale: float = 1.0) -> hs.Model:
    shape = hs.Geom("points", points=scale * HEXAGON)
    inertia = scale**2 * np.array([2.9e-3, 2.9e-3, 4.2e-3])
    return hs.prefixed(hs.free_body(hs.Link("body", 1.0, inertia=inertia, geoms=[shape])), f"{name}/")


def table(half=(0.5, 0.5, 0.1), turn: Rotation | None = None) -> hs.Model:
    turn = Rotation.identity() if turn is None else turn
    place = turn.apply([0, 0, -half[2]])
    box = hs.Geom("box", half, place, turn.as_quat(scalar_first=True), name="table")
    return hs.build([], [], world_geoms=[box])


def run(model: hs.Model, q, qd, steps: int, dt: float = 1e-3) -> hs.Rollout:
    return hs.native.jit(lambda q, qd: hs.rollout(model, (q, qd), dt=dt, steps=steps))(q, qd)


def test_a_hexagonal_hull_rests_on_a_box_without_drifting():
    model = hs.world(nut(), table())
    q, qd = model.rest()
    q[2] = 0.0502
    path = run(model, q, qd, 1000)
    np.testing.assert_allclose(path.q[-1], [0, 0, 0.05, 1, 0, 0, 0], atol=1e-6)
    assert np.max(np.abs(path.qd[-1])) < 1e-6


@pytest.mark.slow
def test_it_slides_as_far_as_friction_lets_it():
    model = hs.with_contacts(hs.world(nut(), table()), friction=0.3)
    q, qd = model.rest()
    q[2], qd[3] = 0.05, 1.0
    end = run(model, q, qd, 500).q[-1]
    assert end[0] == pytest.approx(1 / (2 * 0.3 * 9.81), abs=1e-3)
    assert np.max(np.abs(end[[1, 4, 5, 6]])) < 1e-6


@pytest.mark.slow
def test_a_hull_stands_on_a_hull_on_the_ground_and_both_are_pushed():
    model = hs.world(nut(), nut("small", 0.8), hs.ground())
    q, qd = model.rest()
    q[2], q[7], q[9] = 0.05, 0.02, 0.1401
    still = run(model, q, qd, 300)
    np.testing.assert_allclose(still.q[-1][[2, 9]], [0.05, 0.14], atol=1e-6)
    assert np.max(np.abs(still.qd[-1])) < 1e-6
    qd[3] = qd[9] = 0.4
    together = run(model, np.asarray(still.q[-1]), qd, 300).q[-1]
    assert together[0] == pytest.approx(0.4**2 / (2 * 0.5 * 9.81), abs=1e-3)
    assert together[7] - 0.02 == pytest.approx(together[0], abs=1e-3)


@pytest.mark.slow
def test_a_cylinder_stands_upright_on_a_box():
    model = hs.world(hs.free_body(hs.solid("can", 1.0, "cylinder", (0.05, 0.1))), table())
    q, qd = model.rest()
    q[2] = 0.1002
    path = run(model, q, qd, 1000)
    np.testing.assert_allclose(path.q[-1], [0, 0, 0.1, 1, 0, 0, 0], atol=1e-6)
    assert np.max(np.abs(path.qd[-1])) < 1e-6


def test_a_cylinder_rolls_down_a_tilted_box_with_two_thirds_of_the_slope():
    slope = Rotation.from_euler("y", 0.2)
    model = hs.world(hs.free_body(hs.solid("roll", 1.0, "cylinder", (0.05, 0.1))), table((3.0, 0.5, 0.1), slope))
    q, qd = model.rest()
    q[:3] = slope.apply([0, 0, 0.05])
    q[3:7] = (slope * Rotation.from_euler("x", np.pi / 2)).as_quat(scalar_first=True)
    path = run(model, q, qd, 1000)
    speed = np.linalg.norm((path.q[-1] - path.q[-2])[:3]) / 1e-3
    assert speed == pytest.approx(2 / 3 * 9.81 * np.sin(0.2), rel=2e-3)
    assert abs(path.q[-1][1]) < 1e-6


@pytest.mark.slow
def test_an_ellipsoid_rocks_and_keeps_on_the_box():
    """It rolls without loss, so it goes on rocking, between its lowest and its highest stand and not above its start."""
    radii = (0.1, 0.08, 0.05)
    model = hs.world(hs.free_body(hs.solid("egg", 1.0, "ellipsoid", radii)), table())
    q, qd = model.rest()
    q[2], q[3:7] = 0.07, Rotation.from_rotvec([0.2, 0.3, 0]).as_quat(scalar_first=True)
    path = run(model, q, qd, 2000)
    up = Rotation.from_quat(np.asarray(path.q[:, 3:7]), scalar_first=True).inv().apply([0, 0, 1])
    lowest = path.q[:, 2] - np.linalg.norm(np.array(radii) * up, axis=1)
    assert np.min(lowest) > -1e-4
    energy = hs.energy(model, path.q[-1], path.qd[-1])
    start = hs.energy(model, q, qd)
    assert (
        sum(map(float, (energy.kinetic, energy.potential))) < sum(map(float, (start.kinetic, start.potential))) + 1e-4
    )
