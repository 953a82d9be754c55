"""Adding a joint kind as CONTRIBUTING.md says: one short class, used by the engine without any other change."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.model.joints.flat import FlatJoint, rows
from hybridsim.spatial import Transform, cross, matrix_from_axis_angle, rotate_back


@dataclass(frozen=True)
class Screw(FlatJoint):
    """Rotation about an axis that also moves along it by `pitch` for every radian [m/rad]."""

    pitch: float

    name = "screw"
    nq = 1
    nv = 1
    unit = "rad"

    def transform(self, axis, q):
        return Transform(matrix_from_axis_angle(axis, q[0]), self.pitch * q[0] * axis)

    def subspace(self, axis, q):
        return rows((axis, self.pitch * axis))

    def bias(self, axis, q, v):
        return None


MASS, TURNING, GRAVITY = 2.0, 0.3, 9.81


def nut(pitch: float) -> hs.Model:
    """A nut on a vertical spindle."""
    link = hs.Link("nut", MASS, inertia=(0.2, 0.2, TURNING))
    return hs.build([link], [hs.Joint("screw", Screw(pitch), "world", "nut", axis=(0, 0, 2))])


@pytest.mark.parametrize("pitch", [0.05, -0.4])
def test_a_nut_spins_down_its_spindle_as_the_textbook_says(pitch):
    """I qdd + m h^2 qdd = -m g h: its height is h q."""
    qdd = hs.acceleration(nut(pitch), (np.array([0.7]), np.array([3.0])))
    np.testing.assert_allclose(qdd, [-MASS * GRAVITY * pitch / (TURNING + MASS * pitch**2)], rtol=1e-14)


def mixed() -> hs.Model:
    """Screws of two pitches (so two kinds), oblique axes and anchors, among other joints."""
    links = [hs.Link(name, 1.0, (0.1, -0.2, 0.15), (0.03, 0.04, 0.05, 0.002, -0.003, 0.004)) for name in "abcd"]
    joints = [
        hs.Joint("a", Screw(0.1), "world", "a", axis=(1, 2, 3), anchor=(0.1, 0.2, 0)),
        hs.Joint("b", "revolute", "a", "b", position=(0.2, 0, 0.1), axis=(0, 1, 0)),
        hs.Joint("c", Screw(0.1), "b", "c", position=(0, 0.3, 0), axis=(-1, 0, 2), anchor=(0, 0, 0.3)),
        hs.Joint("d", Screw(-0.2), "b", "d", position=(0, 0, 0.3), quaternion=(1, 1, 0, 0)),
    ]
    return hs.build(links, joints)


def test_forward_dynamics_inverts_inverse_dynamics():
    model = mixed()
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 4))
    tau = hs.inverse_dynamics(model, q, qd, qdd)
    np.testing.assert_allclose(hs.forward_dynamics(model, q, qd, tau), qdd, rtol=1e-11)
    np.testing.assert_allclose(hs.mass_matrix(model, q) @ qdd + hs.bias_force(model, q, qd), tau, rtol=1e-12)


def test_subspace_and_bias_are_those_of_the_finite_motion():
    """The Jacobian is the central difference of poses, and its rate gives the accelerations that forces cause."""
    model, h = mixed(), 1e-5
    q, qd = np.random.default_rng(1).normal(size=(2, 4))
    for link in model.link_names:
        J = hs.jacobian(model, q, link)
        before, after = (hs.forward_kinematics(model, q + s * h * qd)[link] for s in (-1, 1))
        np.testing.assert_allclose((after.position - before.position) / (2 * h), J[3:] @ qd, atol=1e-8)
        spin = (after.rotation - before.rotation) / (2 * h) @ hs.forward_kinematics(model, q)[link].rotation.T
        np.testing.assert_allclose(jnp.stack([spin[2, 1], spin[0, 2], spin[1, 0]]), J[:3] @ qd, atol=1e-8)


def test_motion_keeps_the_energy():
    """Equations of motion and energy agree: without friction the power of all forces is the rate of energy."""
    model = mixed()
    q, qd = np.random.default_rng(2).normal(size=(2, 4))
    qdd = hs.acceleration(model, (q, qd))
    rate = jax.jvp(lambda q, qd: hs.energy(model, q, qd).total, (q, qd), (qd, qdd))[1]
    np.testing.assert_allclose(rate, 0, atol=1e-11)


@dataclass(frozen=True)
class Universal(FlatJoint):
    """Rotation about the axis, then about the child's y: its subspace turns, so its bias is angular."""

    name = "universal"
    nq = 2
    nv = 2
    unit = "rad, rad"

    def transform(self, axis, q):
        y = jnp.array([0.0, 1.0, 0.0])
        return Transform(matrix_from_axis_angle(axis, q[0]) @ matrix_from_axis_angle(y, q[1]), jnp.zeros(3))

    def subspace(self, axis, q):
        y = jnp.array([0.0, 1.0, 0.0])
        return rows((rotate_back(matrix_from_axis_angle(y, q[1]), axis), jnp.zeros(3)), (y, jnp.zeros(3)))

    def bias(self, axis, q, v):
        first, second = self.subspace(axis, q)[:, :3]
        return jnp.concatenate([-v[0] * v[1] * cross(second, first), jnp.zeros(3)])


@pytest.mark.parametrize("anchor", [(0.0, 0.0, 0.0), (0.3, -0.2, 0.5)], ids=["at the origin", "with an anchor"])
def test_a_kind_with_a_turning_subspace_is_two_revolute_joints(anchor):
    """The engine moves what a kind says from the joint's origin to its anchor, the bias included."""
    link = hs.Link("body", 1.0, (0.1, -0.2, 0.15), (0.03, 0.04, 0.05, 0.002, -0.003, 0.004))
    one = hs.build([link], [hs.Joint("u", Universal(), "world", "body", axis=(1, 0.5, 0.2), anchor=anchor)])
    two = hs.build(
        [link],
        [
            hs.Joint("first", "revolute", "world", "body", axis=(1, 0.5, 0.2), anchor=anchor),
            hs.Joint("second", "revolute", "world", "body", axis=(0, 1, 0), anchor=anchor),
        ],
    )
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 2))
    expected = hs.inverse_dynamics(two, q, qd, qdd)
    np.testing.assert_allclose(hs.inverse_dynamics(one, q, qd, qdd), expected, rtol=1e-12)
    np.testing.assert_allclose(hs.forward_dynamics(one, q, qd, expected), qdd, rtol=1e-11)
