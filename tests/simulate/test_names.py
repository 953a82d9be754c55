"""Marks on variables cost nothing, see what they say they see, and change what they say they change."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hybridsim as hs
from hybridsim.model import VARIABLES
from hybridsim.model.names import Marks
from hybridsim.spatial import matrix_from_quaternion, quaternion_from_matrix

CHAIN = hs.chain(2, damping=0.1, stiffness=0.2, friction=0.05, armature=0.01)
MOVING = hs.State(np.array([0.4, -0.7]), np.array([1.0, 0.5]))
MASS = 1.5
BOX = hs.with_contacts(
    hs.world(hs.free_body(hs.solid("box", MASS, "box", (0.1, 0.15, 0.2))), hs.ground()),
    restitution=0.3,
    transition_speed=0.3,
)
# It overlaps the ground a little, turns, slides and falls.
LANDING = hs.State(np.array([0.0, 0.0, 0.198, 1, 0.01, 0.02, 0.0]), np.array([0.3, 0.2, 0.1, 0.6, 0.4, -0.5]))
DRIVEN = hs.build(
    [hs.solid("arm", 1.0, "capsule", (0.02, 0.3), (0, 0, -0.3))],
    [hs.Joint("hinge", "revolute", "world", "arm", axis=(0, 1, 0), damping=0.2)],
    actuators=[hs.Actuator("motor", "hinge", gain=2.0)],
)
SWINGING = hs.State(np.array([0.3]), np.array([0.7]))

MODELS = {"chain": (CHAIN, MOVING), "box": (BOX, LANDING), "driven": (DRIVEN, SWINGING)}
CONTACTS = {"impulses": hs.Impulses(), "springs": hs.Springs()}
ALL = {
    (model, contact): hs.names(MODELS[model][0], CONTACTS[contact])
    for model, contact in [("chain", "impulses"), ("driven", "impulses"), ("box", "impulses"), ("box", "springs")]
}


def program(function, *arguments) -> str:
    return str(jax.make_jaxpr(function)(*arguments))


def identity(name, value):
    return value


@pytest.mark.parametrize(
    ("model", "integrator", "contact"),
    [
        ("chain", hs.SemiImplicitEuler(), "impulses"),
        ("chain", hs.ImplicitDamping(), "impulses"),
        ("chain", hs.RungeKutta4(), "impulses"),
        ("driven", hs.SemiImplicitEuler(), "impulses"),
        ("box", hs.SemiImplicitEuler(), "impulses"),
        ("box", hs.SemiImplicitEuler(), "springs"),
        ("box", hs.RungeKutta4(), "springs"),
    ],
    ids=lambda x: x if isinstance(x, str) else type(x).__name__,
)
def test_marks_and_empty_blueprints_leave_the_program_as_it_is(model, integrator, contact):
    """Equation for equation: a step without marks is taken, one with a user's identity, and one of an empty blueprint."""
    model, state = MODELS[model]
    options = {"integrator": integrator, "contact": CONTACTS[contact]}
    empty = hs.Blueprint().graft(model, contact=CONTACTS[contact])
    plain = program(lambda q, qd: hs.step(model, (q, qd), **options), *state)
    assert "add" in plain
    assert program(lambda q, qd: hs.step(model, (q, qd), named=identity, **options), *state) == plain
    assert program(lambda q, qd: hs.step(empty, (q, qd), **options), *state) == plain


def test_a_marked_rollout_is_the_same_program_as_an_unmarked_one():
    unmarked = program(lambda m, s: hs.rollout(m, s, steps=5), CHAIN, MOVING)
    assert program(lambda m, s: hs.rollout(m, s, steps=5, named=identity), CHAIN, MOVING) == unmarked


def test_there_are_many_names_and_every_name_of_the_table_occurs():
    told = hs.names(hs.prescribed(DRIVEN, "hinge"))
    found = {mark.name for marks in (*ALL.values(), told) for mark in marks}
    assert found == set(VARIABLES)
    assert len(found) >= 30


@pytest.mark.parametrize("case", ALL, ids=" ".join)
def test_names_come_in_order_with_shape_and_meaning(case):
    marks = ALL[case]
    for i, mark in enumerate(marks):
        assert mark.inputs == tuple(earlier.name for earlier in marks[:i])
        assert 0 not in mark.shape
        assert mark.variable.text


