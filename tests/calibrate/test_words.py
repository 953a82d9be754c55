"""Forces and findings in words: exact curves are called what they are, and findings have their number and unit."""

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate import menu
from hybridsim.calibrate.library import COUPLING
from hybridsim.calibrate.menu import Entry
from hybridsim.calibrate.networks import DRAG, LOADED, ONE_SIDED, PLACED, POSITION
from hybridsim.calibrate.words import finding_words, in_doubt, shape_of
from hybridsim.identify import Errors, Fit
from hybridsim.identify.apparatus import perfect
from hybridsim.identify.estimates import Estimate

V = np.linspace(-4, 4, 161)
SIGN = np.tanh(V / 0.05)


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (-0.31 * SIGN, "odd, saturating: looks like Coulomb friction of 0.31 N m"),
        (-0.2 * V, "odd, proportional: looks like viscous friction of 0.2 N m s"),
        (-0.05 * V * np.abs(V), "odd, growing with the square: looks like drag of 0.05 N m s^2"),
        (
            -0.3 * SIGN - 0.08 * V,
            "odd, a jump and a slope: looks like Coulomb friction of 0.3 N m with viscous friction",
        ),
        (
            -np.where(V > 0, 0.42, 0.24) * SIGN,
            "stronger in one direction, saturating: looks like Coulomb friction of 0.33 N m",
        ),
    ],
)
def test_exact_curves_are_called_what_they_are(force, words):
    assert shape_of(V, force) == words


def test_friction_that_falls_with_speed_is_stribecks():
    words = shape_of(V, -(0.2 + 0.3 * np.exp(-np.abs(V) / 1.0)) * SIGN)
    assert words.startswith("odd, falling with speed: looks like Stribeck friction of about 0.")


def test_little_noise_changes_no_word():
    noise = 0.01 * np.random.default_rng(0).standard_normal(len(V))
    assert shape_of(V, -0.31 * SIGN + noise).startswith("odd, saturating: looks like Coulomb friction of 0.3")


@pytest.mark.parametrize("seed", range(5))
def test_noise_alone_is_no_law(seed):
    words = shape_of(V, np.random.default_rng(seed).standard_normal(len(V)))
    assert "looks like" not in words


@pytest.mark.parametrize("force", [0.3 * SIGN, 0.2 * V, 0.05 * V * np.abs(V)])
def test_what_drives_is_not_called_friction(force):
    assert "looks like" not in shape_of(V, force)


def test_nothing_is_no_friction():
    assert "looks like" not in shape_of(V, np.zeros(len(V)))


def test_a_force_has_its_own_unit():
    assert shape_of(V, -0.31 * SIGN, "N").endswith("Coulomb friction of 0.31 N")


def fit_of(*parameters: Estimate) -> Fit:
    """A fit of which only its numbers matter."""
    model = hs.chain(1)
    errors = Errors(0.01, ("a",), ("joint1",), np.zeros((1, 2, 1)))
    nothing = np.zeros((0, 0))
    return Fit(model, perfect(model, 1), {}, parameters, nothing, "", "", 0.0, errors, np.zeros(0), 0.0, "", 0.0)


def estimate(name: str, value: float, unit: str, start: float = 0.0) -> Estimate:
    return Estimate(name, value, 0.01 * value, 0.98 * value, 1.02 * value, start, unit)


