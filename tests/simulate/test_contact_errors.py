"""Overlapping starts and scenes without a solution end in words that name two shapes, never in NaN."""

import re

import jax
import numpy as np
import pytest

import hybridsim as hs

EDGE = 0.05
BOX = hs.free_body(hs.solid("box", 0.4, "box", (EDGE, EDGE, EDGE)))
ON_GROUND = hs.world(BOX, hs.ground())


def at_height(model: hs.Model, z: float):
    q, qd = model.rest()
    q[model.q_of("root")] = [0, 0, z, 1, 0, 0, 0]
    return q, qd


@pytest.mark.parametrize("contact", [hs.Impulses(), hs.Springs()])
def test_a_start_deep_in_the_ground_is_refused(contact):
    with pytest.raises(
        hs.ContactError, match=r"'box/box' and 'ground' overlap by 0\.06 m at the start.*start them apart"
    ):
        hs.rollout(ON_GROUND, at_height(ON_GROUND, -0.01), dt=1e-4, steps=1, contact=contact)


def test_two_bodies_in_one_place_are_refused_unless_they_may_pass_through_each_other():
    pair = hs.world(BOX, hs.prefixed(BOX, "second/"))
    with pytest.raises(hs.ContactError, match=r"'box/box' and 'second/box/box' overlap by 0\.1 m") as caught:
        hs.rollout(pair, pair.rest(), dt=1e-3, steps=1)
    advice = re.search(r"contact=(hs\.ContactByPair\(.*\)),", str(caught.value))
    path = hs.rollout(pair, pair.rest(), dt=1e-3, steps=1, contact=eval(advice[1], {"hs": hs}))
    assert np.isfinite(path.q).all()


def test_a_little_overlap_is_taken_back():
    path = hs.rollout(ON_GROUND, at_height(ON_GROUND, EDGE - 2e-3), dt=1e-3, steps=3, check=True)
    assert path.values == {}
    assert abs(path.q[-1, 2] - EDGE) < 1e-6
    assert np.abs(path.qd[-1]).max() < 1e-6


def test_traced_starts_are_not_looked_at():
    q, qd = at_height(ON_GROUND, -0.01)
    path = jax.jit(lambda q, qd: hs.rollout(ON_GROUND, (q, qd), dt=1e-3, steps=2))(q, qd)
    assert np.isfinite(path.q).all()


def press(speed: float = 0.1):
    """A prescribed plate that comes down upon a box on the ground, which it meets after 0.1 s."""
    plate = hs.solid("plate", 1.0, "box", (0.2, 0.2, 0.01))
    rail = hs.Joint("rail", "prismatic", "world", "plate", axis=(0, 0, 1), position=(0, 0, 2 * EDGE + 0.02))
    model = hs.prescribed(hs.world(BOX, hs.build([plate], [rail]), hs.ground()), "rail")
    t = 1e-2 * np.arange(31)
    motion = hs.prescribed_motion(model, t, {"rail": -speed * t[:, None]}, dt=1e-3)
    return model, motion.start(model, at_height(model, EDGE)), hs.Control(prescribed=motion.steps)


def test_a_press_without_a_solution_names_the_pair_and_the_time():
    model, start, control = press()
    with pytest.raises(
        hs.ContactError, match=r"nothing keeps '.*box.*' and '.*' apart in step (99|100|101) "
    ) as caught:
        hs.rollout(model, start, control, dt=1e-3, check=True)
    assert "prescribed body" in str(caught.value)
    # Unchecked it gives way, in finite numbers.
    path = hs.rollout(model, start, control, dt=1e-3)
    assert np.isfinite(path.q).all()
    assert np.isfinite(path.qd).all()
    assert np.abs(path.qd).max() < 10


def test_a_press_that_only_touches_has_a_solution():
    model, start, control = press(speed=0.03)
    path = hs.rollout(model, start, control, dt=1e-3, check=True)
    assert np.abs(path.q[:, 2] - EDGE).max() < 1e-6


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e-3])
def test_stacks_of_unequal_masses_pass_the_check(ratio):
    upper = hs.free_body(hs.solid("upper", 0.4 * ratio, "box", (EDGE, EDGE, EDGE)))
    model = hs.world(BOX, hs.prefixed(upper, "on/"), hs.ground())
    q, qd = at_height(model, EDGE)
    q[model.q_of("on/root")] = [0, 0, 3 * EDGE, 1, 0, 0, 0]
    path = hs.rollout(model, (q, qd), dt=1e-3, steps=200, check=True)
    assert np.abs(path.q - q).max() < 1e-4


def test_a_log_that_starts_deep_in_the_ground_names_its_run_and_time():
    t = 0.01 * np.arange(40)
    q = np.tile(at_height(ON_GROUND, 1.0)[0], (40, 1))
    q[20:, 2] = -0.02
    log = hs.Trajectory(t, q, np.zeros((40, 6)), source="fall.csv", quaternions=(3,))
    with pytest.raises(hs.ContactError, match=r"overlap by 0\.07 m in run 'fall\.csv' at t = 0\.2 s.*fit\.toml"):
        hs.fit(ON_GROUND, log, ["contact/*/friction"], window=0.1)
