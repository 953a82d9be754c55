"""A dissipative network never gives energy, whatever its weights."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hybridsim as hs
from hybridsim.augment import Bounded, Dissipative, Even, Invariant, Odd, ZeroAtRest

from .scenes import (
    BALL_JOINT,
    CHAIN,
    FLYING,
    ON_THE_GROUND,
    SMOOTH,
    answers,
    energies,
    graft,
    outputs,
    powers,
    rollout,
    states,
    variables,
)

SPRINGS = hs.Springs()
PLACES = {
    "each joint": (CHAIN, "joint.force", "joint.position", {}),
    "joints together": (CHAIN, "joint.passive_force", ("joint.position", "joint.velocity"), {"apply": "together"}),
    "inputs in another order": (
        CHAIN,
        "joint.actuation",
        ("joint.velocity[joint2]", "joint.velocity[joint1]"),
        {"apply": "together"},
    ),
    "a shared network": (CHAIN, "joint.force", "joint.velocity", {"apply": "shared"}),
    "a spherical joint": (BALL_JOINT, "joint.force", "joint.position", {}),
    "a free joint": (FLYING, "joint.force", "joint.velocity", {}),
    "links": (CHAIN, "link.external_force", "link.position", {"apply": "shared"}),
    "contact points": (ON_THE_GROUND, "contact.friction_force", "contact.normal_force", {}),
}


def on_the_ground(q, qd):
    """Boxes that have sunk in a little, so that points touch."""
    q = q.copy()
    q[:, 2] = 0.5
    return q, qd


def called(place, network, seed=0) -> float:
    """Power for random values of all variables, by the velocity that belongs to the force."""
    model, output, inputs, options = PLACES[place]
    hybrid = graft(model, output, inputs, network, SPRINGS if place == "contact points" else None, seed, **options)
    velocity = {"joint": "joint.velocity", "link": "link.velocity", "contact": "contact.sliding_velocity"}
    values = variables(hybrid, seed)
    return np.sum(outputs(hybrid, values, output) * values[velocity[output.split(".")[0]]])


@pytest.mark.parametrize("place", PLACES)
def test_power_is_never_positive(place):
    assert max(called(place, Dissipative(SMOOTH), seed) for seed in range(8)) < 0
    assert max(called(place, SMOOTH, seed) for seed in range(8)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_power_is_never_positive_in_motion(place):
    """As the mechanism's acceleration tells."""
    model, output, inputs, options = PLACES[place]
    contact = SPRINGS if place == "contact points" else None
    q, qd = on_the_ground(*states(model, 20)) if contact else states(model, 20)
    for seed in range(3):
        lawful = graft(model, output, inputs, Dissipative(SMOOTH), contact, seed, **options)
        power = powers(model, lawful, q, qd, contact)
        assert power.max() <= 1e-11 * np.abs(power).max()
        assert power.min() < -1e-3
    assert powers(model, graft(model, output, inputs, SMOOTH, contact, **options), q, qd, contact).max() > 1e-3


@pytest.mark.parametrize(
    "network",
    [
        Bounded(Dissipative(SMOOTH), 0.5),
        Dissipative(Bounded(Odd(SMOOTH, "link.velocity"), 2.0)),
        Dissipative(ZeroAtRest(Even(SMOOTH, ("link.velocity",)))),
        Dissipative(hs.GRU(4)),
        Invariant(Dissipative(SMOOTH)),
        Invariant(Bounded(Dissipative(hs.LSTM(3)), 0.5), "vertical"),
    ],
    ids=repr,
)
def test_what_may_be_inside_and_outside_keeps_the_law(network):
    """Called by hand: velocity, and where a frame is needed rotation and position."""
    hybrid = graft(FLYING, "link.external_force", "link.velocity", network)
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [rng.standard_normal((20, 6)), Rotation.random(20, rng).as_matrix().reshape(20, 9), np.zeros((20, 3))], axis=1
    )
    x = x[:, : hybrid.augmentation.sites[0].plan.signature.input_size]
    power = np.sum(x[:, :6] * answers(hybrid, x), axis=1)
    assert power.max() <= 1e-11 * np.abs(power).max()
    assert power.min() < -1e-3


def test_energy_never_grows():
    """A double pendulum for 10 s: with a dissipative network it comes down, with any other it is driven."""
    inputs, start = ("joint.position", "joint.velocity"), (np.array([2.0, -1.0]), np.array([1.0, -2.0]))
    for seed in range(3):
        for network, lawful in ((Dissipative(SMOOTH), True), (SMOOTH, False)):
            hybrid = graft(CHAIN, "joint.force", inputs, network, seed=seed, size=0.5, apply="together")
            path = rollout(hybrid, *start, 0.01, 1000)
            energy = energies(CHAIN, path)
            if lawful:
                assert np.diff(energy).max() < 1e-7 * np.ptp(energy)
                assert energy[-1] < energy[0] - 1
            else:
                assert np.diff(energy).max() > 1e-3 * np.ptp(energy)


def test_friction_stays_in_the_plane_of_contact():
    hybrid = graft(ON_THE_GROUND, "contact.friction_force", "contact.depth", Dissipative(SMOOTH), SPRINGS)
    (q, *_), (qd, *_) = on_the_ground(*states(FLYING, 1))
    path = hs.rollout(
        hybrid,
        (q, qd),
        dt=1e-3,
        steps=2,
        contact=SPRINGS,
        record=("contact.friction_force", "contact.normal", "contact.sliding_velocity"),
    )
    force, normal, sliding = (np.asarray(x[0]) for x in path.values.values())
    assert np.abs(np.sum(force * normal, axis=1)).max() < 1e-12 * np.abs(force).max()
    assert np.sum(force * sliding, axis=1).max() < 0


def test_it_starts_with_little_damping_from_which_it_learns():
    hybrid = hs.Blueprint(hs.Augment("joint.force", "joint.velocity", Dissipative(hs.MLP()))).graft(CHAIN)
    v = np.linspace(-2, 2, 20)[:, None]
    power = -v * answers(hybrid, v)
    assert 0 < power.max() < 0.3 * 4


@pytest.mark.parametrize(
    ("augment", "message"),
    [
        (("joint.acceleration", "joint.velocity", Dissipative(SMOOTH)), "joint.acceleration.*one of: joint.force"),
        (("joint.force", "joint.velocity", Dissipative(SMOOTH), "*", "each", "scale"), "mode='scale'"),
        ((("joint.force", "joint.actuation"), "joint.velocity", Dissipative(SMOOTH)), "joint.force, joint.actuation"),
    ],
)
def test_what_is_no_force_cannot_be_dissipative(augment, message):
    with pytest.raises(ValueError, match=message):
        hs.Blueprint(hs.Augment(*augment)).graft(CHAIN)