FIT = fit_of(
    estimate("joint/elbow/friction", 0.3125, "N m"),
    estimate("control/delay", 0.0123, "s"),
    estimate("sensor/elbow/bias [a]", 0.05, "rad"),
    estimate("sensor/elbow/bias [b]", -0.03, "rad"),
    estimate("joint/elbow/armature", 0.02, "kg m^2"),
    estimate("link/forearm/com.x", 0.150, "m", start=0.162),
    estimate("link/forearm/com.y", 0.0012, "m"),
    estimate("link/forearm/inertia_factor", 1.8, "times", start=1.0),
    estimate("sensor/wrist/bias [a]", 0.021, "rad"),
    estimate("sensor/wrist/bias [b]", 0.023, "rad"),
    estimate("control/elbow/gain", 0.93, ""),
    estimate("control/elbow/bias", 0.4, "N m"),
)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (
            Entry(menu.FRICTION, "elbow"),
            "force at joint elbow depends on its velocity, odd, saturating: looks like Coulomb friction of "
            "0.312 +- 0.006 N m",
        ),
        (Entry(menu.DELAY, ""), "controls act late: a delay of 12.3 +- 0.2 ms"),
        (
            Entry(menu.ZERO, "elbow"),
            "the encoder of joint elbow has another zero in every run: they differ by 0.08 rad from run to run "
            "(+0.05, -0.03)",
        ),
        (
            Entry(menu.ROTOR, "elbow"),
            "joint elbow is slower to speed up than its links alone: looks like a rotor's inertia of "
            "0.02 +- 0.0004 kg m^2",
        ),
        (Entry(menu.CENTRE, "forearm, x"), "the centre of mass of link forearm is elsewhere along x by -12 mm"),
        (Entry(menu.CENTRE, "forearm, y"), "the centre of mass of link forearm is elsewhere along y by +1.2 mm"),
        (
            Entry(menu.INERTIA, "forearm"),
            "the inertia of link forearm about its centre of mass is 1.8 +- 0.04 times that of the file",
        ),
        (Entry(menu.ZERO, "wrist"), "the zero of the encoder of joint wrist is off by +0.022 rad in every run"),
        (Entry(menu.GAIN, "elbow"), "the control of elbow is 0.93 +- 0.02 times what the log says"),
        (Entry(menu.BIAS, "elbow"), "the control of elbow has an offset of 0.4 +- 0.008 N m"),
    ],
)
def test_findings_have_their_number_and_unit(entry, words):
    assert finding_words(entry, FIT) == words


def test_a_learned_shape_is_told_in_place_of_the_law():
    words = finding_words(Entry(menu.FRICTION, "elbow"), FIT, "odd, falling with speed")
    assert words == "force at joint elbow depends on its velocity, odd, falling with speed"


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (DRAG, "force at joint elbow grows faster than its velocity: looks like drag"),
        (ONE_SIDED, "friction at joint elbow is stronger in one direction"),
        (LOADED, "friction at joint elbow grows with the load: looks like a gear"),
        (PLACED, "friction at joint elbow depends on its position"),
        (POSITION, "force at joint elbow depends on its position: looks like a spring, a cable or an unknown weight"),
        (COUPLING, "force at joint elbow depends on the motion of other joints"),
    ],
)
def test_forces_are_told_by_what_they_depend_on(effect, words):
    assert finding_words(Entry(effect, "elbow"), FIT) == words


def test_every_effect_has_words_of_its_own():
    places = {menu.CENTRE: "forearm, x"}
    told = {finding_words(Entry(effect, places.get(effect, "elbow")), FIT) for effect in menu.EFFECTS.values()}
    assert len(told) == len(menu.EFFECTS)


def test_a_number_that_is_not_known_is_not_invented():
    assert finding_words(Entry(menu.BIAS, "wrist"), FIT) == "the control of wrist has an offset of unknown size"


def test_what_is_no_farther_from_the_file_than_its_uncertainty_is_in_doubt():
    def doubted(value, lower, upper, deviation=0.1, note=""):
        entry = Entry(menu.ROTOR, "elbow", (hs.Free("joint/elbow/armature"),))
        other = estimate("joint/wrist/armature", 0.5, "kg m^2")
        own = Estimate("joint/elbow/armature", value, deviation, lower, upper, 0.0, "kg m^2", note)
        return in_doubt(entry, fit_of(other, own))

    assert doubted(0.1, -0.1, 0.3)
    assert doubted(0.0, 0.0, 0.2, note="at its bound")
    assert not doubted(0.3, 0.1, 0.5)
    assert not doubted(0.3, -np.inf, np.inf, np.inf, "not determined by the data")


def test_zeros_of_runs_and_forces_are_never_in_doubt():
    zero = Entry(menu.ZERO, "elbow", (hs.Free("sensor/elbow/bias", per_run=True),))
    assert not in_doubt(zero, fit_of(estimate("sensor/elbow/bias [a]", 0.0, "rad")))
    assert not in_doubt(Entry(DRAG, "elbow", weights=(0,)), FIT)