def test_joint_limits_without_shapes_make_no_contact_variables():
    arm = hs.chain(1, lower=-1.0, upper=1.0)
    assert arm.limits.freedoms
    assert not any(mark.name.startswith("contact.") for mark in hs.names(arm))


def test_a_mark_outside_the_table_is_an_error(monkeypatch):
    monkeypatch.delitem(VARIABLES, "joint.force")
    with pytest.raises(KeyError, match=r"marks 'joint\.force', which model/variables\.py does not describe"):
        hs.names(CHAIN)


class Changing(Marks):
    """One variable becomes a little more than twice itself; which one is a number, so that one program does for all."""

    def __init__(self, marks, which):
        self.places, self.which = {mark.name: i for i, mark in enumerate(marks) if mark.changes}, which

    def __call__(self, name, value):
        if name not in self.places:
            return value
        return jnp.where(self.which == self.places[name], 2.1 * jnp.asarray(value) + 1e-3, value)

    def wants(self, name):
        return name in self.places


@pytest.mark.parametrize("case", ALL, ids=" ".join)
def test_every_mark_that_says_so_changes_the_motion(case):
    (model, state), contact, marks = MODELS[case[0]], CONTACTS[case[1]], ALL[case]
    control = np.full(model.nu or model.nv, 0.3)

    @jax.jit
    def next_state(which):
        return hs.step(model, state, control, contact=contact, dt=1e-2, named=Changing(marks, which))

    plain = np.concatenate(list(next_state(-1)))
    asleep = [
        mark.name
        for i, mark in enumerate(marks)
        if mark.changes and np.abs(np.concatenate(list(next_state(i))) - plain).max() < 1e-12
    ]
    assert asleep == []


# Recorded values


def test_recorded_links_are_where_kinematics_says():
    model = hs.chain(2, base="free")
    rng = np.random.default_rng(1)
    q = np.concatenate([rng.normal(size=3), rng.normal(size=4), [0.7]])
    q[3:7] /= np.linalg.norm(q[3:7])
    state, dt = hs.State(q, rng.normal(size=7)), 1e-6
    names = ("link.position", "link.rotation", "link.pose", "link.velocity", "link.momentum")
    motion = hs.rollout(model, state, dt=dt, steps=2, record=names, contact=None)
    values = {name: np.asarray(x) for name, x in motion.values.items()}
    poses = hs.forward_kinematics(model, q)
    for i, link in enumerate(model.link_names):
        assert np.allclose(values["link.position"][0, i], poses[link].position, atol=1e-14)
        assert np.allclose(values["link.rotation"][0, i].reshape(3, 3), poses[link].rotation, atol=1e-14)
        assert np.allclose(values["link.pose"][0, i, :3], poses[link].position, atol=1e-14)
        assert values["link.pose"][0, i, 3] >= 0
        assert np.allclose(matrix_from_quaternion(values["link.pose"][0, i, 3:]), poses[link].rotation, atol=1e-14)
        assert np.allclose(values["link.velocity"][0, i], hs.jacobian(model, q, link) @ state.qd, atol=1e-12)
    moved = (values["link.position"][1] - values["link.position"][0]) / dt
    # The second position was reached with the second velocity.
    assert np.allclose(moved, values["link.velocity"][1][:, 3:], atol=1e-4)
    # Momenta about the origins of the links, all taken about the world's origin.
    angular, linear = values["link.momentum"][0, :, :3], values["link.momentum"][0, :, 3:]
    total = hs.momentum(model, q, state.qd)
    assert np.allclose(linear.sum(0), total.linear, atol=1e-12)
    about_origin = angular + np.cross(values["link.position"][0], linear)
    assert np.allclose(about_origin.sum(0), total.angular, atol=1e-12)


TOUCH = tuple(
    f"contact.{name}" for name in ("normal_force", "friction_force", "normal", "distance", "depth", "sliding_velocity")
)


@pytest.mark.parametrize("contact", CONTACTS.values(), ids=CONTACTS)
def test_the_normal_forces_of_a_resting_box_carry_its_weight(contact):
    weight = MASS * 9.81
    # Springs carry a quarter of it at each corner where they are this deep.
    depth = (weight / 4 / BOX.contacts.stiffness[0]) ** (1 / BOX.contacts.exponent[0]) if contact == hs.Springs() else 0
    start = hs.State(np.array([0, 0, 0.2 - depth, 1, 0, 0, 0.0]), np.zeros(6))
    values = hs.rollout(BOX, start, dt=1e-3, steps=20, contact=contact, record=TOUCH).values
    assert np.allclose(values["contact.normal_force"].sum(1), weight, rtol=1e-6)
    assert np.abs(values["contact.friction_force"]).max() < 1e-6 * weight
    assert np.allclose(values["contact.normal"], [0, 0, 1])
    assert np.array_equal(values["contact.depth"], -values["contact.distance"])


