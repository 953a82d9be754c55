"""Logs drive prescribed joints: fits, evaluations and their derivatives."""

from dataclasses import replace

import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.identify.motion import window_of
from hybridsim.identify.prepare import prepare

DT = 5e-3


def cart_pendulum(length: float = 0.5, damping: float = 0.05, mass: float = 0.7) -> hs.Model:
    cart = hs.solid("cart", 2.0, "box", (0.1, 0.1, 0.1))
    bob = hs.solid("bob", mass, "sphere", 0.03, (0.0, 0.0, -length))
    joints = [
        hs.Joint("rail", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0)),
        hs.Joint("hinge", "revolute", "cart", "bob", axis=(0.0, -1.0, 0.0), damping=damping),
    ]
    return hs.prescribed(hs.build([cart, bob], joints), "rail")


def pushed(model: hs.Model, seconds: float = 3.0, phase: float = 0.0, fine: int = 20) -> hs.Trajectory:
    """A log of the pendulum while its cart moves, made in finer steps than it has samples."""
    t = DT / fine * np.arange(round(seconds / DT) * fine + 1)
    x = 0.2 * np.sin(3 * t + phase) + 0.1 * np.sin(7 * t)
    v = 0.6 * np.cos(3 * t + phase) + 0.7 * np.cos(7 * t)
    motion = hs.PrescribedMotion(x[:, None], v[:, None])
    start = motion.start(model, (np.array([0.0, 0.4]), np.zeros(2)))
    run = hs.native.jit(
        lambda s, m: hs.rollout(
            model, s, hs.Control(prescribed=m), dt=DT / fine, contact=None, integrator=hs.RungeKutta4()
        )
    )
    path = run(start, motion.steps)
    return hs.Trajectory(t[::fine], path.q[::fine], path.qd[::fine], run=f"phase {phase:g}")


@pytest.fixture(scope="module")
def truth() -> hs.Model:
    return cart_pendulum()


@pytest.fixture(scope="module")
def log(truth) -> hs.Trajectory:
    return pushed(truth)


def test_a_fit_finds_the_pendulum_from_the_motion_of_its_cart(truth, log):
    wrong = cart_pendulum(length=0.7, damping=0.2)
    options = {"window": 0.5, "integrator": hs.RungeKutta4(), "contact": None}
    with pytest.warns(hs.IdentifiabilityWarning, match="link/bob/com.y has no effect"):
        fit = hs.fit(wrong, log, ["link/bob/com", "joint/hinge/damping"], **options, substeps=2)
    com = np.asarray(fit.model.links.com)[fit.model.link_names.index("bob")]
    assert np.isclose(com[2], -0.5, rtol=2e-3)
    damping = np.asarray(fit.model.joints.damping)[fit.model.v_of("hinge")]
    assert np.isclose(damping, 0.05, rtol=0.03)
    assert fit.model.prescribed_names == ("rail",)
    # The cart is no prediction: its errors are none, and no start of it is fitted.
    found = hs.evaluate(fit.model, log, 0.5, integrator=hs.RungeKutta4(), contact=None)
    assert np.isnan(found.differences[..., 0]).all()
    assert found.median < 1e-4
    assert fit.problem.own == 2


def test_one_step_between_samples_and_several_agree(truth, log):
    one, many = (hs.evaluate(truth, log, 0.5, substeps=n, integrator=hs.RungeKutta4()).median for n in (1, 4))
    assert many < 1e-6
    assert one < 1e-4


