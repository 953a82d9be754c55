"""What cannot be grafted, and what cannot be done with a hybrid: errors that name the thing, what was found and the fix."""

import equinox as eqx
import jax
import jaxtyping
import numpy as np
import pytest

import hybridsim as hs

CHAIN = hs.chain(2)
BOX = hs.world(hs.free_body(hs.solid("box", 1.0, "box", (0.1, 0.1, 0.1))), hs.ground())
FLOATING = hs.chain(2, base="free")
LINEAR = eqx.nn.Linear(1, 1, key=jax.random.key(0))


@pytest.fixture(autouse=True)
def _annotations_are_not_checked():
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def graft(*given, model=CHAIN, contact=hs.Impulses(), **options):
    return lambda: hs.Blueprint(hs.Augment(*given, **options)).graft(model, contact=contact)


CASES = {
    "unknown output": (
        graft("joint.forse", "joint.velocity"),
        r"joint\.forse \+= MLP\(joint\.velocity\): no variable is called 'joint\.forse'; did you mean 'joint\.force'\? "
        r"this model has: .*joint\.passive_force",
    ),
    "unknown input": (
        graft("joint.force", "joint.velocety"),
        r"no variable is called 'joint\.velocety'; did you mean 'joint\.velocity'\?",
    ),
    "nothing like it": (graft("joint.force", "zzz"), r"no variable is called 'zzz'; this model has: "),
    "not in this model": (
        graft("actuator.force", "joint.velocity"),
        r"this model's step computes no 'actuator\.force'; it has: ",
    ),
    "no contact at all": (
        graft("contact.friction_force", "contact.depth", model=BOX, contact=None),
        r"computes no 'contact\.friction_force'; it has: .*blueprint\.graft\(model, contact=\.\.\.\)",
    ),
    "of the other contact model": (
        graft("contact.impulse", "contact.depth", model=BOX, contact=hs.Springs()),
        r"computes no 'contact\.impulse'.*contact=",
    ),
    "circle": (
        graft("joint.force", "joint.acceleration"),
        r"computes 'joint\.acceleration' after 'joint\.force', so this would go in a circle: joint\.force -> "
        r"\(rest of the step\) -> joint\.acceleration -> \(network\) -> joint\.force; use "
        r"hs\.previous\('joint\.acceleration'\)",
    ),
    "circle of the second output": (
        graft(("joint.acceleration", "joint.force"), ("joint.acceleration",), apply="together"),
        r"'joint\.acceleration' after 'joint\.force'",
    ),
    "read only": (
        graft("link.velocity", "joint.velocity"),
        r"'link\.velocity' can be read but not changed, for no step uses it; choose from: .*joint\.force",
    ),
    "read only with impulses": (
        graft("contact.friction_force", "contact.depth", model=BOX),
        r"'contact\.friction_force' can be read but not changed.*contact\.impulse",
    ),
    "no such entity": (
        graft("joint.force", "joint.velocity", entities="elbow*"),
        r"nothing matches 'elbow\*'; there are: joint1, joint2",
    ),
    "no such entity of an input": (
        graft("joint.force", "link.velocity[hand]"),
        r"nothing matches the input link\.velocity\[hand\]; there are: link1, link2",
    ),
    "entities of different kinds": (
        graft(("joint.force", "link.mass"), "joint.velocity", apply="together"),
        r"outputs of one network must belong to the same entities, but .*'joint\.force' to joint1, joint2.*"
        r"'link\.mass' to link1, link2",
    ),
    "no input of its own": (
        graft("contact.normal_force", "joint.velocity", model=BOX, contact=hs.Springs()),
        r"'box/box/ground' has no 'joint\.velocity' of its own; say whose: 'joint\.velocity\[name\]', where there are: root",
    ),
    "sizes of a shared output": (
        graft("joint.force", "joint.velocity[*]", model=FLOATING, apply="shared"),
        r"a shared network needs entities of one size, but joint1, joint2 differ in 'joint\.force'; choose fewer by "
        r"entities=\.\.\., or apply='each'",
    ),
    "sizes of a shared input": (
        graft("link.mass", "joint.velocity", model=FLOATING, apply="shared"),
        r"joint\.velocity has different sizes at link1, link2; they cannot share a network",
    ),
    "a quaternion as an angle": (
        graft("joint.force", hs.cyclic("joint.position"), model=FLOATING, entities="joint1"),
        r"cyclic\(joint\.position\[joint1\]\): a quaternion is no angle; give the position itself",
    ),
    "an input twice": (
        graft("joint.force", ("joint.velocity", "joint.velocity")),
        r"the input joint\.velocity\[joint1\] is given twice",
    ),
    "an input twice by two names": (
        graft("joint.force", ("joint.velocity", "joint.velocity[*]"), entities="joint1"),
        r"the input joint\.velocity\[joint1\] is given twice",
    ),
    "no constant for it": (
        graft("joint.force", hs.constant("load", {"joint1": 1.0})),
        r"constant\(load\) has no number for 'joint2'",
    ),
    "module of the wrong input": (
        graft("joint.force", ("joint.position", "joint.velocity"), LINEAR),
        r"joint\.force \+= Custom.*: the network 'custom' cannot be called with a vector of 2 numbers: ",
    ),
    "module of the wrong output": (
        graft("joint.force", "joint.velocity[joint1]", LINEAR, apply="together"),
        r"joint\.force \+= Custom.*: the network 'custom' gives shape \(1,\), but 2 numbers are needed: \(2,\)",
    ),
    "apply": (
        graft("joint.force", "joint.velocity", apply="all"),
        r"Augment\('joint\.force'\): apply is 'all', but must be one of each, shared, together",
    ),
    "mode": (graft("joint.force", (), mode="multiply"), r"mode is 'multiply', but must be one of add, scale, replace"),
    "no output": (graft((), "joint.velocity"), r"the outputs \(\) must be one or more names, all different"),
    "an output twice": (graft(("joint.force",) * 2, ()), r"must be one or more names, all different"),
    "open bracket": (
        lambda: hs.Augment("joint.force", "joint.velocity[elbow"),
        r"'joint\.velocity\[elbow' opens a bracket that it does not close; write joint\.velocity\[elbow\]",
    ),
    "no history": (lambda: hs.history("joint.velocity", 0), r"history\(joint\.velocity, 0, every=1\): both numbers must be 1"),
    "past of the past": (
        lambda: hs.previous(hs.previous("joint.velocity")),
        r"the past of previous\(joint\.velocity\) is not known; say how far back by one hs\.history\('joint\.velocity', \.\.\.\)",
    ),
    "half a step of history": (lambda: hs.history("joint.velocity", 2.5), r"history\(joint\.velocity, 2\.5, .* whole"),
    "constant that is no number": (lambda: hs.constant("load", np.nan), r"constant\('load'\).* one or more finite numbers"),
    "constant without numbers": (lambda: hs.constant("load", ()), r"constant\('load'\).* one or more finite numbers"),
    "half a unit": (lambda: hs.GRU(2.5), r"GRU: units must be 1 or more, and whole, not 2\.5"),
    "half a width": (lambda: hs.MLP((4.5,)), r"MLP: hidden widths must be 1 or more, and whole, not \(4\.5,\)"),
    "one width": (lambda: hs.MLP(16), r"MLP: hidden is 16; give a width for each layer: \(16, 16\)"),
    "constants of many sizes": (
        lambda: hs.constant("load", {"a": 1, "b": (1, 2)}),
        r"constant\('load'\): every entity needs equally many numbers",
    ),
    "no hidden layer": (lambda: hs.MLP(()), r"MLP: hidden widths must be 1 or more, and whole, not \(\); hs\.Linear\(\) has none"),
    "width zero": (lambda: hs.MLP((4, 0)), r"hidden widths must be 1 or more, and whole, not \(4, 0\)"),
    "activation": (lambda: hs.MLP((4,), "swish"), r"no activation is called 'swish'; there are: elu, .*tanh"),
    "units": (lambda: hs.GRU(0), r"GRU: units must be 1 or more, and whole, not 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_error_names_the_thing_and_the_fix(case):
    make, words = CASES[case]
    with pytest.raises(ValueError, match=words):
        make()


WRONG_KINDS = {
    "network by name": (lambda: hs.Augment("joint.force", (), "mlp"), r"the network is 'mlp'; give hs\.MLP\(\.\.\.\)"),
    "network not made": (lambda: hs.Augment("joint.force", (), hs.MLP), r"the network is <class .*MLP'>; give hs\.MLP\("),
    "input": (lambda: hs.Augment("joint.force", (3,)), r"an input is a name such as 'joint\.velocity'.*not 3"),
    "past of a constant": (lambda: hs.previous(hs.constant("a", 1)), r"constant\(a\) has no past"),
    "entities": (
        lambda: hs.Augment("joint.force", (), entities=["joint1"]),
        r"Augment\('joint\.force'\): entities is \['joint1'\]; give patterns as one text",
    ),
    "augment": (lambda: hs.Blueprint("joint.force"), r"a blueprint is made of hs\.Augment\(\.\.\.\), not of 'joint\.force'"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_KINDS)
def test_what_is_not_of_the_right_kind(case):
    make, words = WRONG_KINDS[case]
    with pytest.raises(TypeError, match=words):
        make()


# What cannot be done with a hybrid


RUBBING = graft("contact.friction_force", "contact.depth", model=BOX, contact=hs.Springs())()


@pytest.mark.parametrize("contact", [None, hs.Impulses()], ids=["none", "impulses"])
def test_another_contact_model_at_the_step(contact):
    for go in (hs.step, lambda *given, **options: hs.rollout(*given, steps=1, record=("link.mass",), **options)):
        with pytest.raises(
            ValueError, match=r"contact\.friction_force.*this step.*pass the same contact= here as to graft"
        ):
            go(RUBBING, BOX.rest(), contact=contact)


def test_another_contact_model_at_a_second_graft():
    with pytest.raises(
        hs.ModelError, match=r"a network at contact\.friction_force.* needs contact\.\w+.*the same contact="
    ):
        hs.Blueprint(hs.Augment("joint.force", "joint.velocity")).graft(RUBBING, contact=None)


def test_worlds_names_and_pairs_come_before_networks():
    with pytest.raises(hs.ModelError, match="model 1 of this world has networks in it; graft them onto the world"):
        hs.world(CHAIN, RUBBING)
    with pytest.raises(hs.ModelError, match=r"networks know the names .* rename the model before"):
        hs.prefixed(RUBBING, "left/")
    with pytest.raises(hs.ModelError, match="networks know which contacts there are; choose the pairs before"):
        hs.with_contacts(RUBBING, pairs=[("box", "ground")])
    assert np.all(hs.with_contacts(RUBBING, friction=0.9).contacts.friction == 0.9)


@pytest.mark.parametrize("key", [-1, True])
def test_a_seed_is_a_whole_number(key):
    with pytest.raises(ValueError, match=r"key is .* the seed of the weights"):
        hs.Blueprint(hs.Augment("joint.force", "joint.velocity")).graft(hs.chain(1), key)
