"""Two links that act on each other keep their momentum."""

import equinox as eqx
import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment import ActionReaction, Bounded, Invariant

from .scenes import CHAIN, FLOATING, SMOOTH, answers, graft, states

PAIR = {"apply": "together"}
INPUTS = ("link.position", "link.velocity")
SNAKE = hs.chain(3, base="free", gravity=(0, 0, 0))
LAWFUL = {
    "alone": ActionReaction(SMOOTH),
    "bounded, recurrent": ActionReaction(Bounded(hs.GRU(3), 2.0)),
    "in the frame of one": ActionReaction(Invariant(SMOOTH)),
}


def total(hybrid) -> tuple[float, float]:
    """The largest force and moment about the world's origin of both wrenches together; positions are the first inputs."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20, hybrid.augmentation.sites[0].plan.signature.input_size))
    wrenches, places = answers(hybrid, x).reshape(-1, 2, 6), x[:, :6].reshape(-1, 2, 3)
    force, moment = wrenches[:, :, 3:], wrenches[:, :, :3] + np.cross(places, wrenches[:, :, 3:])
    assert np.abs(wrenches).max() > 0.1
    return np.abs(force.sum(axis=1)).max(), np.abs(moment.sum(axis=1)).max()


@pytest.mark.parametrize("case", LAWFUL)
def test_no_force_and_no_moment_in_total(case):
    for seed in range(3):
        hybrid = graft(FLOATING, "link.external_force", INPUTS, LAWFUL[case], seed=seed, **PAIR)
        assert max(total(hybrid)) < 1e-12
    assert min(total(graft(FLOATING, "link.external_force", INPUTS, SMOOTH, **PAIR))) > 0.1


@eqx.filter_jit
def _rates(model, q, qd):
    def rate(q, qd):
        moving = hs.configuration_rate(model, q, qd), hs.acceleration(model, (q, qd))
        return jax.jvp(lambda q, qd: hs.momentum(model, q, qd), (q, qd), moving)[1]

    return jax.vmap(rate)(q, qd)


def test_the_mechanism_keeps_its_momentum():
    """d/dt of momentum by the motion itself, where the ends of a floating chain act on each other."""
    options = {"entities": "link1, link3", **PAIR}
    for network, lawful in ((ActionReaction(SMOOTH), True), (SMOOTH, False)):
        hybrid = graft(SNAKE, "link.external_force", INPUTS, network, **options)
        rate = _rates(hybrid, *states(SNAKE, 10))
        assert (np.abs(rate.linear).max() < 1e-11) == lawful
        assert (np.abs(rate.angular).max() < 1e-11) == lawful


@pytest.mark.slow
def test_momentum_stays_over_a_motion():
    """Semi-implicit Euler keeps linear momentum exactly, Runge-Kutta both to its order."""
    (q, *_), (qd, *_) = states(FLOATING, 1)
    hybrid = graft(FLOATING, "link.external_force", INPUTS, ActionReaction(SMOOTH), size=0.3, **PAIR)

    for integrator, linear, angular in ((hs.SemiImplicitEuler(), 1e-12, 1.0), (hs.RungeKutta4(), 1e-6, 1e-6)):
        path = hs.rollout(hybrid, (q, qd), dt=0.005, steps=400, integrator=integrator, contact=None)
        momentum = jax.vmap(lambda q, qd: hs.momentum(FLOATING, q, qd))(path.q, path.qd)
        assert np.ptp(momentum.linear, axis=0).max() < linear
        assert np.ptp(momentum.angular, axis=0).max() < angular


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