def test_normal_equations_gradient_and_differences_agree(truth, log):
    free = ["link/bob/mass", "joint/hinge/damping", "sensor/rail/bias", "sensor/rail/gain", "sensor/clock"]
    problem = prepare(truth, log, free, window=0.3, substeps=2, contact=None)
    rng = np.random.default_rng(0)
    z, s = problem.zeros()
    z, s = z + 0.02 * rng.normal(size=z.shape), s + 1e-2 * rng.normal(size=s.shape)
    _, by_z, by_s = problem.gradient(z, s)
    normal = problem.normal(z, s)
    assert np.allclose(by_z, normal.g, rtol=1e-6, atol=1e-9)
    assert np.allclose(by_s, normal.h, rtol=1e-6, atol=1e-9)
    for i in range(len(z)):
        h = 1e-6 * np.eye(len(z))[i]
        slope = (problem.cost(z + h, s) - problem.cost(z - h, s)) / 2e-6
        assert np.isclose(slope, by_z[i], rtol=1e-4, atol=1e-7), problem.parameters.names[i]


def test_positions_alone_drive_too(truth, log):
    bare = replace(log, qd=None, qd_mask=None)
    error = hs.evaluate(truth, bare, 0.5, start="fitted", substeps=2, integrator=hs.RungeKutta4()).median
    assert error < 2e-3


def test_a_free_body_in_the_log_drives_by_its_poses_alone():
    base = hs.solid("base", 3.0, "box", (0.2, 0.1, 0.05))
    rod = hs.solid("rod", 0.5, "capsule", (0.02, 0.2), (0.0, 0.0, -0.2))
    joints = [
        hs.Joint("base", "free", "world", "base"),
        hs.Joint("hinge", "revolute", "base", "rod", axis=(1.0, 0.0, 0.0)),
    ]
    model = hs.prescribed(hs.build([base, rod], joints), "base")
    t = DT * np.arange(201)
    half = 0.4 * np.sin(3 * t)
    zero = np.zeros_like(t)
    pose = np.stack([zero, 0.1 * np.sin(4 * t), zero, np.cos(half), np.sin(half), zero, zero], axis=1)
    motion = hs.prescribed_motion(model, t, {"base": pose}, dt=DT / 10)
    run = hs.native.jit(lambda s, m: hs.rollout(model, s, hs.Control(prescribed=m), dt=DT / 10, contact=None))
    q = np.asarray(run(motion.start(model), motion.steps).q)[::10]
    log = hs.Trajectory(t, q, quaternions=(3,))
    assert hs.evaluate(model, log, 0.3, start="fitted", substeps=4, contact=None).median < 2e-3


def test_bad_logs_are_refused_by_name(truth, log):
    jumping = log.q.copy()
    jumping[300:, 0] += 0.5
    with pytest.raises(
        hs.DataError, match=r"(?s)prescribed joint 'rail' jumps between t = 1.495 s and 1.5 s.*mend the data"
    ):
        hs.evaluate(truth, replace(log, q=jumping), 0.5, contact=None)
    unknown = np.ones_like(log.q, dtype=bool)
    unknown[:, 0] = False
    with pytest.raises(hs.DataError, match="no positions of joint 'rail', which is prescribed; name its column"):
        hs.evaluate(truth, replace(log, q_mask=unknown), 0.5, contact=None)
    hole = np.ones_like(log.q, dtype=bool)
    hole[150:160, 0] = False
    with pytest.warns(hs.DataWarning, match="their controls and prescribed joints were not measured throughout"):
        some = hs.evaluate(truth, replace(log, q_mask=hole), 0.5, contact=None)
    assert len(some.runs) == 5
    with pytest.raises(hs.DataError, match=r"velocities are 57\.3 times the change of its positions"):
        hs.evaluate(truth, replace(log, qd=np.rad2deg(log.qd)), 0.5, contact=None)


def test_a_model_without_prescribed_joints_has_the_same_program_as_ever():
    """Nothing of windows reaches a simulation that has no use for it."""
    model = hs.chain(1)
    t = DT * np.arange(101)
    log = hs.Trajectory(t, np.sin(3 * t)[:, None], 3 * np.cos(3 * t)[:, None])
    problem = prepare(model, log, ["link/link1/mass"], window=0.1, contact=None)
    assert len(jax.tree.leaves(window_of(problem.data))) == 4
