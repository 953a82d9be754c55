"""What is loaded is what was saved: every array, everything static, every motion."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment import HybridFileError, blueprint_of, load_hybrid, prune, save_hybrid
from hybridsim.augment.networks import InputLayer
from hybridsim.augment.save.architectures import known_classes
from hybridsim.augment.save.variables import shape_of
from hybridsim.augment.wiring import Wire

from .models import FILES, MODELS, arm, cube, members, moved, quiet_load, servos, structure


def assert_identical(a: hs.Model, b: hs.Model) -> None:
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


@pytest.mark.parametrize("where", ["model.hybrid", "folder"])
@pytest.mark.parametrize("name", MODELS)
def test_every_number_and_all_structure_come_back(name, where, tmp_path):
    model = MODELS[name]()
    save_hybrid(model, tmp_path / where)
    assert_identical(model, load_hybrid(tmp_path / where))


@pytest.mark.parametrize("name", ["arm", "cube", "fingers", "laws"])
def test_motions_are_identical(name, tmp_path):
    model = MODELS[name]()
    save_hybrid(model, tmp_path / "m.hybrid")
    assert np.array_equal(moved(model), moved(load_hybrid(tmp_path / "m.hybrid")))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["servos", "plain"])
def test_other_motions_are_identical(name, tmp_path):
    model = MODELS[name]()
    save_hybrid(model, tmp_path / "m.hybrid")
    assert np.array_equal(moved(model), moved(load_hybrid(tmp_path / "m.hybrid")))


# Files that others include are no models.
WHOLE = [
    path
    for path in sorted(FILES.glob("*.urdf")) + sorted(FILES.glob("*.xml"))
    if b"<mujocoinclude" not in path.read_bytes()
]


@pytest.mark.parametrize("file", WHOLE, ids=lambda path: path.name)
def test_robots_come_back(file, tmp_path):
    model = quiet_load(file)
    save_hybrid(model, tmp_path / "m.hybrid")
    assert_identical(model, load_hybrid(tmp_path / "m.hybrid"))


def pruned() -> hs.Model:
    model = arm()

    def forget(layer):
        if not isinstance(layer, InputLayer):
            return layer
        weight = np.array(layer.weight)
        weight[:, 1:3] = 0
        return dataclasses.replace(layer, weight=weight)

    model = jax.tree.map(forget, model, is_leaf=lambda node: isinstance(node, InputLayer))
    smaller = prune(model)
    assert jax.tree.structure(smaller) != jax.tree.structure(model)
    return smaller


def test_a_pruned_model_comes_back_as_it_is(tmp_path):
    model = pruned()
    save_hybrid(model, tmp_path / "m.hybrid")
    again = load_hybrid(tmp_path / "m.hybrid")
    assert_identical(model, again)
    assert blueprint_of(again) == blueprint_of(model)


def test_saving_what_was_loaded_gives_the_same_bytes(tmp_path):
    first, second = tmp_path / "a.hybrid", tmp_path / "b.hybrid"
    save_hybrid(arm(), first)
    save_hybrid(load_hybrid(first), second)
    assert first.read_bytes() == second.read_bytes()


def test_arrays_of_jax_and_of_single_precision(tmp_path):
    single = jax.tree.map(lambda x: jax.numpy.asarray(x, dtype="float32"), arm())
    save_hybrid(single, tmp_path / "m.hybrid")
    again = load_hybrid(tmp_path / "m.hybrid")
    assert_identical(single, again)
    assert {leaf.dtype for leaf in jax.tree.leaves(again)} == {np.dtype("float32")}


def test_numbers_that_are_no_arrays_become_arrays(tmp_path):
    model = eqx.tree_at(lambda m: (m.gravity, m.timestep), hs.chain(1), (np.array([0, 0, -10]), 0.25))
    save_hybrid(model, tmp_path / "m.hybrid")
    again = load_hybrid(tmp_path / "m.hybrid")
    assert again.gravity.tolist() == [0.0, 0.0, -10.0]
    assert again.timestep == 0.25


def test_loaded_arrays_may_be_written_to_and_trained(tmp_path):
    save_hybrid(arm(), tmp_path / "m.hybrid")
    model = load_hybrid(tmp_path / "m.hybrid")
    assert all(leaf.flags.writeable for leaf in jax.tree.leaves(model))
    site = model.augmentation.sites[0]
    x = np.ones((1, site.plan.signature.input_size))
    slope = eqx.filter_grad(lambda site: site(x, None)[0].sum())(site)
    assert np.any(slope.network.first.weight)


PROGRAM = """
import sys
import jax
import numpy as np
import hybridsim as hs
from augment.save.models import arm, moved, points
from hybridsim.augment import load_hybrid, save_hybrid
from hybridsim.augment.save.variables import shape_of

folder = sys.argv[1]
np.save(folder + "/motion.npy", moved(load_hybrid(folder + "/m.hybrid")))
for model in (arm(), points()):
    save_hybrid(model, folder + "/here.hybrid")
    again = load_hybrid(folder + "/here.hybrid")
    assert jax.tree.structure(model) == jax.tree.structure(again)
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(model), jax.tree.leaves(again)))
    assert "quick" in sys.argv or np.array_equal(moved(model), moved(again))
