"""What every joint kind says about itself must hang together: pose, motion, rates, steps, springs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hybridsim.model import KINDS, JointKind
from hybridsim.spatial import matrix_from_quaternion, multiply, quaternion_exp, unit

from .test_screw_joint import Screw, Universal

AXES = {"z": (0.0, 0.0, 1.0), "-z": (0.0, 0.0, -1.0), "x": (1.0, 0.0, 0.0), "oblique": (0.48, -0.6, 0.64)}
MOVING = [*(kind for kind in KINDS.values() if kind.nv), Screw(pitch=0.3), Universal()]
kinds = pytest.mark.parametrize("kind", MOVING, ids=lambda kind: kind.name)


def state(kind: JointKind, seed: int = 0):
    """A random valid configuration with velocity and acceleration."""
    rng = np.random.default_rng(seed)
    q = kind.project(jnp.asarray(kind.rest() + rng.normal(size=kind.nq)))
    return q, rng.normal(size=kind.nv), rng.normal(size=kind.nv)


def relative_velocity(kind: JointKind, axis, q, v):
    """Spatial velocity of the child relative to its parent, in child axes, by differentiating the pose."""
    pose, rate = jax.jvp(lambda q: kind.transform(axis, q), (q,), (kind.rate(q, v),))
    spin = pose.rotation.T @ rate.rotation
    return jnp.stack([spin[2, 1], spin[0, 2], spin[1, 0], *(pose.rotation.T @ rate.position)])


@kinds
def test_at_rest_child_and_joint_frame_coincide(kind):
    pose = kind.transform(jnp.asarray(AXES["oblique"]), jnp.asarray(kind.rest()))
    np.testing.assert_allclose(pose.rotation, np.eye(3), atol=1e-15)
    np.testing.assert_array_equal(pose.position, 0)


@kinds
def test_subspace_is_the_derivative_of_the_pose_and_bias_that_of_the_subspace(kind):
    @jax.jit
    def facts(axis, q, v):
        moving = lambda q: kind.subspace(axis, q).T @ v  # noqa: E731
        _, turning = jax.jvp(moving, (q,), (kind.rate(q, v),))
        bias = kind.bias(axis, q, v)
        pose = kind.transform(axis, q)
        return moving(q), relative_velocity(kind, axis, q, v), turning, jnp.zeros(6) if bias is None else bias, pose

    for axis in AXES.values():
        q, v, _ = state(kind)
        said, found, turning, bias, pose = facts(jnp.asarray(axis), q, jnp.asarray(v))
        np.testing.assert_allclose(said, found, atol=1e-14)
        np.testing.assert_allclose(bias, turning, atol=1e-14)
        np.testing.assert_allclose(pose.rotation @ pose.rotation.T, np.eye(3), atol=1e-14)
        np.testing.assert_allclose(np.linalg.det(pose.rotation), 1, rtol=1e-14)


@kinds
def test_a_short_step_follows_the_rates(kind):
    """d/dt of the step at dt = 0 is (dq/dt, a), so the step is of first order; and it stays valid."""
    q, v, a = state(kind)
    (q0, v0), (q_rate, v_rate) = jax.jit(lambda dt: jax.jvp(lambda dt: kind.euler(q, v, a, dt), (dt,), (1.0,)))(0.0)
    np.testing.assert_allclose(q0, q, atol=1e-15)
    np.testing.assert_allclose(v0, v, atol=1e-15)
    np.testing.assert_allclose(q_rate, kind.rate(q, v), atol=1e-14)
    np.testing.assert_allclose(v_rate, a, atol=1e-14)
    q1, _ = kind.euler(q, v, a, 0.1)
    np.testing.assert_allclose(kind.project(q1), q1, atol=1e-15)


@kinds
def test_the_configuration_moves_with_the_new_velocity(kind):
    """Semi-implicit: positions see the velocity after the step, a free body's in the world's axes."""
    q, v, a = state(kind)
    q1, v1 = kind.euler(q, v, a, 0.1)
    expected = q + 0.1 * v1 if kind.nq == kind.nv else multiply(q[-4:], quaternion_exp(0.1 * v1[:3]))
    np.testing.assert_allclose(q1[-len(expected) :], expected, atol=1e-15)
    if kind.name == "free":
        np.testing.assert_allclose(q1[:3], q[:3] + 0.1 * matrix_from_quaternion(q1[3:]) @ v1[3:], atol=1e-15)


@kinds
def test_projection_gives_valid_configurations_and_keeps_them(kind):
    q = jnp.asarray(kind.rest()) + 0.7
    once = kind.project(q)
    np.testing.assert_allclose(kind.project(once), once, atol=1e-15)
    np.testing.assert_allclose(kind.rate(once, jnp.zeros(kind.nv)), 0)
    if kind.nq > kind.nv:
        np.testing.assert_allclose(jnp.linalg.norm(once[-4:]), 1, atol=1e-15)


@kinds
def test_displacement_is_zero_at_rest_and_grows_with_the_velocity(kind):
    """Both at the rest configuration, where a rotation's logarithm is singular: in forward and reverse mode."""
    rest, v, _ = state(kind)
    along = jax.jit(lambda t: kind.displacement(rest + t * kind.rate(rest, v), rest))
    np.testing.assert_allclose(along(0.0), 0, atol=1e-15)
    np.testing.assert_allclose(jax.jacfwd(along)(0.0), v, atol=1e-14)
    np.testing.assert_allclose(jax.jacrev(along)(0.0), v, atol=1e-14)


