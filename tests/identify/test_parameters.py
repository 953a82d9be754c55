"""Numbers by path: they go into the model and back, stay physical, and bad choices are named."""

import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.identify import Free, Parameters, places

ARM = hs.load("src/hybridsim/assets/two_link_arm.urdf")


def test_every_path_is_a_number_of_the_model():
    setup = Parameters(ARM, []).base
    known = places(setup)
    assert known["link/forearm/mass"].value(setup) == ARM.links.mass[ARM.topology.link("forearm")]
    np.testing.assert_array_equal(known["joint/elbow/damping"].value(setup), ARM.joints.damping[ARM.v_of("elbow")])
    np.testing.assert_array_equal(known["world/gravity"].value(setup), ARM.gravity)
    assert all(place.value(setup).shape == (place.size,) == (len(place.labels),) for place in known.values())


def test_an_inertia_as_a_whole_has_one_factor():
    chosen = Parameters(ARM, ["link/forearm/inertia_factor", "link/forearm/mass"])
    assert chosen.names == ("link/forearm/inertia_factor", "link/forearm/mass")
    np.testing.assert_array_equal(chosen.values(np.zeros(2)), [1.0, ARM.links.mass[ARM.topology.link("forearm")]])
    model = chosen.model(np.array([np.log(3.0), 0.0]))
    expected = np.array(ARM.links.inertia)
    expected[ARM.topology.link("forearm")] *= 3
    np.testing.assert_allclose(model.links.inertia, expected, rtol=1e-14)
    traced = jax.jit(lambda z: chosen.model(z).links.inertia)(np.array([np.log(3.0), 0.0]))
    np.testing.assert_allclose(traced, expected, rtol=1e-12)


def test_a_pattern_means_numbers_and_not_their_factor():
    assert Parameters(ARM, ["link/forearm/*"]).names == (
        "link/forearm/mass",
        *(f"link/forearm/com{axis}" for axis in (".x", ".y", ".z")),
        *(f"link/forearm/inertia{pair}" for pair in (".xx", ".yy", ".zz", ".xy", ".xz", ".yz")),
    )
    with pytest.raises(ValueError, match="chosen by 'link/forearm/inertia' and again"):
        Parameters(ARM, ["link/forearm/inertia", "link/forearm/inertia_factor"])


def test_at_zero_the_model_is_as_it_was():
    chosen = Parameters(ARM, ["link/*/inertial", "joint/*/damping", Free("joint/*/friction", start=0.1, scale="log")])
    model = chosen.model(np.zeros(chosen.size))
    for ours, own in zip(jax.tree.leaves(model.links), jax.tree.leaves(ARM.links), strict=True):
        np.testing.assert_allclose(ours, own, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(model.joints.friction, [0.1, 0.1])
    np.testing.assert_array_equal(model.joints.stiffness, ARM.joints.stiffness)


def test_changed_numbers_are_those_that_are_named():
    chosen = Parameters(ARM, ["link/forearm/mass", Free("joint/elbow/damping", scale="linear")])
    assert chosen.names == ("link/forearm/mass", "joint/elbow/damping")
    model = chosen.model(np.array([np.log(2.0), 1.0]))
    changed = model.links.mass / ARM.links.mass
    np.testing.assert_allclose(changed, np.where(np.array(ARM.link_names) == "forearm", 2.0, 1.0))
    forearm = ARM.topology.link("forearm")
    np.testing.assert_allclose(chosen.physical(np.array([np.log(2.0), 1.0]))[0], model.links.mass[forearm])


def test_inertias_are_physical_for_every_vector():
    chosen = Parameters(ARM, ["link/*/inertial"])
    rng = np.random.default_rng(0)
    for z in rng.normal(0, 2, (20, chosen.size)):
        model = chosen.model(z)
        assert np.all(model.links.mass > 0)
        for xx, yy, zz, xy, xz, yz in np.asarray(model.links.inertia):
            a, b, c = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            assert a > 0
            assert a + b >= c * (1 - 1e-9)


def test_tied_numbers_are_one():
    chosen = Parameters(ARM, [Free("joint/*/damping", start=0.3, tied=True)])
    assert chosen.names == ("joint/*/damping",)
    np.testing.assert_allclose(chosen.model(np.array([1.0])).joints.damping, [0.6, 0.6])


def test_single_numbers_of_vectors_are_tied_over_patterns():
    """A length is where the next joint is and, for a point mass, where the mass is."""
    length = Free(("joint/elbow/position.x", "link/upper_arm/com.x"), start=0.4, tied=True)
    chosen = Parameters(ARM, [length])
    assert chosen.names == ("joint/elbow/position.x = link/upper_arm/com.x",)
    model = chosen.model(np.zeros(1))
    elbow, arm = ARM.joint_names.index("elbow"), ARM.topology.link("upper_arm")
    assert model.joints.position[elbow, 0] == model.links.com[arm, 0] == 0.4
    np.testing.assert_array_equal(model.joints.position[elbow, 1:], ARM.joints.position[elbow, 1:])


def test_values_and_slopes_are_those_of_the_traced_way():
    chosen = Parameters(ARM, ["link/forearm/inertial", "link/upper_arm/mass", "joint/*/damping"])
    z = 0.3 * np.random.default_rng(0).standard_normal(chosen.size)
    np.testing.assert_allclose(chosen.values(z), chosen.physical(z), rtol=1e-13)
    np.testing.assert_allclose(chosen.slopes(z), jax.jacfwd(chosen.physical)(z), rtol=1e-12, atol=1e-15)


def test_bounds_are_those_of_the_vector():
    chosen = Parameters(ARM, [Free("link/forearm/mass", lower=0.1, upper=9.0), Free("joint/elbow/damping", lower=0)])
    lower, upper = chosen.bounds()
    np.testing.assert_allclose(chosen.physical(np.maximum(lower, -99))[0], 0.1)
    np.testing.assert_allclose(chosen.physical(np.minimum(upper, 99))[0], 9.0)
    assert lower[1] <= 0
    assert upper[1] == np.inf


@pytest.mark.parametrize(
    ("free", "message"),
    [
        (["network"], "the model has no networks"),
        ([Free("link/*/mass"), Free("link/forearm/mass")], "again by 'link/forearm/mass'"),
        ([Free(("link/forearm/mass", "link/upper_arm/inertial"))], "cannot be chosen together"),
        (["link/forarm/mass"], "closest are: link/forearm/mass"),
        (["link/*/mass", "link/forearm/inertial"], r"link/forearm/mass is chosen by 'link/\*/mass' and again by"),
        ([Free("joint/elbow/stiffness", scale="log")], "no logarithm"),
        ([Free("link/forearm/mass", lower=100.0)], "not between 100.0 and inf"),
        ([Free("link/*/inertial", lower=0.0)], "give them to its mass alone"),
        ([Free("joint/elbow/*", tied=True)], "different sizes"),
    ],
)
def test_bad_choices_are_named(free, message):
    with pytest.raises(ValueError, match=message):
        Parameters(ARM, free)
