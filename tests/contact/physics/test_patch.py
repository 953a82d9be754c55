"""A flat object on a patch of points: its load, and so its motion, does not depend on the grid."""

import jax
import numpy as np
import pytest

import hybridsim as hs

# Not convex, and not symmetric: a butterfly with wings of two sizes.
BUTTERFLY = np.array([(-0.05, -0.04), (0.0, -0.015), (0.06, -0.05), (0.06, 0.05), (0.0, 0.015), (-0.05, 0.04)])
MASS, HEIGHT = 1.2, 0.013


def sliding_object(spacing):
    """It lies on the ground; its centre of mass is off the centre of its area."""
    grid = hs.contact_grid(BUTTERFLY, height=-HEIGHT / 2, spacing=spacing)
    link = hs.Link("object", MASS, (0.004, -0.002, 0.0), np.array([1.2e-3, 1.4e-3, 2.5e-3]), [grid])
    return hs.with_contacts(hs.world(hs.free_body(link), hs.ground()), friction=0.3, stiffness=3e5, dissipation=3e5)


SPEED = np.array([0.0, 0.0, 6.0, 0.3, -0.2, 0.0])
"""It turns and slides."""


def end(contact, dt):
    start = np.array([0.0, 0.0, HEIGHT / 2, 1.0, 0.0, 0.0, 0.0])
    steps = round(0.25 / dt)
    run = hs.native.jit(lambda model: hs.rollout(model, (start, SPEED), dt=dt, steps=steps, contact=contact)[-1].q)
    return lambda spacing: np.asarray(run(sliding_object(spacing)))


@pytest.mark.parametrize(
    ("contact", "dt"),
    [(hs.Impulses(), 1e-3), (hs.Springs(friction=hs.Coulomb()), 2e-4)],
    ids=["impulses", "springs"],
)
def test_it_slides_the_same_on_a_coarse_and_on_a_fine_grid(contact, dt):
    at = end(contact, dt)
    fine, coarse = at(0.012), at(0.02)
    moved, turned = np.linalg.norm(fine[:2]), 2 * np.arctan2(fine[6], fine[3])
    assert moved > 0.01
    assert turned > 0.2
    assert np.linalg.norm(coarse[:2] - fine[:2]) < 0.02 * moved
    assert 2 * np.arctan2(coarse[6], coarse[3]) == pytest.approx(turned, rel=0.03)
    assert fine[2] == pytest.approx(HEIGHT / 2, abs=2e-3)


def test_the_load_is_linear_in_the_place_and_has_the_moment_of_the_weight():
    """As on an elastic layer, and so that it carries the centre of mass."""
    model = sliding_object(0.01)
    q = np.array([0.0, 0.0, HEIGHT / 2, 1.0, 0.0, 0.0, 0.0])
    run = hs.native.jit(lambda m: hs.rollout(m, (q, np.zeros(6)), dt=1e-3, steps=20, record="contact.normal_force"))
    force = np.asarray(run(model).values["contact.normal_force"])[-1]
    points, areas = np.asarray(model.geometry.points[0]), np.asarray(model.geometry.areas[0])
    if model.geometry.shapes[0] != "patch":
        points, areas = np.asarray(model.geometry.points[1]), np.asarray(model.geometry.areas[1])
    assert force.sum() == pytest.approx(MASS * 9.81, rel=1e-6)
    np.testing.assert_allclose(force @ points[:, :2] / force.sum(), [0.004, -0.002], atol=1e-6)
    pressure = force / areas
    plane = np.column_stack([np.ones(len(points)), points[:, :2]])
    fitted = plane @ np.linalg.lstsq(plane, pressure, rcond=None)[0]
    np.testing.assert_allclose(pressure, fitted, rtol=1e-4)


@pytest.mark.parametrize("spacing", [0.02, 0.012, 0.005])
def test_a_grid_has_the_area_and_the_centroid_of_its_outline(spacing):
    grid = hs.contact_grid(BUTTERFLY, spacing=spacing)
    x, y = BUTTERFLY.T
    twice = x * np.roll(y, -1) - np.roll(x, -1) * y
    centroid = ((BUTTERFLY + np.roll(BUTTERFLY, -1, axis=0)) * twice[:, None]).sum(0) / (3 * twice.sum())
    areas, points = np.asarray(grid.areas), np.asarray(grid.points)
    assert areas.sum() == pytest.approx(twice.sum() / 2, rel=1e-12)
    np.testing.assert_allclose(areas @ points[:, :2] / areas.sum(), centroid, atol=1e-12)


def test_the_derivative_of_a_slide_is_that_of_differences():
    model = sliding_object(0.02)
    start = np.array([0.0, 0.0, HEIGHT / 2, 1.0, 0.0, 0.0, 0.0])

    def place(friction):
        sliding = hs.with_contacts(model, friction=friction)
        return hs.rollout(sliding, (start, SPEED), dt=1e-3, steps=60)[-1].q[:2].sum()

    value, gradient = hs.native.jit(place), hs.native.jit(jax.grad(place))
    h = 1e-5
    slope = (value(0.3 + h) - value(0.3 - h)) / (2 * h)
    assert float(gradient(0.3)) == pytest.approx(float(slope), rel=1e-5)
