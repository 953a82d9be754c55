"""Free bodies: parabolas, torque-free precession, gyroscopes."""

import jax
import numpy as np
from scipy.spatial.transform import Rotation

import hybridsim as hs

G = 9.81


def test_centre_of_mass_of_a_spinning_body_flies_a_parabola():
    """However it tumbles about a point far from its frame's origin."""
    model = hs.free_body(hs.Link("club", 1.5, (0.3, -0.1, 0.2), (0.05, 0.1, 0.12)))
    q, _ = model.rest()
    flight = hs.rollout(
        model, (q, np.array([3.0, -5.0, 2.0, 1.0, 2.0, 6.0])), dt=1e-3, steps=1000, integrator=hs.RungeKutta4()
    )
    centres = jax.vmap(lambda q: hs.centre_of_mass(model, q))(flight.q)
    start = np.array([0.3, -0.1, 0.2])
    velocity = np.array([1.0, 2.0, 6.0]) + np.cross([3.0, -5.0, 2.0], start)
    t = np.asarray(flight.t)[:, None]
    np.testing.assert_allclose(centres, start + velocity * t - G / 2 * np.array([0, 0, 1]) * t**2, atol=1e-9)


def test_symmetric_top_precesses_at_the_rate_of_the_textbook():
    """In the body w turns about the axis at (C - A)/A w3; in space the axis turns about L at |L|/A."""
    A, C = 0.2, 0.35
    model = hs.free_body(hs.Link("top", 1.0, inertia=(A, A, C)), gravity=(0, 0, 0))
    q, _ = model.rest()
    w = np.array([1.0, 0.0, 4.0])
    spin = hs.rollout(model, (q, np.concatenate([w, np.zeros(3)])), dt=1e-3, steps=2000, integrator=hs.RungeKutta4())
    t = np.asarray(spin.t)
    phase = (C - A) / A * w[2] * t
    np.testing.assert_allclose(
        spin.qd[:, :3], np.stack([np.cos(phase), np.sin(phase), 0 * t + w[2]], axis=-1), atol=1e-9
    )
    L = np.array([A, A, C]) * w
    turned = Rotation.from_rotvec(t[:, None] * L / A)
    axes = Rotation.from_quat(np.array(spin.q[:, 3:]), scalar_first=True).apply([0, 0, 1])
    np.testing.assert_allclose(axes, turned.apply([0, 0, 1]), atol=1e-9)


def test_a_wheel_on_a_horizontal_axle_precesses_instead_of_falling():
    """Steadily at W = m g d / (C spin), exactly, when the axle is level; it starts to fall when slower."""
    mass, reach, C, A, spin = 2.0, 0.3, 0.04, 0.03, 50.0
    wheel = hs.Link("wheel", mass, (reach, 0, 0), (C, A, A))
    axes = {"yaw": (0, 0, 1), "pitch": (0, 1, 0), "spin": (1, 0, 0)}
    model = hs.build([wheel], [hs.Joint(name, "revolute", "world", "wheel", axis=axis) for name, axis in axes.items()])
    precession = mass * G * reach / (C * spin)
    np.testing.assert_allclose(hs.acceleration(model, (np.zeros(3), np.array([precession, 0, spin]))), 0, atol=1e-11)
    falling = hs.acceleration(model, (np.zeros(3), np.array([precession / 2, 0, spin])))[1]
    np.testing.assert_allclose(falling, mass * G * reach / 2 / (A + mass * reach**2), rtol=1e-11)


def test_a_bead_on_a_turning_rod_is_thrown_outwards_and_brakes_the_rod():
    """r'' = r w^2 and (I + m r^2) w' = -2 m r r' w: centrifugal and Coriolis force."""
    rod, bead = hs.Link("rod", 1.0, inertia=(1.0, 1.0, 0.3)), hs.Link("bead", 0.5)
    joints = [
        hs.Joint("turn", "revolute", "world", "rod"),
        hs.Joint("slide", "prismatic", "rod", "bead", axis=(1, 0, 0)),
    ]
    model = hs.build([rod, bead], joints)
    r, w, speed = 0.7, 3.0, 1.1
    found = hs.acceleration(model, (np.array([0.4, r]), np.array([w, speed])))
    np.testing.assert_allclose(found, [-2 * 0.5 * r * speed * w / (0.3 + 0.5 * r**2), r * w**2], rtol=1e-13)


def test_planar_joint_has_the_coriolis_terms_of_an_eccentric_puck():
    """m (x, y)'' = F + m c w^2 (cos, sin) - m c w' (-sin, cos), and the moment of the same about the joint."""
    m, c, inertia, w = 1.4, 0.3, 0.2, 2.5
    model = hs.build([hs.Link("puck", m, (c, 0, 0), inertia)], [hs.Joint("table", "planar", "world", "puck")])
    angle, force = 0.6, np.array([1.0, -2.0, 0.5])
    along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    M = np.block([[m * np.eye(2), m * c * across[:, None]], [m * c * across[None], np.array([[inertia + m * c**2]])]])
    h = np.concatenate([-m * c * w**2 * along, [0.0]])
    found = hs.forward_dynamics(model, np.array([0.1, 0.2, angle]), np.array([0.7, -0.3, w]), force)
    np.testing.assert_allclose(found, np.linalg.solve(M, force - h), rtol=1e-12)
