"""A conservative network gives back on every way what it took on another."""

import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment import Conservative, Even, Odd

from .scenes import BALL_JOINT, CHAIN, FLYING, SMOOTH, answers, energies, graft, rollout, states

TOGETHER = {"apply": "together"}


def angles(q):
    return q


def circled(q):
    """As `cyclic` shows them, and the hidden angles."""
    pairs = np.stack([np.sin(q), np.cos(q)], axis=-1).reshape(*q.shape[:-1], -1)
    return np.concatenate([pairs, q], axis=-1)


CASES = {
    "joints": (CHAIN, "joint.position", TOGETHER, angles),
    "cyclic": (CHAIN, hs.cyclic("joint.position"), TOGETHER, circled),
    "in another order": (
        CHAIN,
        ("joint.position[joint2]", "joint.position[joint1]"),
        TOGETHER,
        lambda q: q[..., ::-1],
    ),
    "spherical": (BALL_JOINT, "joint.position", {}, angles),
    "free": (FLYING, "joint.position", {}, angles),
}


def potentials(hybrid, x):
    network = hybrid.augmentation.sites[0].network
    return np.asarray(jax.vmap(network.potential)(x))


@pytest.mark.parametrize("case", CASES)
def test_power_is_what_the_potential_loses(case):
    model, inputs, options, seen = CASES[case]
    q, qd = states(model, 10)
    hybrid = graft(model, "joint.force", inputs, Conservative(SMOOTH), **options)
    rate = np.asarray(jax.vmap(lambda q, qd: hs.configuration_rate(model, q, qd))(q, qd))
    ahead, behind = (potentials(hybrid, seen(q + h * rate)) for h in (1e-5, -1e-5))
    power = np.sum(answers(hybrid, seen(q)) * qd, axis=1)
    assert power == pytest.approx((behind - ahead) / 2e-5, rel=1e-7, abs=1e-8)
    assert np.abs(power).max() > 0.1


HEAVY = ("in another order", "cyclic", "spherical", "free")


@pytest.mark.parametrize("case", [pytest.param(c, marks=pytest.mark.slow if c in HEAVY else ()) for c in CASES])
def test_energy_and_potential_together_stay_as_they_are(case):
    model, inputs, options, seen = CASES[case]
    (q, *_), (qd, *_) = states(model, 1)
    for seed in range(2):
        hybrid = graft(model, "joint.force", inputs, Conservative(SMOOTH), seed=seed, **options)
        path = rollout(hybrid, q, qd, 0.004, 1000)
        energy, potential = energies(model, path), potentials(hybrid, seen(np.asarray(path.q)))
        assert np.ptp(energy) > 0.1
        assert np.ptp(energy + potential) < 1e-5 * np.ptp(energy)


def test_energy_is_made_without_the_structure():
    (q, *_), (qd, *_) = states(CHAIN, 1)
    hybrid = graft(CHAIN, "joint.force", "joint.position", SMOOTH, **TOGETHER)
    path = rollout(hybrid, q, qd, 0.004, 1000)
    assert np.abs(loop_work(hybrid, angles)) > 1e-2
    assert np.ptp(energies(CHAIN, path)) > 0.1


def loop_work(hybrid, seen) -> float:
    """Along a closed curve of two angles; the rule is exact to rounding for periodic smooth functions."""
    t = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    q = np.stack([0.3 + np.cos(t), -0.2 + 0.7 * np.sin(t)], axis=-1)
    rate = np.stack([-np.sin(t), 0.7 * np.cos(t)], axis=-1)
    return np.sum(answers(hybrid, seen(q)) * rate) * t[1]


@pytest.mark.parametrize("case", ["joints", "cyclic"])
def test_no_work_on_a_closed_way(case):
    model, inputs, options, seen = CASES[case]
    for seed in range(3):
        for network in (Conservative(SMOOTH), Conservative(Even(SMOOTH, "joint.position"))):
            hybrid = graft(model, "joint.force", inputs, network, seed=seed, **options)
            assert np.abs(loop_work(hybrid, seen)) < 1e-10


def test_no_work_on_a_full_turn_though_the_quaternion_changes_its_sign():
    hybrid = graft(BALL_JOINT, "joint.force", "joint.position", Conservative(SMOOTH))
    axis, t = np.array([0.6, 0.0, 0.8]), np.linspace(0, 2 * np.pi, 400, endpoint=False)
    q = np.concatenate([np.cos(t / 2)[:, None], np.sin(t / 2)[:, None] * axis], axis=1)
    moments = answers(hybrid, q)
    assert np.abs(moments @ axis).max() > 1e-2
    assert np.abs(np.sum(moments @ axis) * t[1]) < 1e-10
    assert answers(hybrid, -q) == pytest.approx(moments)


def test_each_joint_may_have_a_potential_of_its_own_with_constants():
    inputs = ("joint.position", hs.constant("load", {"joint1": 1.0, "joint2": 2.0}))
    for apply in ("each", "shared"):
        hybrid = graft(CHAIN, "joint.passive_force", inputs, Conservative(SMOOTH), apply=apply, mode="replace")
        network, x = hybrid.augmentation.sites[-1].network, np.array([0.7, 2.0])
        step = np.array([1e-6, 0.0])
        slope = (network.potential(x + step) - network.potential(x - step)) / 2e-6
        assert answers(hybrid, x[None], -1)[0] == pytest.approx(-float(slope), rel=1e-6)


def test_an_even_potential_pushes_in_opposite_directions():
    hybrid = graft(CHAIN, "joint.force", "joint.position", Conservative(Even(SMOOTH, "joint.position")), **TOGETHER)
    x = np.random.default_rng(0).standard_normal((5, 2))
    assert answers(hybrid, -x) == pytest.approx(-answers(hybrid, x))
    hybrid = graft(CHAIN, "joint.force", "joint.position", Conservative(Odd(SMOOTH, "joint.position")), **TOGETHER)
    assert answers(hybrid, -x) == pytest.approx(answers(hybrid, x))


def test_it_starts_with_no_effect():
    hybrid = hs.Blueprint(hs.Augment("joint.force", "joint.position", Conservative(SMOOTH))).graft(CHAIN)
    assert not answers(hybrid, np.ones((3, 1))).any()


@pytest.mark.parametrize(
    ("model", "inputs", "options", "message"),
    [
        (CHAIN, "joint.velocity", {}, r"joint.velocity\[joint1\] is not the present position"),
        (CHAIN, "joint.position[*]", {}, r"joint.position\[joint2\].*apply='together'"),
        (CHAIN, hs.previous("joint.position"), {}, "previous"),
        (CHAIN, "link.position", {}, "link.position"),
        (CHAIN, "world.time", {}, "world.time"),
        (BALL_JOINT, hs.cyclic("joint.position"), {}, "a quaternion is no angle"),
        (CHAIN, "joint.position", {"mode": "scale"}, "mode='scale'"),
    ],
)
def test_a_potential_of_anything_else_is_refused(model, inputs, options, message):
    with pytest.raises(ValueError, match=message):
        hs.Blueprint(hs.Augment("joint.force", inputs, Conservative(SMOOTH), **options)).graft(model)


def test_only_joint_forces_have_a_potential():
    with pytest.raises(ValueError, match=r"joint\.force, joint\.passive_force"):
        hs.Blueprint(hs.Augment("link.external_force", (), Conservative(SMOOTH))).graft(CHAIN)
