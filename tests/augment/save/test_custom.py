"""Modules of the user's own: their numbers are in the file, their code is not."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment import HybridFileError, load_hybrid, save_hybrid

from .models import moved


class Cubic(eqx.Module):
    weight: jax.Array
    power: float
    """A leaf that is no array."""
    shape: callable
    """A leaf that is no number."""
    steps: jax.Array
    """Whole numbers."""

    def __call__(self, x):
        return self.weight @ self.shape(x) ** self.power


def make(inputs: int, outputs: int, seed: int) -> Cubic:
    weight = jax.random.normal(jax.random.PRNGKey(seed), (outputs, inputs))
    return Cubic(weight, 3.0, jnp.tanh, jnp.arange(3))


def hybrid(module, **options) -> hs.Model:
    network = hs.Custom(module, **options)
    return hs.Blueprint(hs.Augment("joint.force", ("joint.position", "joint.velocity"), network)).graft(hs.chain(2))


@pytest.mark.parametrize("given", [make, make(2, 1, 99)], ids=["function", "module"])
def test_numbers_come_from_the_file(given, tmp_path):
    model = hybrid(make, name="cubic")
    save_hybrid(model, tmp_path / "m.hybrid")
    again = load_hybrid(tmp_path / "m.hybrid", networks={"cubic": given, "another": make})
    for a, b in zip(model.augmentation.sites, again.augmentation.sites, strict=True):
        assert np.array_equal(a.network.module.weight, b.network.module.weight)
        assert b.network.module.power == 3.0
        assert b.network.module.steps.dtype == a.network.module.steps.dtype


def test_motions_are_identical(tmp_path):
    model = hybrid(make, name="cubic")
    save_hybrid(model, tmp_path / "m.hybrid")
    assert np.array_equal(moved(model), moved(load_hybrid(tmp_path / "m.hybrid", networks={"cubic": make})))


def test_a_module_of_equinox(tmp_path):
    module = eqx.nn.MLP(2, 1, 4, 1, activation=lambda x: jnp.sin(x), key=jax.random.PRNGKey(0))
    model = hybrid(module)
    save_hybrid(model, tmp_path / "m.hybrid")
    other = eqx.nn.MLP(2, 1, 4, 1, activation=jnp.sin, key=jax.random.PRNGKey(1))
    again = load_hybrid(tmp_path / "m.hybrid", networks={"custom": other})
    x = np.array([[0.3, -0.2]])
    assert np.array_equal(model.augmentation.sites[1](x, None)[0], again.augmentation.sites[1](x, None)[0])


def test_a_module_inside_of_a_structure(tmp_path):
    from hybridsim.augment.structure import Bounded

    augment = hs.Augment("joint.force", ("joint.position", "joint.velocity"), Bounded(hs.Custom(make, "cubic"), 2.0))
    model = hs.Blueprint(augment).graft(hs.chain(1))
    save_hybrid(model, tmp_path / "m.hybrid")
    again = load_hybrid(tmp_path / "m.hybrid", networks={"cubic": make})
    assert np.array_equal(*(m.augmentation.sites[0](np.ones((1, 2)), None)[0] for m in (model, again)))


def test_without_the_module_the_error_names_it(tmp_path):
    save_hybrid(hybrid(make, name="cubic"), tmp_path / "m.hybrid")
    with pytest.raises(
        HybridFileError, match=r"m\.hybrid: .*'cubic'.*load_hybrid\(path, networks=\{'cubic': \.\.\.\}\)"
    ):
        load_hybrid(tmp_path / "m.hybrid")
    with pytest.raises(HybridFileError, match=r"given: 'qubic'"):
        load_hybrid(tmp_path / "m.hybrid", networks={"qubic": make})


def wider(inputs, outputs, seed):
    return eqx.nn.MLP(inputs, outputs, 4, 1, key=jax.random.PRNGKey(seed))


def broken(inputs, outputs, seed):
    raise RuntimeError("no luck")


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (wider, "has no array 'network/0/module/layers/0/weight'"),
        (broken, "no luck"),
        (make(3, 1, 0), "cannot be called"),
    ],
)
def test_another_module_is_refused(module, words, tmp_path):
    save_hybrid(hybrid(make, name="cubic"), tmp_path / "m.hybrid")
    with pytest.raises(HybridFileError, match=words):
        load_hybrid(tmp_path / "m.hybrid", networks={"cubic": module})


def test_two_modules_of_one_name_are_refused_when_saving(tmp_path):
    a, b = (eqx.nn.Linear(1, 1, key=jax.random.PRNGKey(i)) for i in range(2))
    two = [hs.Augment("joint.force", "joint.velocity", network) for network in (a, b)]
    with pytest.raises(
        HybridFileError, match=r"two networks of your own are called 'custom'.*hs\.Custom\(module, name"
    ):
        save_hybrid(hs.Blueprint(*two).graft(hs.chain(1)), tmp_path / "m.hybrid")


def test_one_module_at_two_places(tmp_path):
    module = eqx.nn.Linear(1, 1, key=jax.random.PRNGKey(0))
    two = [hs.Augment(name, "joint.velocity", module) for name in ("joint.force", "joint.damping")]
    model = hs.Blueprint(*two).graft(hs.chain(1))
    save_hybrid(model, tmp_path / "m.hybrid")
    assert len(load_hybrid(tmp_path / "m.hybrid", networks={"custom": module}).augmentation.sites) == 2


def test_random_keys_are_refused_when_saving(tmp_path):
    class Noisy(eqx.Module):
        key: jax.Array

        def __call__(self, x):
            return x[:1]

    with pytest.raises(HybridFileError, match=r"network/0/module/key is of type key"):
        save_hybrid(hybrid(Noisy(jax.random.key(0))), tmp_path / "m.hybrid")
