"""Prescribed joints: closed forms, and what is at the end of a step."""

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hybridsim as hs

GRAVITY = 9.81


def cart_pendulum(length: float = 1.0, mass: float = 0.7) -> hs.Model:
    """A pendulum, all its mass in a small ball, on a cart that is prescribed."""
    cart = hs.solid("cart", 2.0, "box", (0.1, 0.1, 0.1))
    bob = hs.Link("bob", mass=mass, com=(0.0, 0.0, -length), inertia=np.full(3, 1e-9))
    joints = [
        hs.Joint("rail", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0)),
        hs.Joint("hinge", "revolute", "cart", "bob", axis=(0.0, -1.0, 0.0)),
    ]
    return hs.prescribed(hs.build([cart, bob], joints), "rail")


def pivot(t):
    """Position, velocity and acceleration of the cart."""
    return 0.3 * np.sin(2.5 * t), 0.75 * np.cos(2.5 * t), -1.875 * np.sin(2.5 * t)


def swing(t_end: float, length: float = 1.0, theta: float = 0.4) -> np.ndarray:
    """Angle and rate of a pendulum whose pivot moves: l theta'' = -g sin(theta) - x'' cos(theta)."""

    def rate(t, y):
        return [y[1], (-GRAVITY * np.sin(y[0]) - pivot(t)[2] * np.cos(y[0])) / length]

    return solve_ivp(rate, (0.0, t_end), [theta, 0.0], rtol=1e-11, atol=1e-12).y[:, -1]


def driven(model: hs.Model, dt: float, steps: int, **options) -> hs.Rollout:
    t = dt * np.arange(steps + 1)
    x, v, _ = pivot(t)
    motion = hs.prescribed_motion(model, t, {"rail": x}, {"rail": v}, dt=dt)
    start = motion.start(model, (np.array([0.0, 0.4]), np.zeros(2)))
    return hs.rollout(model, start, hs.Control(prescribed=motion.steps), dt=dt, **options)


@pytest.mark.parametrize(("integrator", "order"), [(hs.SemiImplicitEuler(), 1), (hs.RungeKutta4(), 4)])
def test_a_pendulum_on_a_moving_pivot_converges_to_the_closed_equation(integrator, order):
    model, exact = cart_pendulum(), swing(1.0)
    errors = []
    for steps in (50, 100):
        end = driven(model, 1 / steps, steps, integrator=integrator, contact=None)[-1]
        errors.append(np.hypot(end.q[1] - exact[0], end.qd[1] - exact[1]))
    assert errors[1] < {1: 0.05, 4: 1e-6}[order]
    assert 0.75 * 2**order < errors[0] / errors[1] < 1.35 * 2**order


def test_the_state_is_exactly_what_is_given_and_the_force_what_newton_says():
    model, dt, steps = cart_pendulum(), 1e-3, 400
    path = driven(model, dt, steps, contact=None, record=["joint.prescribed_force", "joint.acceleration"])
    x, v, _ = pivot(dt * np.arange(steps + 1))
    assert np.array_equal(path.q[:, 0], x)
    assert np.array_equal(path.qd[:, 0], v)
    # (m_cart + m) x'' + m d/dt(l theta' cos theta), with the accelerations of each step.
    a, alpha = np.asarray(path.values["joint.acceleration"]).T
    theta, omega = np.asarray(path.q[:-1, 1]), np.asarray(path.qd[:-1, 1])
    expected = 2.7 * a + 0.7 * (alpha * np.cos(theta) - omega**2 * np.sin(theta))
    force = np.asarray(path.values["joint.prescribed_force"])
    assert np.allclose(force[:, 0], expected, atol=1e-7)
    assert np.all(force[:, 1] == 0)


def test_nothing_at_a_prescribed_joint_changes_its_motion():
    """Springs, damping, actuators and limits there only change the force that is needed."""
    plain = cart_pendulum()
    cart, bob = hs.solid("cart", 2.0, "box", (0.1, 0.1, 0.1)), hs.Link("bob", 0.7, (0.0, 0.0, -1.0), np.full(3, 1e-9))
    rail = {"stiffness": 50.0, "damping": 3.0, "friction": 0.4, "armature": 7.0, "lower": -0.01, "upper": 0.01}
    joints = [
        hs.Joint("rail", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0), **rail),
        hs.Joint("hinge", "revolute", "cart", "bob", axis=(0.0, -1.0, 0.0)),
    ]
    busy = hs.prescribed(hs.build([cart, bob], joints), "rail")
    assert busy.limits.freedoms == ()
    for contact in (hs.Impulses(joint_friction=True), hs.Springs()):
        paths = [driven(m, 1e-3, 50, contact=contact, record="joint.prescribed_force") for m in (plain, busy)]
        assert np.allclose(paths[0].q, paths[1].q, atol=1e-12)
    assert not np.allclose(*(path.values["joint.prescribed_force"][:, 0] for path in paths))


