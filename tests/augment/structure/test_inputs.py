"""What networks within structures see: nothing hidden, less after pruning, and of the size of one."""

from dataclasses import replace

import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment import ActionReaction, Bounded, Conservative, Dissipative, Even, Invariant, Odd, ZeroAtRest
from hybridsim.augment.networks import InputLayer

from .scenes import BALL_JOINT, CHAIN, SMOOTH, TWO, answers, graft

V = "joint.velocity"
BOTH = ("joint.position", V)
LINKS = ("link.velocity", "world.gravity")
TOGETHER = {"apply": "together"}
CASES = {
    "Dissipative": (CHAIN, "joint.force", BOTH, Dissipative(SMOOTH), TOGETHER),
    "Conservative": (CHAIN, "joint.force", "joint.position", Conservative(SMOOTH), TOGETHER),
    "Bounded": (CHAIN, "joint.force", BOTH, Bounded(SMOOTH, 0.5), TOGETHER),
    "Odd": (CHAIN, "joint.force", BOTH, Odd(SMOOTH, V), TOGETHER),
    "Even": (CHAIN, "joint.force", BOTH, Even(SMOOTH, V), TOGETHER),
    "ZeroAtRest": (CHAIN, "joint.force", BOTH, ZeroAtRest(SMOOTH), TOGETHER),
    "ActionReaction": (TWO, "link.external_force", LINKS, ActionReaction(SMOOTH), TOGETHER),
    "Invariant": (TWO, "link.external_force", LINKS, Invariant(SMOOTH), {"entities": "brick"}),
    "nested": (TWO, "link.external_force", LINKS, Invariant(Bounded(Dissipative(SMOOTH), 1.0)), {"entities": "brick"}),
}


def input_layers(network) -> list[InputLayer]:
    nodes = jax.tree.leaves(network, is_leaf=lambda node: isinstance(node, InputLayer))
    return [node for node in nodes if isinstance(node, InputLayer)]


def deaf(network, labels):
    """With zero weights for these inputs."""

    def cut(node):
        if not isinstance(node, InputLayer):
            return node
        weight = np.array(node.weight)
        for label in labels:
            weight[:, node.columns[label]] = 0.0
        return replace(node, weight=weight)

    return jax.tree.map(cut, network, is_leaf=lambda node: isinstance(node, InputLayer))


def with_network(model, network):
    (site,) = model.augmentation.sites
    return replace(model, augmentation=replace(model.augmentation, sites=(replace(site, network=network),)))


@pytest.mark.parametrize("case", CASES)
def test_the_innermost_network_sees_what_it_is_given(case):
    model, output, inputs, network, options = CASES[case]
    (site,) = graft(model, output, inputs, network, **options).augmentation.sites
    (layer,) = input_layers(site.network)
    assert layer.blocks == site.plan.signature.without_hidden().inputs
    assert {block.name for block in layer.blocks} == set(np.atleast_1d(inputs).tolist())


@pytest.mark.parametrize("case", CASES)
def test_pruning_an_input_without_weights_changes_nothing(case):
    """The last input of the network, and that of which a structure has need."""
    model, output, inputs, network, options = CASES[case]
    hybrid = graft(model, output, inputs, network, **options)
    (site,) = hybrid.augmentation.sites
    (layer,) = input_layers(site.network)
    for gone in ({layer.blocks[0].label}, {layer.blocks[-1].label}, {block.label for block in layer.blocks}):
        silent = deaf(site.network, gone)
        smaller = silent.without(frozenset(gone))
        left = {block.label for block in smaller.signature.inputs}
        needed = {need.name for need in network.needs((output,))}
        assert left == {b.label for b in site.plan.signature.inputs if b.label not in gone or b.name in needed}
        assert {b.label for b in input_layers(smaller)[0].blocks} == {b.label for b in layer.blocks} - gone
        assert all(b.hidden for b in smaller.signature.inputs if b.label in gone)
        x = np.random.default_rng(0).standard_normal((5, site.plan.signature.input_size))
        slices = site.plan.signature.slices
        kept = np.concatenate([np.zeros(0, dtype=int), *(np.r_[slices[b.label]] for b in smaller.signature.inputs)])
        before = answers(with_network(hybrid, silent), x)
        assert answers(with_network(hybrid, smaller), x[:, kept]) == pytest.approx(before, rel=1e-12, abs=1e-14)


def test_the_model_can_be_pruned():
    hybrid = graft(CHAIN, "joint.force", BOTH, Dissipative(SMOOTH))
    sites = tuple(
        replace(s, network=deaf(s.network, {f"{V}[{s.plan.entities[0]}]"})) for s in hybrid.augmentation.sites
    )
    silent = replace(hybrid, augmentation=replace(hybrid.augmentation, sites=sites))
    pruned = hs.augment.prune(silent)
    state = np.array([0.3, -0.4]), np.array([1.0, 2.0])
    assert hs.acceleration(pruned, state) == pytest.approx(np.asarray(hs.acceleration(silent, state)), rel=1e-13)
    assert [layer.blocks[0].name for layer in input_layers(pruned)] == 2 * ["joint.position"]


@pytest.mark.parametrize("case", CASES)
def test_inputs_and_outputs_are_brought_to_the_size_of_one(case):
    """Where inputs are a thousand times larger and slower, outputs still have about the size that is asked for."""
    model, output, inputs, network, options = CASES[case]
    if isinstance(network, Bounded):
        network = Bounded(SMOOTH, 1e6)
    if case == "nested":
        network = Invariant(Bounded(Dissipative(SMOOTH), 1e6))
    hybrid = hs.Blueprint(hs.Augment(output, inputs, network, mode="replace", **options)).graft(model)
    (site,) = hybrid.augmentation.sites
    rng = np.random.default_rng(0)
    x = 1e3 * rng.standard_normal((200, site.plan.signature.input_size))
    for block in site.plan.signature.inputs:
        if block.name == "link.rotation":
            x[:, site.plan.signature.slices[block.label]] = np.eye(3).ravel()
    normal = site.network.normalised(x, np.full(site.plan.signature.output_size, 50.0))
    (layer,) = input_layers(normal)
    assert np.all(layer.scale > 100)
    size = np.sqrt(np.mean(answers(with_network(hybrid, normal), x) ** 2))
    low = 0.5 if "Dissipative" in repr(network) else 5.0
    assert low < size < (1e5 if case == "ActionReaction" else 500)


def test_a_quaternion_is_seen_as_a_matrix():
    (site,) = graft(BALL_JOINT, "joint.force", "joint.position", Conservative(SMOOTH)).augmentation.sites
    (layer,) = input_layers(site.network)
    assert (site.plan.signature.input_size, layer.weight.shape[1]) == (4, 9)
    q = np.random.default_rng(0).standard_normal((50, 4))
    normal = site.network.normalised(q / np.linalg.norm(q, axis=1, keepdims=True), np.ones(3))
    assert input_layers(normal)[0].scale == pytest.approx(np.full(9, 0.58), abs=0.15)
    assert input_layers(site.network.without(frozenset({layer.blocks[0].label})))[0].weight.shape[1] == 0
