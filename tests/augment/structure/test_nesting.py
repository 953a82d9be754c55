"""Structures around structures: what keeps a law may, what breaks one is refused when it is written down."""

import equinox as eqx
import jax.numpy as jnp
import pytest

import hybridsim as hs
from hybridsim.augment import ActionReaction, Bounded, Conservative, Dissipative, Even, Invariant, Odd, ZeroAtRest

from .scenes import CHAIN, SMOOTH

V = "joint.velocity"
BREAKING = {
    "Odd(Dissipative": (lambda: Odd(Dissipative(SMOOTH), V), r"put Odd inside: Dissipative\(Odd"),
    "Even(Dissipative": (lambda: Even(Dissipative(SMOOTH), V), r"Dissipative\(Even"),
    "Odd(Bounded(Dissipative": (lambda: Odd(Bounded(Dissipative(SMOOTH), 1), V), r"Dissipative\(Odd"),
    "Odd(Conservative": (lambda: Odd(Conservative(SMOOTH), V), r"put Odd inside: Conservative\(Odd"),
    "ZeroAtRest(Conservative": (lambda: ZeroAtRest(Conservative(SMOOTH)), r"Conservative\(ZeroAtRest"),
    "ZeroAtRest(Dissipative": (lambda: ZeroAtRest(Dissipative(SMOOTH)), r"Dissipative\(ZeroAtRest"),
    "ZeroAtRest(Bounded": (lambda: ZeroAtRest(Bounded(SMOOTH, 1)), r"Bounded\(ZeroAtRest"),
    "Bounded(Conservative": (lambda: Bounded(Conservative(SMOOTH), 1), r"put Bounded inside: Conservative\(Bounded"),
    "Dissipative(Invariant": (lambda: Dissipative(Invariant(SMOOTH)), r"Invariant\(Dissipative"),
    "Dissipative(Conservative": (lambda: Dissipative(Conservative(SMOOTH)), "cannot be combined"),
    "Dissipative(Dissipative": (lambda: Dissipative(Dissipative(SMOOTH)), "cannot be combined"),
    "Invariant(Conservative": (lambda: Invariant(Conservative(SMOOTH)), "cannot be combined"),
    "ActionReaction(Dissipative": (lambda: ActionReaction(Dissipative(SMOOTH)), "cannot be combined"),
    "Bounded(ActionReaction": (lambda: Bounded(ActionReaction(SMOOTH), 1), r"outermost: ActionReaction\(Bounded"),
    "Invariant(ActionReaction": (lambda: Invariant(ActionReaction(SMOOTH)), r"outermost: ActionReaction\(Invariant"),
    "Dissipative(ActionReaction": (lambda: Dissipative(ActionReaction(SMOOTH)), "ActionReaction must be outermost$"),
}


@pytest.mark.parametrize("case", BREAKING)
def test_what_breaks_a_law_is_refused(case):
    make, message = BREAKING[case]
    with pytest.raises(ValueError, match=message):
        make()


class Remembering(eqx.Module):
    def __call__(self, x, memory):
        return jnp.zeros(1) * memory, memory

    def memory(self):
        return jnp.zeros(1)


@pytest.mark.parametrize("network", [hs.GRU(3), hs.LSTM(3), Invariant(hs.GRU(3)), hs.Custom(Remembering())], ids=repr)
@pytest.mark.parametrize("around", [lambda n: Odd(n, V), lambda n: Even(n, V), ZeroAtRest])
def test_laws_of_functions_do_not_hold_for_networks_with_a_memory(around, network):
    with pytest.raises(ValueError, match="has a memory"):
        around(network)


def test_a_potential_has_no_memory():
    with pytest.raises(ValueError, match="has a memory"):
        Conservative(hs.LSTM(3))


def test_a_memory_that_is_found_late_is_refused_too():
    network = Odd(hs.Custom(lambda inputs, outputs, seed: Remembering()), V)
    with pytest.raises(ValueError, match="has a memory"):
        hs.Blueprint(hs.Augment("joint.force", V, network)).graft(CHAIN)


@pytest.mark.parametrize("network", [3, hs.MLP, "mlp", None])
def test_what_is_no_network_is_refused(network):
    with pytest.raises(TypeError, match=r"Dissipative(.|\n)*network"):
        Dissipative(network)


def test_a_module_of_ones_own_may_be_inside():
    network = Dissipative(hs.Custom(eqx.nn.Lambda(lambda x: x)))
    hs.Blueprint(hs.Augment("joint.force", V, network)).graft(CHAIN)


def test_structures_compare_and_hash():
    assert Odd(SMOOTH, V) == Odd(SMOOTH, (V,)) == Odd(SMOOTH, [V])
    assert hash(Bounded(Odd(SMOOTH, V), 1.0)) == hash(Bounded(Odd(SMOOTH, [V]), 1.0))
    assert Bounded(SMOOTH, 1.0) != Bounded(SMOOTH, 2.0)