def test_a_mimic_of_a_prescribed_joint_follows_and_drives_what_hangs_on_it():
    links = [hs.solid(name, 1.0, "capsule", (0.05, 0.3), (0.0, 0.0, -0.3)) for name in ("a", "b", "c")]

    def arm(mimic):
        down = (0.0, 0.0, -0.6)
        joints = [
            hs.Joint("first", "revolute", "world", "a"),
            hs.Joint("second", "revolute", "a", "b", position=down, mimic=mimic),
            hs.Joint("third", "revolute", "b", "c", position=down, axis=(0.0, 1.0, 0.0)),
        ]
        return hs.build(links, joints)

    copying = hs.prescribed(arm(hs.Mimic("first", -0.5, 0.2)), "first")
    both = hs.prescribed(arm(None), ["first", "second"])
    t = np.linspace(0.0, 0.5, 501)
    angle, rate = np.sin(3 * t), 3 * np.cos(3 * t)
    options = {"dt": 1e-3, "contact": None, "record": "joint.prescribed_force"}
    one = hs.prescribed_motion(copying, t, {"first": angle}, {"first": rate}, dt=1e-3)
    two = {"first": angle, "second": 0.2 - 0.5 * angle}, {"first": rate, "second": -0.5 * rate}
    two = hs.prescribed_motion(both, t, *two, dt=1e-3)
    got = hs.rollout(copying, one.start(copying), hs.Control(prescribed=one.steps), **options)
    expected = hs.rollout(both, two.start(both), hs.Control(prescribed=two.steps), **options)
    assert np.allclose(got.q[:, 1], expected.q[:, 2], atol=1e-10)
    forces, own = expected.values["joint.prescribed_force"], got.values["joint.prescribed_force"]
    assert np.allclose(own[:, 0], forces[:, 0] - 0.5 * forces[:, 1], atol=1e-8)


def spinning_base(kind: str) -> tuple[hs.Model, np.ndarray, np.ndarray, np.ndarray]:
    """A tumbling base with a pendulum on it; times, positions and velocities (angular part in the body's axes)."""
    base = hs.solid("base", 3.0, "box", (0.2, 0.1, 0.05))
    rod = hs.solid("rod", 0.5, "capsule", (0.02, 0.2), (0.0, 0.0, -0.2))
    joints = [
        hs.Joint("base", kind, "world", "base"),
        hs.Joint("hinge", "revolute", "base", "rod", axis=(1.0, 0.0, 0.0), position=(0.1, 0.0, 0.0)),
    ]
    model = hs.prescribed(hs.build([base, rod], joints), "base")
    t = np.linspace(0.0, 1.0, 201)
    turn = np.stack([0.8 * np.sin(2 * t), 0.5 * t**2, 0.6 * np.cos(3 * t)], axis=1)

    def pose(turn, t):
        half = turn / 2
        angle = np.sqrt(np.sum(half**2))
        quaternion = np.concatenate([[np.cos(angle)], np.sin(angle) / angle * half])
        place = np.array([0.2 * np.sin(4 * t), 0.1 * t, 0.3 * np.cos(t)])
        return np.concatenate([place, quaternion]) if kind == "free" else quaternion

    q = np.array([pose(x, s) for x, s in zip(turn, t, strict=True)])
    return model, t, q, turn


@pytest.mark.parametrize("kind", ["free", "spherical"])
def test_velocities_and_steps_between_samples_are_found_on_the_manifold(kind):
    model, t, q, _ = spinning_base(kind)
    flips = np.where(np.arange(len(t)) % 7 < 3, -1.0, 1.0)[:, None]
    measured = np.concatenate([q[:, :-4], flips * q[:, -4:]], axis=1)
    motion = hs.prescribed_motion(model, t, {"base": measured}, dt=5e-3 / 4)
    coarse = hs.prescribed_motion(model, t[::2], {"base": q[::2]}, dt=5e-3)
    assert np.allclose(np.linalg.norm(motion.q[:, -4:], axis=1), 1.0)
    assert np.allclose(np.abs(np.sum(motion.q[::4, -4:] * q[:, -4:], axis=1)), 1.0, atol=1e-12)
    assert np.abs(np.abs(np.sum(coarse.q[:, -4:] * q[:, -4:], axis=1)) - 1).max() < 1e-9
    # Velocities are those of the motion itself: a small turn from each row to the next.
    dt = 5e-3 / 4
    middle = np.asarray(motion.qd[1:-1])
    expected = _angular_rates(np.asarray(motion.q)[:, -4:], dt)
    assert np.abs(middle[:, :3] - expected).max() < 2e-4


