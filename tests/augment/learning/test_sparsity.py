"""Penalties and pruning: proximal steps are exact, what vanishes can be left out, and nothing else changes."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from scipy.optimize import minimize

import hybridsim as hs
from augment.weights import shaken
from hybridsim.augment.flat import Flat
from hybridsim.augment.networks import InputLayer

MODEL = hs.chain(2)
ALL = ("joint.position[*]", "joint.velocity[*]")
ALL_NAMES = ("joint.position", "joint.velocity")


def everything(network=hs.MLP((3, 3)), **options):
    return shaken(hs.Blueprint(hs.Augment("joint.force", ALL, network, **options)).graft(MODEL), seed=1)


def with_zeros(model, vanish):
    """The model in which `vanish(site, label)` says which inputs have no weight."""
    sites = []
    for site in model.augmentation.sites:

        def cleared(layer, site=site):
            if not isinstance(layer, InputLayer):
                return layer
            weight = np.array(layer.weight)
            for label, columns in layer.columns.items():
                if vanish(str(site.plan), label):
                    weight[:, columns] = 0
            return replace(layer, weight=weight)

        sites.append(jax.tree.map(cleared, site, is_leaf=lambda node: isinstance(node, InputLayer)))
    return replace(model, augmentation=replace(model.augmentation, sites=tuple(sites)))


def end(model):
    state = hs.State(np.array([0.3, -0.2]), np.array([1.0, -2.0]))
    return np.asarray(hs.rollout(model, state, dt=1e-2, steps=20, contact=None).q)


def test_the_papers_penalty():
    model = everything()
    networks = [site.network for site in model.augmentation.sites]
    first = sum(np.abs(n.first.weight).sum() for n in networks)
    upper = sum((n.middle[0].weight ** 2).sum() + (n.last.weight**2).sum() for n in networks)
    np.testing.assert_allclose(hs.papers_penalty(model, 0.3, 0.7), 0.3 * first + 0.7 * upper, rtol=1e-12)


@pytest.mark.parametrize("single", [0.0, 0.4])
def test_a_proximal_step_minimises_what_it_should(single):
    model = everything()
    flat = Flat(model, lambda m: m.augmentation)
    pulling = hs.Penalty(0.3, upper=0.0, single=single).on(model, flat)
    theta, rate = flat.vector(), np.full(flat.size, 0.8)
    members = np.flatnonzero(pulling.groups == 0)

    def objective(x):
        moved = theta.copy()
        moved[members] = x
        return np.sum((x - theta[members]) ** 2) / 2 + 0.8 * pulling.value(moved)

    found = minimize(objective, 0.5 * theta[members], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    np.testing.assert_allclose(pulling.shrink(theta, rate)[members], found.x, atol=2e-6)


def test_a_strong_pull_makes_groups_vanish_exactly_and_leaves_the_rest():
    model = everything()
    flat = Flat(model, lambda m: m.augmentation)
    pulling = hs.Penalty(1e3).on(model, flat)
    theta = flat.vector()
    after = pulling.shrink(theta, np.ones(flat.size))
    assert np.all(after[pulling.groups >= 0] == 0)
    np.testing.assert_array_equal(after[pulling.groups < 0], theta[pulling.groups < 0])
    assert len(set(pulling.groups[pulling.groups >= 0])) == 8


def test_strengths_rank_the_inputs_of_each_network():
    model = with_zeros(everything(), lambda site, label: label == "joint.position[joint2]")
    ranked = hs.strengths(model)
    assert [s.norm for s in ranked[:4]] == sorted((s.norm for s in ranked[:4]), reverse=True)
    assert [(s.input, s.norm) for s in ranked if s.norm == 0] == 2 * [("joint.position[joint2]", 0.0)]


@pytest.mark.parametrize(
    "network", [hs.MLP((3, 3)), hs.Linear(), hs.GRU(3), hs.LSTM(3)], ids=lambda network: type(network).__name__
)
def test_pruning_leaves_out_what_vanished_and_changes_nothing(network):
    own = {"joint.force[joint1]": "joint.velocity[joint1]", "joint.force[joint2]": "joint.velocity[joint2]"}
    model = with_zeros(everything(network), lambda site, label: label != own[site])
    pruned = hs.prune(model)
    labels = [[b.label for b in site.plan.signature.inputs] for site in pruned.augmentation.sites]
    assert labels == [[own["joint.force[joint1]"]], [own["joint.force[joint2]"]]]
    np.testing.assert_allclose(end(pruned), end(model), rtol=1e-13, atol=1e-14)
    smaller = hs.blueprint_of(pruned)
    assert str(smaller) == f"joint.force[joint1,joint2] += {type(network).__name__}(joint.velocity)"
    again = smaller.graft(MODEL)
    assert [s.plan.inputs for s in again.augmentation.sites] == [s.plan.inputs for s in pruned.augmentation.sites]


@pytest.mark.parametrize(
    ("network", "vanish", "left"),
    [
        (hs.Odd(hs.MLP((3,)), ALL_NAMES), "position", "Odd(MLP)(joint.velocity[joint1], joint.velocity[joint2])"),
        (hs.Even(hs.MLP((3,)), "joint.velocity"), "velocity", "MLP(joint.position[joint1], joint.position[joint2])"),
        (hs.Bounded(hs.Even(hs.MLP((3,)), ALL_NAMES), 2.0), "velocity", "Bounded(Even(MLP))(joint.position"),
        (hs.Odd(hs.MLP((3,)), "joint.velocity"), "velocity", None),
        (hs.ZeroAtRest(hs.MLP((3,))), "velocity", None),
        (hs.ZeroAtRest(hs.MLP((3,))), "position", "ZeroAtRest(MLP)(joint.velocity"),
    ],
    ids=str,
)
def test_structures_are_pruned_with_their_inputs(network, vanish, left, tmp_path):
    model = with_zeros(everything(network, apply="together"), lambda site, label: vanish in label)
    pruned = hs.prune(model)
    np.testing.assert_allclose(end(pruned), end(model), rtol=1e-12, atol=1e-13)
    if left is None:
        assert pruned.augmentation is None
        return
    assert left in str(hs.blueprint_of(pruned))
    again = hs.blueprint_of(pruned).graft(MODEL)
    assert jax.tree.structure(again) == jax.tree.structure(pruned)
    hs.save_hybrid(pruned, tmp_path / "pruned.hybrid")
    np.testing.assert_array_equal(end(hs.load_hybrid(tmp_path / "pruned.hybrid")), end(pruned))


def test_pruning_keeps_what_other_entities_say():
    model = with_zeros(everything(), lambda site, label: label != "joint.velocity[joint1]")
    text = str(hs.blueprint_of(hs.prune(model)))
    assert text == ("joint.force[joint1] += MLP(joint.velocity)\njoint.force[joint2] += MLP(joint.velocity[joint1])")


def test_the_blueprint_of_a_model_says_on_what_each_network_acts():
    model = with_zeros(everything(), lambda site, label: site == "joint.force[joint1]" and "position" in label)
    text = str(hs.blueprint_of(hs.prune(model)))
    assert text == (
        "joint.force[joint1] += MLP(joint.velocity, joint.velocity[joint2])\n"
        "joint.force[joint2] += MLP(joint.position[*], joint.velocity[*])"
    )


def test_pruning_keeps_histories_and_constants():
    inputs = (hs.constant("a", 1.0), hs.history("joint.velocity", 2), hs.constant("b", (2.0, 3.0)), "joint.position")
    model = shaken(hs.Blueprint(hs.Augment("joint.force", inputs, hs.MLP((3,)))).graft(MODEL))
    model = with_zeros(model, lambda site, label: label in ("constant(a)", f"joint.position[{site[12:-1]}]"))
    pruned = hs.prune(model)
    assert [b.size for b in pruned.augmentation.sites[0].plan.signature.inputs] == [2, 2]
    np.testing.assert_allclose(end(pruned), end(model), rtol=1e-13)


def test_networks_that_say_nothing_are_left_out():
    silent = hs.Blueprint(hs.Augment("joint.force", ("joint.velocity",), hs.MLP((3,)))).graft(MODEL)
    assert hs.prune(silent).augmentation is None
    assert hs.prune(MODEL) is MODEL
    replaced = hs.Blueprint(hs.Augment("joint.force", ("joint.velocity",), mode="replace")).graft(MODEL)
    assert len(hs.prune(replaced).augmentation.sites) == 2


def test_a_network_without_inputs_is_a_constant():
    model = with_zeros(everything(), lambda site, label: True)
    pruned = hs.prune(model)
    assert all(site.plan.signature.input_size == 0 for site in pruned.augmentation.sites)
    np.testing.assert_allclose(end(pruned), end(model), rtol=1e-13)


@pytest.mark.parametrize("apply", ["shared", "together"])
def test_networks_that_are_two_stay_two_in_the_blueprint(apply):
    one, other = (hs.Augment("joint.force", "joint.velocity", entities=name, apply=apply) for name in MODEL.joint_names)
    assert hs.blueprint_of(hs.Blueprint(one, other).graft(MODEL)) == hs.Blueprint(one, other)
    twice = hs.Blueprint(hs.Augment("joint.force", "joint.velocity"), hs.Augment("joint.force", "joint.velocity"))
    assert len(hs.blueprint_of(twice.graft(MODEL)).graft(MODEL).augmentation.sites) == 4


def test_pruning_keeps_an_input_of_all_points_of_a_pair():
    box = hs.world(hs.free_body(hs.solid("box", 1.0, "box", (0.1, 0.1, 0.1))), hs.ground())
    inputs = ("contact.depth[*]", "contact.normal_velocity")
    augment = hs.Augment("contact.normal_force", inputs, hs.MLP((3,)))
    model = shaken(hs.Blueprint(augment).graft(box, contact=hs.Springs()))
    pruned = hs.prune(with_zeros(model, lambda site, label: "velocity" in label))
    again = hs.blueprint_of(pruned).graft(box, contact=hs.Springs())
    assert again.augmentation.sites[0].plan.inputs == pruned.augmentation.sites[0].plan.inputs


@pytest.mark.parametrize("wrong", [{"kappa": -1.0}, {"kappa": np.nan}, {"kappa": 1.0, "upper": -1.0}])
def test_a_penalty_that_would_push_is_refused(wrong):
    with pytest.raises(ValueError, match=r"Penalty: \w+ is .*; it must be a finite number, not negative"):
        hs.Penalty(**wrong)
