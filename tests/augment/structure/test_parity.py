"""Odd and even functions of chosen inputs, and functions that vanish at rest."""

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment import Bounded, Even, Odd, ZeroAtRest

from .scenes import BALL_JOINT, CHAIN, FLYING, SMOOTH, answers, graft

INPUTS = ("joint.position", "joint.velocity", hs.constant("load", 2.0))
# position, velocity, load
X = np.random.default_rng(0).standard_normal((20, 3))
BACK = X * (1, -1, 1)
STILL = X * (1, 0, 1)


def built(network, seed=0, inputs=INPUTS, model=CHAIN, output="joint.force"):
    return graft(model, output, inputs, network, seed=seed)


@pytest.mark.parametrize(
    ("around", "sign"),
    [(Odd, -1), (Even, 1), (lambda n, names: Bounded(Odd(n, names), 0.5), -1)],
    ids=["odd", "even", "bounded"],
)
def test_parity(around, sign):
    for seed in range(3):
        y = answers(built(around(SMOOTH, ("joint.velocity",)), seed), X)
        assert answers(built(around(SMOOTH, ("joint.velocity",)), seed), BACK) == pytest.approx(sign * y, rel=1e-12)
        assert np.ptp(y) > 1e-2
    assert np.abs(answers(built(SMOOTH), BACK) - sign * answers(built(SMOOTH), X)).max() > 1e-2


def test_other_inputs_have_no_parity():
    hybrid = built(Odd(SMOOTH, "joint.velocity"))
    assert np.abs(answers(hybrid, X * (-1, -1, 1)) + answers(hybrid, X)).max() > 1e-2


def test_one_of_several_inputs_by_its_label():
    hybrid = built(Odd(SMOOTH, "joint.velocity[joint1]"), inputs="joint.velocity[*]")
    x = X[:, :2]
    assert answers(hybrid, x * (-1, 1)) == pytest.approx(-answers(hybrid, x), rel=1e-12)


def test_of_sine_and_cosine_the_sine_changes_its_sign():
    inputs = (hs.cyclic("joint.position"), hs.cyclic(hs.history("joint.position", 2)))
    hybrid = built(Odd(SMOOTH, "joint.position"), inputs=inputs)

    def seen(q, earlier, before):
        angles = (q, earlier, before)
        return np.stack([part for x in angles for part in (np.sin(x), np.cos(x))], axis=-1)

    y = answers(hybrid, seen(*X.T))
    assert answers(hybrid, seen(*-X.T)) == pytest.approx(-y, rel=1e-12)
    assert np.ptp(y) > 1e-2


def test_zero_at_rest():
    for seed in range(3):
        for network in (
            ZeroAtRest(SMOOTH),
            Bounded(ZeroAtRest(Even(SMOOTH, "joint.velocity"), ("joint.velocity",)), 3),
        ):
            hybrid = built(network, seed)
            assert np.abs(answers(hybrid, STILL)).max() < 1e-14
            assert np.ptp(answers(hybrid, X)) > 1e-2
    assert np.abs(answers(built(SMOOTH), STILL)).max() > 1e-2


def test_parity_survives_the_subtraction_at_rest():
    hybrid = built(ZeroAtRest(Odd(SMOOTH, "joint.position")))
    assert answers(hybrid, X * (-1, 1, 1)) == pytest.approx(-answers(hybrid, X), rel=1e-12)


def test_all_velocities_rest_unless_named():
    inputs = ("link.velocity", "joint.velocity")
    still = np.zeros((1, 12))
    both = built(ZeroAtRest(SMOOTH), inputs=inputs, model=FLYING, output="link.external_force")
    one = built(ZeroAtRest(SMOOTH, "joint.velocity"), inputs=inputs, model=FLYING, output="link.external_force")
    links_move = still.copy()
    links_move[0, :6] = 1.0
    assert answers(both, links_move).any()
    assert np.abs(answers(one, links_move)).max() < 1e-14


@pytest.mark.parametrize(
    ("model", "inputs", "network", "message"),
    [
        (CHAIN, "joint.position", Odd(SMOOTH, "joint.velocity"), "'joint.velocity' is not among .*joint.position"),
        (CHAIN, "joint.position", Even(SMOOTH, ("joint.position", "speed")), "'speed' is not among"),
        (CHAIN, "joint.position", ZeroAtRest(SMOOTH), "none of joint.velocity, link.velocity.*joint.position"),
        (BALL_JOINT, "joint.position", Odd(SMOOTH, "joint.position"), "is a rotation"),
        (CHAIN, "link.rotation", Even(SMOOTH, "link.rotation"), "is a rotation"),
    ],
)
def test_inputs_that_are_not_there_or_have_no_sign(model, inputs, network, message):
    with pytest.raises(ValueError, match=message):
        hs.Blueprint(hs.Augment("joint.force", inputs, network)).graft(model)


@pytest.mark.parametrize("names", [(), []])
def test_names_are_names(names):
    with pytest.raises(ValueError, match="give names of inputs"):
        Odd(SMOOTH, names)