def test_friction_slows_a_sliding_box_by_what_is_recorded():
    start = hs.State(np.array([0, 0, 0.2, 1, 0, 0, 0.0]), np.array([0, 0, 0, 0.5, 0, 0]))
    motion = hs.rollout(BOX, start, dt=1e-3, steps=20, record=TOUCH)
    force = motion.values["contact.friction_force"].sum(1)
    assert np.allclose(MASS * np.diff(motion.qd[:, 3]) / 1e-3, force[:, 0], rtol=1e-2)
    assert np.all(force[:, 0] < 0)
    assert np.allclose(motion.values["contact.sliding_velocity"][0], [0.5, 0, 0])


def test_a_change_of_impulses_changes_velocities_as_momentum_demands():
    """A ball of mass m and radius r: v changes by dx / m, and a tangential impulse turns it by r x dx / I."""
    mass, radius = 2.0, 0.1
    model = hs.world(hs.free_body(hs.solid("ball", mass, "sphere", radius)), hs.ground())
    state = hs.State(np.array([0, 0, radius, 1, 0, 0, 0.0]), np.zeros(6))
    extra = np.array([0.03, 0.01, -0.02])

    @jax.jit
    def after(extra):
        def push(name, value):
            return value + extra if name == "contact.impulse" else value

        return hs.step(model, state, dt=1e-3, named=push)

    plain, pushed = after(np.zeros(3)), after(extra)
    # Velocities of a free joint have the body's axes, and the body has turned a little.
    axes = np.asarray(matrix_from_quaternion(pushed.q[3:]))
    change = np.concatenate([axes @ pushed.qd[:3], axes @ pushed.qd[3:]]) - plain.qd
    assert np.isclose(change[5], extra[0] / mass)
    assert np.isclose(np.linalg.norm(change[3:5]), np.linalg.norm(extra[1:]) / mass)
    # The force acts a radius below the centre.
    force = mass * change[3:]
    turned = np.cross([0, 0, -radius], force) / (0.4 * mass * radius**2)
    assert np.allclose(change[:3], turned)
    J = np.asarray(hs.jacobian(model, state.q, "ball"))
    wrench = np.concatenate([np.cross([0, 0, -radius], force), force])
    assert np.allclose(np.linalg.solve(hs.mass_matrix(model, state.q), J.T @ wrench), change)


def test_recording_what_is_not_there_is_an_error():
    with pytest.raises(KeyError, match=r"no 'contact\.depth' that could be recorded"):
        hs.rollout(CHAIN, MOVING, steps=1, record=("contact.depth",))


# Quaternions of rotation matrices


def test_quaternions_of_matrices_also_of_half_turns():
    half = np.concatenate([np.eye(4)[1:], [[0, 0.6, 0.8, 0], [0, 0.6, 0, -0.8], [0, -0.48, 0.6, 0.64]]])
    R = np.concatenate([Rotation.random(200, random_state=3).as_matrix(), np.asarray(matrix_from_quaternion(half))])
    q = np.asarray(quaternion_from_matrix(R))
    assert np.allclose(np.linalg.norm(q, axis=1), 1)
    assert np.all(q[:, 0] >= 0)
    assert np.allclose(matrix_from_quaternion(q), R, atol=1e-14)


def test_derivatives_of_quaternions_of_matrices_are_finite_and_right():
    half = np.array([[0, 1.0, 0, 0], [0, 0, 0.6, 0.8], [1, 0, 0, 0], [0.5, 0.5, -0.5, 0.5]])

    def through(q):
        return quaternion_from_matrix(matrix_from_quaternion(q))

    for q, slope in zip(half, np.asarray(jax.jit(jax.vmap(jax.jacobian(through)))(half)), strict=True):
        assert np.all(np.isfinite(slope))
        # Along the sphere of unit quaternions it is the identity, but for the sign.
        along = np.linalg.svd(q[None])[2][1:]
        assert np.allclose(np.abs(along @ slope @ along.T), np.eye(3), atol=1e-12)
