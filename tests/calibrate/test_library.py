"""The library of forces: each weight adds its term and nothing else; at zero the model is what it was."""

from dataclasses import replace

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate.library import TERMS, one_freedom_joints, scales_of, with_library
from hybridsim.identify import Parameters

from .arms import JOINTS, swinging

Q, QD, COMMAND = np.array([0.7, -0.4]), np.array([1.3, -2.1]), np.array([2.0, -0.5])
LOG = swinging()


@pytest.fixture(scope="module")
def library(arm_model):
    return with_library(arm_model, [LOG], None)


@pytest.fixture(scope="module")
def force_of(arm_model, library):
    """What a vector of weights adds to the joints' forces."""
    free = Parameters(library[0], ["network"], 2)

    def moved(weights, q, qd, command):
        added = hs.acceleration(free.model(weights), (q, qd), hs.Control(force=command), contact=None)
        plain = hs.acceleration(arm_model, (q, qd), hs.Control(force=command), contact=None)
        return hs.mass_matrix(arm_model, q) @ (added - plain)

    return hs.native.jit(moved)


def weights(library, effect: str, joint: str, term: int = 0) -> np.ndarray:
    """One at 1, all others at 0."""
    found = np.zeros(2 * 11)
    found[library[1][effect, joint][term]] = 1.0
    return found


def formulas(arm_model, i: int) -> dict[tuple[str, int], float]:
    """All terms of a joint, written out."""
    speed_of_friction = np.asarray(arm_model.joints.friction_speed)[i]
    middle, spread = LOG.q.mean(axis=0), LOG.q.std(axis=0)
    speed, load = (
        np.sqrt(np.mean(np.asarray(LOG.qd) ** 2, axis=0)),
        np.sqrt(np.mean(np.asarray(LOG.controls) ** 2, axis=0)),
    )
    q, v, u, j = Q[i], QD[i], COMMAND[i], 1 - i
    sign = np.tanh(v / speed_of_friction)
    drag, sided, loaded, placed, position = TERMS
    return {
        (drag, 0): v * abs(v) / speed[i] ** 2,
        (sided, 0): abs(sign),
        (loaded, 0): abs(u) / load[i] * sign,
        (placed, 0): np.sin(q) * sign,
        (placed, 1): np.cos(q) * sign,
        (position, 0): 1.0,
        (position, 1): (q - middle[i]) / spread[i],
        (position, 2): np.sin(2 * q),
        (position, 3): np.cos(2 * q),
        ("coupling", 0): (Q[j] - middle[j]) / spread[j],
        ("coupling", 1): QD[j] / speed[j],
    }


@pytest.mark.parametrize("joint", JOINTS)
def test_each_weight_adds_its_term(joint, arm_model, library, force_of):
    i = JOINTS.index(joint)
    wanted = formulas(arm_model, i)
    assert len(wanted) == 11
    for (effect, term), value in wanted.items():
        found = np.asarray(force_of(weights(library, effect, joint, term), Q, QD, COMMAND))
        force = np.zeros(2)
        force[i] = value
        np.testing.assert_allclose(found, force, rtol=1e-9, atol=1e-9, err_msg=f"{effect} {term}")


def test_weights_of_zero_change_no_bit(arm_model, library):
    start = Q, QD
    for integrator in (hs.SemiImplicitEuler(), hs.RungeKutta4()):
        with_it, without = (
            hs.native.jit(
                lambda model=model, by=integrator: hs.step(
                    model, start, hs.Control(force=COMMAND), dt=1e-2, contact=None, integrator=by
                )
            )()
            for model in (library[0], arm_model)
        )
        np.testing.assert_array_equal(with_it.q, without.q)
        np.testing.assert_array_equal(with_it.qd, without.qd)


def test_every_weight_belongs_to_one_effect_at_one_joint(library):
    places = library[1]
    assert sorted(i for own in places.values() for i in own) == list(range(22))
    assert {joint for _, joint in places} == set(JOINTS)


def test_without_forces_nothing_depends_on_the_load(arm_model):
    _, places = with_library(arm_model, [replace(LOG, controls=None)], None)
    assert not any("load" in effect for effect, _ in places)
    assert len(places) == 2 * 5


def test_a_single_joint_is_not_coupled():
    log = hs.Trajectory(LOG.time, LOG.q[:, :1], LOG.qd[:, :1], LOG.controls[:, :1])
    _, places = with_library(hs.chain(1), [log], None)
    assert [effect for effect, _ in places] == list(TERMS)


def test_velocities_that_were_not_measured_are_those_of_the_positions(arm_model):
    measured, unmeasured = (scales_of(arm_model, [log]) for log in (LOG, replace(LOG, qd=None)))
    np.testing.assert_allclose(unmeasured.speed, measured.speed, rtol=1e-2)
    assert unmeasured.middle == measured.middle


def test_only_joints_of_one_freedom_have_a_library():
    body = hs.free_body(hs.Link("body", 0.5, inertia=np.diag([1e-3, 2e-3, 3e-3])))
    assert one_freedom_joints(body) == ()
    assert one_freedom_joints(hs.chain(3)) == ("joint1", "joint2", "joint3")
