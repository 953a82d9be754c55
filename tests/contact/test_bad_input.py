"""What contact cannot work with is refused by an error that names the thing, the value found and what to give instead.

Annotations, which tests check elsewhere, are not checked here: users' programs do not check them either.
"""

import re

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.contact.spring import ExponentialOnset, RationalOnset, SigmoidOnset

NAN, INF = float("nan"), float("inf")
BALL = hs.world(hs.free_body(hs.solid("ball", 1.0, "sphere", 0.1)), hs.ground())
STATE = BALL.rest()
SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]


@pytest.fixture(autouse=True)
def _annotations_are_not_checked():
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def numbers(model=BALL, **given):
    return lambda: hs.with_contacts(model, **given)


def pairs(*given, **more):
    return lambda: hs.with_contacts(BALL, *given, **more)


def shape(**numbers):
    return lambda: hs.free_body(hs.Link("body", 1.0, inertia=0.1, geoms=[hs.Geom(**numbers)]))


def prism(*corners):
    return shape(shape="prism", size=0.1, points=corners)


def flat_hull(other="box", **numbers):
    """A square without a thickness above something that is fixed in the world."""
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    link = hs.Link("tile", 1.0, inertia=0.1, geoms=[hs.Geom("points", points=corners)])
    floor = hs.build([], [], world_geoms=[hs.Geom(other, **numbers, name="floor")])
    return lambda: hs.world(hs.free_body(link), floor)


def rollout(state=STATE, model=BALL, **options):
    return lambda: hs.rollout(model, state, **{"dt": 1e-3, "steps": 2, **options})


def star():
    """A pentagram: every corner turns left, twice around."""
    angle = 0.8 * np.pi * np.arange(5)
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros(5)])