@kinds
def test_a_spring_is_conservative(kind):
    """The energy |displacement|^2 / 2 changes by the power of the force: displacement . v."""
    (q, v, _), (rest, _, _) = state(kind, 0), state(kind, 1)

    @jax.jit
    def power(q):
        energy = lambda q: jnp.sum(kind.displacement(q, rest) ** 2) / 2  # noqa: E731
        return jax.jvp(energy, (q,), (kind.rate(q, v),))[1], kind.displacement(q, rest) @ v

    found, expected = power(q)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("name", ["spherical", "free"])
def test_displacement_of_a_rotation_takes_the_shorter_way(name):
    kind = KINDS[name]
    (q, _, _), (rest, _, _) = state(kind, 0), state(kind, 1)
    other = q.at[-4:].multiply(-1)
    np.testing.assert_allclose(kind.displacement(other, rest), kind.displacement(q, rest), atol=1e-15)
    assert np.linalg.norm(kind.displacement(q, rest)[:3]) <= np.pi


def test_planar_directions_turn_continuously_with_the_axis():
    """Two axes that differ by little have poses that differ by little, also near -z, where a formula has 0/0."""
    kind, q = KINDS["planar"], jnp.array([0.3, -0.2, 0.5])
    place = jax.jit(lambda axis: kind.transform(unit(axis), q).position)
    for axis in AXES.values():
        if axis != AXES["-z"]:
            near = jnp.asarray(axis) + 1e-7 * jnp.array([1.0, -1.0, 1.0])
            np.testing.assert_allclose(place(near), place(jnp.asarray(axis)), atol=1e-6)
    almost_down = place(jnp.array([1e-4, 0.0, -1.0]))
    np.testing.assert_allclose(jnp.linalg.norm(almost_down), jnp.hypot(0.3, 0.2), rtol=1e-6)


def test_a_fixed_joint_has_no_freedom():
    kind = KINDS["fixed"]
    pose = kind.transform(jnp.asarray(AXES["x"]), jnp.zeros(0))
    np.testing.assert_array_equal(pose.rotation, np.eye(3))
    assert (kind.nq, kind.nv, len(kind.rest())) == (0, 0, 0)
    assert kind.subspace(jnp.asarray(AXES["x"]), jnp.zeros(0)).shape == (0, 6)


def test_kinds_are_values():
    """Equal and hashable, so that models of the same topology share compiled programs."""
    for kind in KINDS.values():
        assert type(kind)() == kind
        assert hash(type(kind)()) == hash(kind)
    assert KINDS["continuous"] != KINDS["revolute"]
