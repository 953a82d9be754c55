"""Which model a pair has, and what is refused."""

import re

import jaxtyping
import numpy as np
import pytest

import hybridsim as hs

from .scenes import DT, PUSH, SOFT, apart, approaching, pushed, resting_depth

MODEL = apart()
SPRINGS, COULOMB, HARD = hs.Springs(), SOFT, hs.Impulses()


@pytest.fixture(autouse=True)
def _annotations_are_not_checked():
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def models(rules, otherwise=HARD):
    return hs.ContactByPair(rules, otherwise).springs_of(MODEL)[0]


def test_the_first_rule_that_matches_counts():
    first = {("ball/*", "ground"): SPRINGS, ("*", "ground"): COULOMB}
    assert models(first) == (SPRINGS, COULOMB, COULOMB)
    assert models(dict(reversed(first.items()))) == (COULOMB,) * 3


def test_names_are_those_of_shapes_or_links_in_either_order():
    for pair in [("ball/ball", "ground"), ("ground", "ball/ball"), ("*ball*sphere*", "gr*"), ("world", "ball/*")]:
        assert models({pair: SPRINGS}) == (SPRINGS, None, None), pair


def test_pairs_without_a_rule_touch_as_otherwise_says():
    assert models({("egg/*", "*"): None}, SPRINGS) == (SPRINGS, SPRINGS, None)
    assert hs.ContactByPair({("egg/*", "*"): None}).others == 0, "impulses by default"


def test_equal_models_are_one():
    rules = hs.ContactByPair({("ball/*", "ground"): hs.Impulses(), ("egg/*", "ground"): hs.Springs()}, hs.Impulses())
    assert rules.models == (hs.Impulses(), hs.Springs())


STEP = {"dt": DT}
REFUSED = {
    "no rules": (lambda: hs.ContactByPair({}), "the rules are {}; give contact models by pair, such as"),
    "a list": (lambda: hs.ContactByPair([("a", "b")]), "give contact models by pair, such as"),
    "a name alone": (lambda: hs.ContactByPair({"ground": HARD}), "'ground' is no pair of names"),
    "three names": (lambda: hs.ContactByPair({("a", "b", "c"): HARD}), "('a', 'b', 'c') is no pair of names"),
    "a class": (
        lambda: hs.ContactByPair({("*", "ground"): hs.Springs}),
        "the model of ('*', 'ground') is <class 'hybridsim.contact.spring.springs.Springs'>; give hs.Impulses(), ",
    ),
    "a word": (
        lambda: hs.ContactByPair({("*", "ground"): HARD}, "springs"),
        "otherwise is 'springs'; give hs.Impulses()",
    ),
    "rules in rules": (
        lambda: hs.ContactByPair({("*", "ground"): PUSH}),
        "the model of ('*', 'ground') is ContactByPair(",
    ),
    "two impulses": (
        lambda: hs.ContactByPair({("a", "b"): SOFT, ("*", "ground"): hs.Impulses(sweeps=7)}),
        "the model of ('*', 'ground') and otherwise are two different hs.Impulses, but all impulses of a step are solved",
    ),
    "no such shape": (
        lambda: hs.step(MODEL, MODEL.rest(), **STEP, contact=hs.ContactByPair({("feet*", "ground"): SOFT})),
        "no shape, and no link with a shape, matches 'feet*'; shapes: ball/ball/sphere, brick/brick/box, ",
    ),
    "no such pair": (
        lambda: hs.step(MODEL, MODEL.rest(), **STEP, contact=hs.ContactByPair({("ball/*", "egg/*"): SOFT})),
        "no pair of shapes that may touch matches ('ball/*', 'egg/*'); pairs: ball/ball/sphere with ground, ",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_rules_are_refused(case):
    make, message = REFUSED[case]
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        make()


def test_only_springs_limit_the_step():
    """The warning names the pair with springs, and a hard pair, however stiff its unused springs are, needs none."""
    model = pushed()
    start = approaching(model, 1.0, depth=resting_depth())
    stiff_tip = hs.with_contacts(model, stiffness=[1e12, 5e4], transition_speed=0.05)
    hs.rollout(stiff_tip, start, dt=DT, steps=1, contact=PUSH)
    with pytest.warns(hs.StepWarning, match="the contact of 'box/box' with 'ground'"):
        hs.rollout(stiff_tip, start, dt=0.05, steps=1, contact=PUSH)
    with pytest.warns(hs.StepWarning, match="the contact of 'tip/sphere' with 'box/box'"):
        hs.rollout(stiff_tip, start, dt=DT, steps=1, contact=SOFT)
    same = [hs.ContactByPair({("*", "*"): SOFT}, None), SOFT]
    found = [_warning(model, start, contact) for contact in same]
    assert found[0] == found[1]


def _warning(model, start, contact) -> str:
    with pytest.warns(hs.StepWarning) as caught:
        hs.rollout(model, start, dt=0.05, steps=1, contact=contact)
    return str(caught[0].message)


def test_the_weight_on_springs_includes_what_rests_on_hard_pairs():
    """A hard block of 50 kg on a soft one of 0.5 kg: the soft contact carries both."""
    below, above = (
        hs.prefixed(hs.free_body(hs.solid(name, mass, "box", (0.05, 0.05, 0.05))), f"{name}/")
        for name, mass in (("low", 0.5), ("high", 50.0))
    )
    model = hs.with_contacts(hs.world(below, above, hs.ground()), transition_speed=0.05)
    q, qd = model.rest()
    q[2], q[9] = 0.05, 0.15
    rules = hs.ContactByPair({("low/*", "ground"): SOFT})
    alone = hs.with_contacts(model, [("low/*", "ground")], transition_speed=0.05)
    from hybridsim.simulate import longest_spring_step

    both, one = (
        longest_spring_step(m, hs.State(np.asarray(q), np.asarray(qd)), hs.SemiImplicitEuler(), rules)
        for m in (model, alone)
    )
    assert both is not None
    assert one is not None
    assert both[0] < 0.5 * one[0]