BAD_VALUES = {
    "derivative": (lambda: hs.Impulses(derivative="implict"), "derivative", "'implict'", "'implicit'", "'sweeps'"),
    "stabilisation": (
        lambda: hs.Impulses(stabilisation="velocity"),
        "stabilisation",
        "'velocity'",
        "'positions'",
        "'velocities'",
    ),
    "no sweeps": (lambda: hs.Impulses(sweeps=0), "sweeps", "0", "whole number", "at least 1"),
    "negative sweeps": (lambda: hs.Impulses.tds(sweeps=-3), "sweeps", "-3", "at least 1"),
    "sweeps and a half": (lambda: hs.Impulses(sweeps=1.5), "sweeps", r"1\.5", "whole number"),
    "negative tolerance": (lambda: hs.Impulses(tolerance=-1e-9), "tolerance", "-1e-09", "not negative"),
    "NaN tolerance": (lambda: hs.Impulses(tolerance=NAN), "tolerance", "nan", "not negative"),
    "restitution above one": (numbers(restitution=1.1), "restitution", r"1\.1", "0 to 1"),
    "negative restitution": (numbers(restitution=-0.1), "restitution", r"-0\.1", "0 to 1"),
    "restitution of JAX": (numbers(restitution=jnp.array(2.0)), "restitution", "2", "0 to 1"),
    "position gain": (numbers(position_gain=1.5), "position_gain", r"1\.5", "0 to 1"),
    "velocity gain": (numbers(velocity_gain=-0.5), "velocity_gain", r"-0\.5", "0 to 1"),
    "no transition speed": (numbers(transition_speed=0), "transition_speed", "0", "positive"),
    "negative friction": (numbers(friction=-1), "friction", "-1", "not negative"),
    "NaN friction": (numbers(friction=NAN), "friction", "nan", "not negative"),
    "one NaN of JAX": (numbers(friction=jnp.array([NAN])), "friction", "nan", "not negative"),
    "infinite friction": (numbers(friction=INF), "friction", "inf", "finite"),
    "negative static friction": (numbers(static_friction=-1), "static_friction", "-1", "not negative"),
    "negative softness": (numbers(softness=-1e-6), "softness", "-1e-06", "not negative"),
    "infinite stiffness": (numbers(stiffness=INF), "stiffness", "inf", "finite"),
    "negative stiffness": (numbers(stiffness=-1), "stiffness", "-1", "not negative"),
    "negative dissipation": (numbers(dissipation=-1), "dissipation", "-1", "not negative"),
    "no exponent": (numbers(exponent=0), "exponent", "0", "at least 1"),
    "exponent with an infinite slope": (numbers(exponent=0.5), "exponent", r"0\.5", "at least 1"),
    "word": (numbers(friction="rubber"), "friction", "'rubber'", "number"),
    "frictions of other pairs": (numbers(friction=(0.1, 0.2)), "friction", r"\(2,\)", "each of the 1 pairs"),
    "unknown number": (numbers(mu=0.3), "'mu'", "friction", "softness"),
    "andersson, no speed": (lambda: hs.Andersson(vs=0.0), r"Andersson\.vs", "0", "positive"),
    "andersson, abrupt": (lambda: hs.Andersson(p=0.5), r"Andersson\.p ", r"0\.5", "at least 1"),
    "andersson, pushing": (lambda: hs.Andersson(ktanh=-1), r"Andersson\.ktanh", "-1", "positive"),
    "brown, pushing": (lambda: hs.BrownMcPhee(offset=-1e-3), r"BrownMcPhee\.offset", r"-0\.001", "not negative"),
    "brown, NaN": (lambda: hs.BrownMcPhee(offset=np.float64(NAN)), r"BrownMcPhee\.offset", "nan"),
    "hunt, separation": (lambda: hs.HuntCrossley(separation_exponent=0), "separation_exponent", "0", "positive"),
    "sigmoid": (lambda: SigmoidOnset(0.0), r"SigmoidOnset\.sharpness", "0", "positive"),
    "rational": (lambda: RationalOnset(-3.0), r"RationalOnset\.sharpness", "-3", "positive"),
    "exponential": (lambda: ExponentialOnset(jnp.array(INF)), r"ExponentialOnset\.sharpness", "inf", "finite"),
    "no time": (rollout(dt=0.0), "dt", "0", "positive"),
    "NaN time": (lambda: hs.step(BALL, STATE, dt=NAN), "dt", "nan", "positive"),
    "unknown link": (pairs([("foot", "ground")]), "'foot'", "ball/sphere, ground", "ball, world"),
    "same link": (pairs([("ball", "ball*")]), "'ball'", r"'ball\*'", "same link", "two links"),
    "a pair, not a list": (pairs(("ball", "ground")), "'ball'", r'\[\("\*foot\*", "ground"\)\]'),
    "a name": (pairs("ball"), "'ball'", r'\[\("\*foot\*", "ground"\)\]'),
    "pairs or all": (pairs([("ball", "ground")], self_collision=True), "self_collision", "not both"),
    "box without size": (shape(shape="box"), "link body", "box", r"\(\)", "3 positive"),
    "clockwise prism": (prism((0, 0, 0), (0, 1, 0), (1, 0, 0)), "link body", "counter-clockwise", "0 1 0", "order"),
    "crossing prism": (prism(*star()), "link body", "prism", "crosses itself", "order"),
    "tilted prism": (prism((0, 0, 0), (1, 0, 0), (0, 1, 0.3)), "link body", "prism", r"0 1 0\.3", "z = 0"),
    "ragged points": (shape(shape="points", points=[(0, 0, 0), (1, 0)]), "link body", "points", "x, y, z"),
    "flat hull": (
        flat_hull(size=(1, 1, 1)),
        "tile/points with floor",
        "4 points",
        "in a plane",
        "thickness",
        "thin box",
    ),
    "crossing outline": (
        lambda: hs.outline_prisms([(0, 0), (1, 1), (1, 0), (0, 1)], 0.1),
        "outline",
        "corners . and .",
        "cross",
        "order",
    ),
    "outline without area": (lambda: hs.outline_prisms([(0, 0), (1, 0), (2, 0)], 0.1), "outline", "no area", "enclose"),
    "outline without height": (lambda: hs.outline_prisms(SQUARE, 0), "half_length", "0", "positive"),
    "three frictions": (shape(shape="sphere", size=1, friction=(1, 0.1, 0.1)), "link body", "friction", "one number"),
    "infinite friction of a shape": (shape(shape="sphere", size=1, friction=INF), "link body", "friction", "finite"),
    "two corners": (lambda: hs.contact_grid(SQUARE[:2]), "outline", r"\(2, 2\)", "three corners"),
    "ragged corners": (lambda: hs.contact_grid([(0, 0), (1,), (1, 1)]), "outline", "three corners"),
    "NaN corner": (lambda: hs.contact_grid([*SQUARE, (0, NAN)]), "outline", "nan", "finite"),
    "no spacing": (lambda: hs.contact_grid(SQUARE, spacing=0), "spacing", "0", "positive"),
    "NaN height": (lambda: hs.contact_grid(SQUARE, height=NAN), "height", "nan", "finite"),
    "corners in millimetres": (lambda: hs.contact_grid(1000 * np.array(SQUARE)), "points", r"0\.02 m", "in metres"),
    "flat outline": (lambda: hs.contact_grid([(0, 0), (1, 0), (2, 0)]), r"\(2, 0\)", "no area", "enclose"),
}

