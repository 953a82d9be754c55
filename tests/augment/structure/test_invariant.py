"""Turning and moving the whole world turns and moves the motion."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hybridsim as hs
from hybridsim.augment import ActionReaction, Dissipative, Invariant, Odd, ZeroAtRest

from .scenes import CHAIN, FLYING, SMOOTH, TWO, graft, rollout, states

BODY = (
    "link.velocity",
    "world.gravity",
    "link.momentum",
    "link.position[other/plank]",
    "link.rotation[other/plank]",
    "link.pose[other/plank]",
    "link.velocity[other/plank]",
    hs.history("link.position", 2),
    hs.previous("link.velocity"),
    "joint.velocity",
)
VERTICAL = ("link.velocity", "link.position", "link.rotation", "link.pose", "link.position[other/plank]")
ONE = {"entities": "brick"}
PAIR = {"apply": "together"}
CASES = {
    "body": (Invariant(SMOOTH), BODY, ONE),
    "vertical": (Invariant(SMOOTH, "vertical"), VERTICAL, ONE),
    "body, recurrent": (Invariant(hs.GRU(4)), BODY[:2], ONE),
    "vertical, shared by both": (Invariant(SMOOTH, "vertical"), VERTICAL[:3], {"apply": "shared"}),
    "dissipative": (Invariant(Dissipative(SMOOTH)), BODY[:2], ONE),
    "odd": (Odd(Invariant(ZeroAtRest(SMOOTH)), "world.gravity"), BODY[:2], ONE),
    "a pair": (ActionReaction(Invariant(SMOOTH)), ("link.position", "link.velocity", "link.rotation"), PAIR),
    "a pair, vertical": (ActionReaction(Invariant(SMOOTH, "vertical")), ("link.position", "link.rotation"), PAIR),
}


def turn(frame: str, seed: int) -> tuple[Rotation, np.ndarray]:
    rng = np.random.default_rng(seed)
    if "vertical" in frame:
        return Rotation.from_rotvec((0, 0, rng.uniform(-3, 3))), 10 * rng.standard_normal(3) * (1, 1, 0)
    return Rotation.random(random_state=seed), 10 * rng.standard_normal(3)


def moved(q: np.ndarray, rotation: Rotation, shift: np.ndarray) -> np.ndarray:
    """Positions and quaternions of free bodies after turning and moving the world."""
    bodies = q.reshape(-1, 7)
    turned = rotation * Rotation.from_quat(bodies[:, 3:], scalar_first=True)
    return np.concatenate([rotation.apply(bodies[:, :3]) + shift, turned.as_quat(scalar_first=True)], axis=1).ravel()


def end(model, q, qd):
    path = rollout(model, q, qd, 0.01, 50, hs.SemiImplicitEuler())
    return np.array(path.q[-1]), np.array(path.qd[-1])


def difference(hybrid, frame: str, seed: int) -> float:
    """Between the end of the moved motion and the moved end of the motion."""
    (q, *_), (qd, *_) = states(TWO, 1, seed)
    q = q.copy()
    rotation, shift = turn(frame, seed)
    last, speed = end(hybrid, q, qd)
    elsewhere = replace(hybrid, gravity=rotation.apply(hybrid.gravity))
    other, other_speed = end(elsewhere, moved(q, rotation, shift), qd)
    wanted = moved(last, rotation, shift)
    bodies, expected = other.reshape(-1, 7), wanted.reshape(-1, 7)
    signs = np.sign(np.sum(bodies[:, 3:] * expected[:, 3:], axis=1, keepdims=True))
    apart = [bodies[:, :3] - expected[:, :3], bodies[:, 3:] - signs * expected[:, 3:], other_speed - speed]
    return max(np.abs(x).max() for x in apart)


QUICK = ("a pair",)


@pytest.mark.parametrize("case", [pytest.param(c, marks=() if c in QUICK else pytest.mark.slow) for c in CASES])
def test_motion_turns_with_the_world(case):
    network, inputs, options = CASES[case]
    for seed in range(2):
        hybrid = graft(TWO, "link.external_force", inputs, network, seed=seed, size=0.5, **options)
        assert difference(hybrid, case, seed) < 1e-9
        free = replace(hybrid, augmentation=None)
        (q, *_), (qd, *_) = states(TWO, 1, seed)
        assert np.abs(end(hybrid, q, qd)[1] - end(free, q, qd)[1]).max() > 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("frame", ["body", "vertical"])
def test_without_the_structure_it_does_not(frame):
    inputs = {"body": BODY, "vertical": VERTICAL}[frame]
    assert difference(graft(TWO, "link.external_force", inputs, SMOOTH, size=0.5, **ONE), frame, 0) > 1e-2


@pytest.mark.slow
def test_vertical_sees_what_is_up_and_body_does_not():
    """A turn about x is a change for the one, none for the other."""
    for network, same in ((Invariant(SMOOTH), True), (Invariant(SMOOTH, "vertical"), False)):
        hybrid = graft(TWO, "link.external_force", "link.velocity", network, size=0.5, **ONE)
        assert (difference(hybrid, "body", 1) < 1e-9) == same


@pytest.mark.parametrize(
    ("model", "inputs", "network", "options", "message"),
    [
        (FLYING, "link.position", Invariant(SMOOTH), {}, r"link.position\[brick\] of the link itself.*vertical"),
        (FLYING, "link.rotation", Invariant(SMOOTH), {}, r"link.rotation\[brick\] of the link itself"),
        (TWO, "link.pose[*]", Invariant(SMOOTH), ONE, r"link.pose\[brick\] of the link itself"),
        (FLYING, "joint.position", Invariant(SMOOTH, "vertical"), {}, "free joint is a place in the world"),
        (FLYING, hs.previous("joint.position"), Invariant(SMOOTH), {}, "free joint is a place in the world"),
        (FLYING, hs.cyclic("link.velocity"), Invariant(SMOOTH), {}, "is no angle"),
        (TWO, "link.velocity", Invariant(SMOOTH), PAIR, "several links at once"),
        (FLYING, "link.velocity", Invariant(SMOOTH), {"mode": "scale"}, "mode='scale'"),
    ],
)
def test_inputs_that_belong_to_the_world_are_refused(model, inputs, network, options, message):
    with pytest.raises(ValueError, match=message):
        hs.Blueprint(hs.Augment("link.external_force", inputs, network, **options)).graft(model)


def test_it_is_about_links():
    with pytest.raises(ValueError, match=r"one of: link\.external_force"):
        hs.Blueprint(hs.Augment("joint.force", "joint.velocity", Invariant(SMOOTH))).graft(CHAIN)


def test_frames_are_two():
    with pytest.raises(ValueError, match="'body' or 'vertical'"):
        Invariant(SMOOTH, "world")
