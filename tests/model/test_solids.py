"""Solids, chains, free bodies and the ground: their numbers, against MuJoCo's and straight geometry."""

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hybridsim as hs

SIZES = {
    "sphere": (0.3,),
    "capsule": (0.1, 0.4),
    "cylinder": (0.2, 0.3),
    "box": (0.1, 0.2, 0.3),
    "ellipsoid": (0.1, 0.2, 0.3),
}


@pytest.mark.parametrize("shape", SIZES)
def test_inertia_of_a_solid_is_mujocos(shape):
    link = hs.solid("body", 2.5, shape, SIZES[shape], position=(0.1, 0.2, 0.3))
    size = " ".join(map(str, SIZES[shape]))
    other = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body><geom type="{shape}" size="{size}" mass="2.5"/></body></worldbody></mujoco>'
    )
    axes = Rotation.from_quat(other.body_iquat[1], scalar_first=True).as_matrix()
    np.testing.assert_allclose(np.diag(link.inertia), axes @ np.diag(other.body_inertia[1]) @ axes.T, atol=1e-14)
    assert link.com == (0.1, 0.2, 0.3)


def test_inertia_of_a_solid_is_that_of_many_points():
    """Of a capsule, the only formula that is not in every table; evenly spaced points, so the error is small."""
    radius, half = SIZES["capsule"]
    grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 101)] * 3), axis=-1).reshape(-1, 3)
    beyond = np.maximum(np.abs(grid[:, 2]) - half, 0)
    points = grid[grid[:, 0] ** 2 + grid[:, 1] ** 2 + beyond**2 < radius**2]
    second = np.mean(points**2, axis=0)
    expected = second.sum() - second
    np.testing.assert_allclose(hs.solid("b", 1.0, "capsule", (radius, half)).inertia, expected, rtol=0.02)


def test_a_solid_brings_the_shape_it_collides_with():
    model = hs.free_body(hs.solid("ball", 1.0, "sphere", 0.3, position=(0, 0, 1)))
    assert model.geometry.shapes == ("sphere",)
    assert model.geometry.names == ("ball/sphere",)
    np.testing.assert_array_equal(model.geometry.size, [[0.3, 0, 0]])
    np.testing.assert_array_equal(model.geometry.position, [[0, 0, 1]])


def test_a_chain_hangs_straight_down():
    model = hs.chain(3, length=0.5, mass=2.0, radius=0.05, damping=0.1)
    poses = hs.forward_kinematics(model, np.zeros(3))
    np.testing.assert_allclose(poses["link3"].apply(np.array([0, 0, -0.5])), [0, 0, -1.5])
    np.testing.assert_allclose(hs.centre_of_mass(model, np.zeros(3)), [0, 0, -0.75])
    np.testing.assert_allclose(hs.bias_force(model, np.zeros(3), np.zeros(3)), 0, atol=1e-14)
    np.testing.assert_array_equal(model.joints.damping, [0.1] * 3)
    np.testing.assert_allclose(model.links.inertia[0, :3], hs.solid("b", 2.0, "capsule", (0.05, 0.2)).inertia)


def test_a_free_chain_floats_and_its_root_has_no_joint_numbers():
    model = hs.chain(2, base="free", kind="spherical", stiffness=3.0)
    assert [kind.name for kind in model.topology.kinds] == ["free", "spherical"]
    np.testing.assert_array_equal(model.joints.stiffness, [0] * 6 + [3] * 3)


def test_a_free_body_falls():
    model = hs.free_body(hs.Link("stone", 3.0, inertia=0.1), gravity=(0, 1, -5), timestep=0.5)
    assert model.joint_names == ("root",)
    np.testing.assert_allclose(hs.acceleration(model, model.rest()), [0, 0, 0, 0, 1, -5], atol=1e-15)
    assert model.timestep == 0.5


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0.3, -0.5, 0.7), (1e-6, 0, -1)])
def test_the_ground_has_the_normal_it_is_given(normal):
    plane = hs.ground(height=0.2, normal=normal, friction=0.8).geometry
    turned = Rotation.from_quat(plane.quaternion[0], scalar_first=True).apply([0, 0, 1])
    np.testing.assert_allclose(turned, normal / np.linalg.norm(normal), atol=1e-9)
    np.testing.assert_array_equal(plane.position, [[0, 0, 0.2]])
    assert (plane.shapes, plane.links, plane.friction[0]) == (("plane",), (-1,), 0.8)