BAD_KINDS = {
    "contact by name": (rollout(contact="springs"), "contact", "'springs'", *("hs.Springs()", "hs.Impulses()", "None")),
    "contact without brackets": (rollout(contact=hs.Springs), "contact", "Springs", "hs.Springs()", "hs.Impulses()"),
    "contact of a step": (lambda: hs.step(BALL, STATE, contact=True), "contact", "True", "hs.Impulses()", "None"),
    "contact of an acceleration": (
        lambda: hs.acceleration(BALL, STATE, contact="springs"),
        "'springs'",
        "hs.Springs()",
    ),
    "cone by name": (lambda: hs.Impulses(friction="cone"), "Impulses.friction", "'cone'", "hs.Cone()", "hs.Pyramid()"),
    "law of the other": (lambda: hs.Impulses(friction=hs.Coulomb()), "Impulses.friction", "Coulomb", "hs.Cone()"),
    "law without brackets": (lambda: hs.Springs(friction=hs.Coulomb), "Springs.friction", "Coulomb", "hs.Coulomb()"),
    "normal law": (lambda: hs.Springs(normal="hertz"), "Springs.normal", "'hertz'", "hs.HuntCrossley()"),
    "onset": (lambda: hs.HuntCrossley(onset=300.0), "HuntCrossley.onset", "300", "SigmoidOnset"),
}


@pytest.mark.parametrize(("make", "fragments"), [(m, f) for m, *f in BAD_VALUES.values()], ids=BAD_VALUES.keys())
def test_bad_values_are_refused(make, fragments):
    with pytest.raises(ValueError) as caught:
        make()
    for fragment in fragments:
        assert re.search(fragment, str(caught.value)), f"{fragment!r} is not in: {caught.value}"


@pytest.mark.parametrize(("make", "fragments"), [(m, f) for m, *f in BAD_KINDS.values()], ids=BAD_KINDS.keys())
def test_bad_kinds_are_refused(make, fragments):
    with pytest.raises(TypeError) as caught:
        make()
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_what_is_unusual_but_possible_is_accepted():
    hs.with_contacts(BALL, friction=0, restitution=1, position_gain=0.0, softness=0.0, exponent=1, stiffness=[0.0])
    hs.with_contacts(BALL, restitution=jnp.array([0.5]), transition_speed=np.float32(1e-3))
    assert not hs.with_contacts(BALL, []).contacts.pairs
    assert len(flat_hull("plane")().contacts.pairs) == 1
    hs.Impulses(sweeps=1, tolerance=0)
    hs.Springs(hs.HuntCrossley(SigmoidOnset(0.01), True, 1 / 20), hs.Andersson(vs=np.array(0.1), p=1, ktanh=100))


def test_numbers_that_are_traced_are_not_asked_for_their_value():
    """A fit may try any number on its way."""

    def total(x):
        law = hs.Andersson(vs=x, p=x, ktanh=x)
        return jnp.sum(hs.with_contacts(BALL, restitution=x, exponent=x).contacts.restitution) + law.vs

    assert jax.jit(total)(-2.0) == -4
    assert jax.grad(total)(-2.0) == 2


def test_the_check_of_a_rollout_tells_a_bad_start_from_a_divergence():
    bad = np.full(BALL.nv, NAN)
    with pytest.raises(hs.DivergedError, match=r"step 0 .*root.*start"):
        rollout((STATE[0], bad), contact=None, check=True)()


@pytest.mark.filterwarnings("ignore::hybridsim.simulate.spring_step.StepWarning")
def test_contact_that_is_too_stiff_is_told_when_asked():
    stiff = hs.with_contacts(BALL, stiffness=1e308)
    with pytest.raises(hs.DivergedError, match=r"root.*smaller dt.*softer contact"):
        rollout(model=stiff, dt=1e3, contact=hs.Springs(), check=True)()