for mark in hs.names(points()):
    assert shape_of(points(), mark.name) == mark.shape
"""


@pytest.mark.parametrize("double", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_another_process_gives_the_same_motion(double, tmp_path, monkeypatch):
    """Without pytest nothing checks annotations, so there may be shapes with different numbers of points."""
    save_hybrid(arm(), tmp_path / "m.hybrid")
    tests = Path(__file__).parents[2]
    monkeypatch.setenv("JAX_ENABLE_X64", "1" if double else "0")
    monkeypatch.setenv("PYTHONPATH", f"{tests}:{tests.parent / 'src'}")
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path), "quick" if double else "whole"], check=True)
    there = np.load(tmp_path / "motion.npy")
    if double:
        assert np.array_equal(moved(arm()), there)
    else:
        assert there.dtype == np.float32
        assert np.allclose(moved(arm()), there, atol=1e-4)


@pytest.mark.slow
def test_all_of_this_without_checks_of_annotations():
    """As users run it: what is wrong in a file must be found by HybridSim itself."""
    options = ["-q", "-o", "addopts=", "-p", "no:cacheprovider", "-m", "not slow", str(Path(__file__).parent)]
    run = subprocess.run([sys.executable, "-m", "pytest", *options], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:]


def test_the_structure_is_readable(tmp_path):
    save_hybrid(arm(), tmp_path / "model")
    text = (tmp_path / "model/model.json").read_text()
    document = json.loads(text)
    assert document["format"] == "hybridsim-model"
    assert document["joints"][2] == {"name": "elbow", "kind": "revolute", "parent": "shoulder", "mimics": None}
    network = document["augmentation"]["augments"][0]["network"]
    assert network == {"class": "MLP", "hidden": [4, 3], "activation": "tanh", "bias": True}
    assert '"network": {"class": "MLP", "hidden": [4, 3], "activation": "tanh", "bias": true}' in text


def test_numbers_have_readable_names(tmp_path):
    from safetensors.numpy import load_file

    save_hybrid(arm(), tmp_path / "model")
    numbers = load_file(tmp_path / "model/numbers.safetensors")
    assert {"links/mass", "gravity", "network/0/first/weight", "network/0/middle/0/bias", "constant/1/0"} <= set(
        numbers
    )
    assert numbers["links/mass"].dtype == np.float64


@pytest.mark.parametrize("make", [arm, cube, servos])
@pytest.mark.parametrize("contact", [hs.Impulses(), hs.Springs()], ids=lambda x: type(x).__name__)
def test_shapes_of_variables_are_those_of_a_step(make, contact):
    model = dataclasses.replace(make(), augmentation=None)
    for mark in hs.names(model, contact):
        assert shape_of(model, mark.name) == mark.shape, mark.name


def test_all_architectures_and_all_of_a_wire_are_known():
    """A class or a field that is added has to be added to the file as well."""
    assert {"MLP", "Linear", "GRU", "LSTM", "Custom", "Bounded", "Dissipative", "Odd"} <= set(known_classes())
    assert {f.name for f in dataclasses.fields(Wire)} == {
        "name", "label", "places", "delays", "cyclic", "hidden", "own",
    }  # fmt: skip


def test_infinite_and_large_numbers_of_a_structure(tmp_path):
    from hybridsim.augment.structure import Bounded

    for limit in (float("inf"), 10**9, 0.1):
        augment = hs.Augment("joint.force", "joint.velocity", Bounded(hs.Linear(), limit))
        model = hs.Blueprint(augment).graft(hs.chain(1))
        save_hybrid(model, tmp_path / "m.hybrid")
        assert_identical(model, load_hybrid(tmp_path / "m.hybrid"))


def test_a_network_that_nobody_knows_is_not_saved(tmp_path):
    class Mine(hs.MLP):
        pass

    model = hs.Blueprint(hs.Augment("joint.force", "joint.velocity", Mine())).graft(hs.chain(1))
    with pytest.raises(HybridFileError, match=r"m\.hybrid: not saved: the network at joint\.force is .*Custom"):
        save_hybrid(model, tmp_path / "m.hybrid")
    assert not list(tmp_path.iterdir())


def test_a_model_that_has_diverged_is_not_saved(tmp_path):
    model = eqx.tree_at(lambda m: m.links.mass, hs.chain(1), np.array([np.nan]))
    with pytest.raises(HybridFileError, match="links/mass has NaN"):
        save_hybrid(model, tmp_path / "m.hybrid")


def test_a_batch_of_models_is_not_saved(tmp_path):
    model = jax.tree.map(lambda x: np.stack([x, x]), hs.chain(1))
    with pytest.raises(HybridFileError, match=r"it could not be loaded again .* give one model"):
        save_hybrid(model, tmp_path / "m.hybrid")


def test_the_helpers_of_these_tests_change_nothing(tmp_path):
    save_hybrid(arm(), tmp_path / "m.hybrid")
    content = members(tmp_path / "m.hybrid")
    assert structure(content)["joints"][0]["name"] == arm().joint_names[0]
