"""Normalisation is fixed from data, changes what networks see, and is not trained."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs

MODEL = hs.chain(2)
RNG = np.random.default_rng(0)
Q, QD = RNG.normal(2.0, 0.5, (400, 2)), RNG.normal(-1.0, [3.0, 7.0], (400, 2))
HYBRID = hs.Blueprint(hs.Augment("joint.force", ("joint.position", "joint.velocity"), hs.MLP((4,)))).graft(MODEL)


def test_inputs_have_mean_zero_and_spread_one():
    model = hs.normalised(HYBRID, (Q, QD))
    for i, site in enumerate(model.augmentation.sites):
        first = site.network.first
        seen = (np.stack([Q[:, i], QD[:, i]], axis=1) - first.shift) / first.scale
        np.testing.assert_allclose(seen.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(seen.std(axis=0), 1, rtol=1e-12)


def test_outputs_have_the_size_of_their_variable_or_the_given_one():
    controls = RNG.normal(0, 5.0, (400, 2))
    by_data = hs.normalised(HYBRID, (Q, QD), controls)
    gains = [site.network.last.gain[0] for site in by_data.augmentation.sites]
    np.testing.assert_allclose(gains, controls.std(axis=0), rtol=1e-12)
    given = hs.normalised(HYBRID, hs.State(Q, QD), controls, outputs={"joint.force": 3.0})
    assert [site.network.last.gain[0] for site in given.augmentation.sites] == [3.0, 3.0]


def test_what_does_not_vary_is_left_alone():
    model = hs.normalised(HYBRID, (np.ones((50, 2)), QD[:50]))
    assert model.augmentation.sites[0].network.first.scale[0] == 1
    assert model.augmentation.sites[0].network.first.shift[0] == 0


def test_the_numbers_are_not_trained():
    model = hs.normalised(HYBRID, (Q, QD))
    gradient = jax.grad(lambda m: jnp.sum(hs.step(m, (Q[0], QD[0]), contact=None).qd))(model)
    first = gradient.augmentation.sites[0].network.first
    assert not np.any(first.shift)
    assert not np.any(first.scale)
    assert not np.any(gradient.augmentation.sites[0].network.last.gain)
    assert np.any(gradient.augmentation.sites[0].network.last.weight)


def test_a_network_without_inputs_has_nothing_to_normalise():
    constant = hs.Blueprint(hs.Augment("joint.force", (), hs.MLP((4,)))).graft(MODEL)
    model = hs.normalised(constant, (Q, QD), outputs={"joint.force": 3.0})
    assert model.augmentation.sites[0].network.first.scale.shape == (0,)
    assert model.augmentation.sites[0].network.last.gain[0] == 3


def test_errors():
    with pytest.raises(ValueError, match="no networks"):
        hs.normalised(MODEL, (Q, QD))
    with pytest.raises(ValueError, match="400 states but 3 rows"):
        hs.normalised(HYBRID, (Q, QD), np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"no network acts on joint\.friction"):
        hs.normalised(HYBRID, (Q, QD), outputs={"joint.friction": 1.0})
    with pytest.raises(ValueError, match=r"size of joint\.force is 0\.0; it must be a finite number, positive"):
        hs.normalised(HYBRID, (Q, QD), outputs={"joint.force": 0.0})
    with pytest.raises(ValueError, match=r"q must be finite numbers, 2 in a row, but has the shape \(4, 3\)"):
        hs.normalised(HYBRID, (np.zeros((4, 3)), np.zeros((4, 3))))
    with pytest.raises(ValueError, match=r"qd must be finite .* and 800 that are not finite"):
        hs.normalised(HYBRID, (Q, np.nan * QD))
    with pytest.raises(ValueError, match="400 rows of q and 3 of qd"):
        hs.normalised(HYBRID, (Q, QD[:3]))
    with pytest.raises(ValueError, match="0 rows of q and 0 of qd"):
        hs.normalised(HYBRID, (Q[:0], QD[:0]))
