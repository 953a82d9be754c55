"""Two links that act on each other keep their momentum."""

import equinox as eqx
import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment import ActionReaction, Bounded, Invariant

from .scenes import CHAIN, FLOATING, SMOOTH, graft, rollout, states

PAIR = {"apply": "together"}
INPUTS = ("link.position", "link.velocity")
SNAKE = hs.chain(3, base="free", gravity=(0, 0, 0))
SCENES = {"two bodies": (FLOATING, "*"), "ends of a mechanism": (SNAKE, "link1, link3")}


@eqx.filter_jit
def momentum_rates(model, q, qd):
    """d/dt of linear and angular momentum by the motion itself."""

    def rate(q, qd):
        moving = hs.configuration_rate(model, q, qd), hs.acceleration(model, (q, qd))
        return jax.jvp(lambda q, qd: hs.momentum(model, q, qd), (q, qd), moving)[1]

    return jax.vmap(rate)(q, qd)


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize(
    "network",
    [ActionReaction(SMOOTH), ActionReaction(Bounded(hs.GRU(3), 2.0)), ActionReaction(Invariant(SMOOTH))],
    ids=repr,
)
def test_no_force_and_no_moment_in_total(scene, network):
    model, entities = SCENES[scene]
    q, qd = states(model, 10)
    for seed in range(2):
        hybrid = graft(model, "link.external_force", INPUTS, network, seed=seed, entities=entities, **PAIR)
        rate = momentum_rates(hybrid, q, qd)
        assert np.abs(rate.linear).max() < 1e-11
        assert np.abs(rate.angular).max() < 1e-11
        moved = jax.vmap(lambda q, qd, hybrid=hybrid: hs.acceleration(hybrid, (q, qd)))(q, qd)
        assert np.abs(moved - jax.vmap(lambda q, qd: hs.acceleration(model, (q, qd)))(q, qd)).max() > 1e-1


def test_momentum_changes_without_the_structure():
    rate = momentum_rates(graft(FLOATING, "link.external_force", INPUTS, SMOOTH, **PAIR), *states(FLOATING, 5))
    assert np.abs(rate.linear).max() > 1e-1
    assert np.abs(rate.angular).max() > 1e-1


def test_momentum_stays_over_a_motion():
    """Semi-implicit Euler keeps linear momentum exactly, Runge-Kutta both to its order."""
    (q, *_), (qd, *_) = states(FLOATING, 1)
    hybrid = graft(FLOATING, "link.external_force", INPUTS, ActionReaction(SMOOTH), size=0.3, **PAIR)

    def drift(integrator, dt):
        path = rollout(hybrid, q, qd, dt, round(2 / dt), integrator)
        momentum = jax.vmap(lambda q, qd: hs.momentum(FLOATING, q, qd))(path.q, path.qd)
        return np.ptp(momentum.linear, axis=0).max(), np.ptp(momentum.angular, axis=0).max()

    assert drift(hs.SemiImplicitEuler(), 0.01)[0] < 1e-12
    coarse, fine = (np.array(drift(hs.RungeKutta4(), dt)) for dt in (0.02, 0.01))
    assert fine.max() < 1e-6
    assert (coarse / fine).min() > 12


def test_the_first_link_gets_what_the_network_gives_at_the_point_between():
    hybrid = graft(FLOATING, "link.external_force", INPUTS, ActionReaction(SMOOTH), **PAIR)
    network, x = hybrid.augmentation.sites[0].network, np.random.default_rng(0).standard_normal(18)
    first, second = np.split(network(x, None)[0], 2)
    wrench = np.asarray(network.network(x, None)[0])
    middle = (x[:3] + x[3:6]) / 2
    assert first[3:] == pytest.approx(wrench[3:])
    assert first[:3] == pytest.approx(wrench[:3] + np.cross(middle - x[:3], wrench[3:]))
    assert second[3:] == pytest.approx(-wrench[3:])
    assert second[:3] == pytest.approx(-wrench[:3] - np.cross(middle - x[3:6], wrench[3:]))


@pytest.mark.parametrize(
    ("model", "output", "options", "message"),
    [
        (SNAKE, "link.external_force", {"apply": "together"}, "acts on 3"),
        (FLOATING, "link.external_force", {"apply": "each"}, "apply='together'"),
        (FLOATING, "link.external_force", {"apply": "together", "mode": "scale"}, "mode='scale'"),
        (CHAIN, "joint.force", {"apply": "together"}, "one of: link.external_force"),
    ],
)
def test_it_needs_two_links(model, output, options, message):
    with pytest.raises(ValueError, match=message):
        hs.Blueprint(hs.Augment(output, (), ActionReaction(SMOOTH), **options)).graft(model)