def _angular_rates(quaternions: np.ndarray, dt: float) -> np.ndarray:
    """In the body's axes, by central differences: 2 (q* dq/dt)."""
    signs = np.sign(np.sum(quaternions[1:] * quaternions[:-1], axis=1))
    quaternions = quaternions * np.concatenate([[1.0], np.cumprod(signs)])[:, None]
    q, rate = quaternions[1:-1], (quaternions[2:] - quaternions[:-2]) / (2 * dt)
    w, v = q[:, :1], -q[:, 1:]
    return 2 * (w * rate[:, 1:] + rate[:, :1] * v + np.cross(v, rate[:, 1:]))


@pytest.mark.parametrize("integrator", [hs.SemiImplicitEuler(), hs.RungeKutta4()])
def test_a_tumbling_base_carries_its_pendulum_as_the_free_body_that_moves_so(integrator):
    """A free base under the forces that the prescribed one needs moves as prescribed, and so does what hangs on it."""
    model, t, q, _ = spinning_base("free")
    dt, steps = 1e-3, 300
    motion = hs.prescribed_motion(model, t, {"base": q}, dt=dt, steps=steps)
    options = {"dt": dt, "contact": None, "integrator": integrator}
    record = {"record": "joint.prescribed_force"}
    path = hs.rollout(model, motion.start(model), hs.Control(prescribed=motion.steps), **options, **record)
    free = hs.build(
        [
            hs.solid("base", 3.0, "box", (0.2, 0.1, 0.05)),
            hs.solid("rod", 0.5, "capsule", (0.02, 0.2), (0.0, 0.0, -0.2)),
        ],
        [
            hs.Joint("base", "free", "world", "base"),
            hs.Joint("hinge", "revolute", "base", "rod", axis=(1.0, 0.0, 0.0), position=(0.1, 0.0, 0.0)),
        ],
    )
    forces = np.asarray(path.values["joint.prescribed_force"])
    pushed = hs.rollout(free, (path.q[0], path.qd[0]), forces, **options)
    close = 5e-3 if isinstance(integrator, hs.SemiImplicitEuler) else 2e-2  # forces are constant during a step
    assert np.abs(pushed.q[-1] - path.q[-1]).max() < close
    assert np.array_equal(path.q[:, :7], motion.q)


def test_native_code_batches_and_xla_agree():
    model = cart_pendulum()
    x, v, _ = pivot(1e-3 * np.arange(101))
    motion = hs.PrescribedMotion(x[:, None], v[:, None])

    def end(scale):
        given = jax.tree.map(lambda x: scale * x, motion)
        start = given.start(model, (np.array([0.0, 0.4]), np.zeros(2)))
        path = hs.rollout(model, start, hs.Control(prescribed=given.steps), dt=1e-3, contact=None)
        return path.q[-1], path.qd[-1]

    scales = np.array([0.5, 1.0, 2.0])
    xla = jax.jit(jax.vmap(end))(scales)
    assert np.allclose(np.asarray(xla), np.asarray(hs.native.batch(end)(scales)), atol=1e-12)
    for i, scale in enumerate(scales):
        assert np.allclose(np.asarray(hs.native.jit(end)(scale)), np.asarray(xla)[:, i], atol=1e-12)
    slopes = hs.native.jit(jax.jacrev(end))(1.0), hs.native.jit(jax.jacfwd(end))(1.0)
    h = 1e-5
    differences = (np.asarray(end(1 + h)) - np.asarray(end(1 - h))) / (2 * h)
    for slope in slopes:
        assert np.allclose(np.asarray(slope), differences, atol=1e-7)


def test_a_policy_may_say_where_prescribed_joints_go():
    model = cart_pendulum()

    def policy(t, state):
        x, v = 0.1 * (t + 1e-3), 0.1
        return hs.Control(prescribed=hs.PrescribedMotion(np.ones(1) * x, np.full(1, v)))

    path = hs.rollout(model, (np.zeros(2), np.array([0.1, 0.0])), policy, dt=1e-3, steps=20, contact=None)
    assert np.allclose(path.q[:, 0], 0.1 * path.t)


def test_saved_models_keep_what_is_prescribed(tmp_path):
    model = cart_pendulum()
    hs.save_hybrid(model, tmp_path / "cart.hybrid")
    again = hs.load_hybrid(tmp_path / "cart.hybrid")
    assert again.prescribed_names == ("rail",)
    assert again.topology == model.topology
    assert "rail: prismatic, world -> cart, prescribed" in model.describe()
    assert hs.world(hs.prefixed(model, "a/"), hs.prefixed(model, "b/")).prescribed_names == ("a/rail", "b/rail")
