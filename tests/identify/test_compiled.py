"""Programs of a fit are found on disk only if every number and option on which they depend is the same."""

import sys
from dataclasses import fields, replace

import equinox as eqx
import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.identify import prepare
from hybridsim.identify.compiled import Compiled
from hybridsim.identify.motion import Motion
from hybridsim.identify.parameters import Parameters
from hybridsim.native.recall import identity_of
from identify.logs import driven

FREE = [hs.Free("joint/*/damping", tied=True), "link/link1/mass", "link/link2/inertial", "control/delay"]


def motion(model=None, free=FREE, **changes) -> Motion:
    model = hs.chain(2, length=0.5, damping=0.3) if model is None else model
    options = {
        "dt": 0.01,
        "margin": 2,
        "control_kind": "force",
        "record": ("joint.force",),
        "integrator": hs.SemiImplicitEuler(),
        "contact": None,
        "substeps": 1,
        "own_start": True,
    }
    return Motion(Parameters(model, free, controls=2), **(options | changes))


def identity(found: Motion) -> str | None:
    return identity_of(found.run, ("run", found.content), (jax.tree.structure(()), ()), [])


CHANGES = {
    "dt": 0.01 + 1e-17 + 2e-18,
    "margin": 3,
    "control_kind": "command",
    "record": ("joint.force", "joint.acceleration"),
    "integrator": hs.RungeKutta4(),
    "contact": hs.Springs(),
    "substeps": 2,
    "own_start": False,
}


def test_every_option_of_a_motion_is_a_part_of_its_identity():
    assert {field.name for field in fields(Motion)} == {"parameters", *CHANGES}
    texts = [identity(motion()), *(identity(motion(**{name: value})) for name, value in CHANGES.items())]
    assert None not in texts
    assert len(set(texts)) == len(texts)
    assert identity(motion()) == texts[0]


def test_every_number_of_the_model_is_a_part_of_the_identity():
    """Each is changed in its last digit."""
    model = hs.chain(2, length=0.5, damping=0.3)
    leaves, form = jax.tree.flatten(model)
    texts, changed = {identity(motion(model))}, 1
    for i, leaf in enumerate(leaves):
        if np.size(leaf):
            other = np.array(leaf)
            other.reshape(-1)[-1] = np.nextafter(other.reshape(-1)[-1], 0.123)
            assert not np.array_equal(other, leaf)
            texts.add(identity(motion(jax.tree.unflatten(form, [*leaves[:i], other, *leaves[i + 1 :]]))))
            changed += 1
    assert changed > 20
    assert None not in texts
    assert len(texts) == changed


@pytest.mark.parametrize(
    "free",
    [
        FREE[:-1],
        FREE[::-1],
        [hs.Free("joint/*/damping"), *FREE[1:]],
        [hs.Free("joint/*/damping", tied=True, start=1.5), *FREE[1:]],
        [hs.Free("joint/*/damping", tied=True, scale="linear"), *FREE[1:]],
        [FREE[0], "link/link1/com", *FREE[2:]],
    ],
)
def test_what_is_free_is_a_part_of_the_identity(free):
    assert len({None, identity(motion()), identity(motion(free=free))}) == 3


def test_structure_and_networks_are_parts_of_the_identity():
    def hybrid(*sizes, seed=0, activation="tanh"):
        augment = hs.Augment("joint.force", inputs=("joint.velocity",), network=hs.MLP(sizes, activation))
        return hs.Blueprint(augment).graft(hs.chain(2, length=0.5, damping=0.3), key=seed)

    models = [
        hs.chain(2, length=0.5, damping=0.3),
        hs.chain(3, length=0.5, damping=0.3),
        hybrid(4),
        hybrid(5),
        hybrid(4, 4),
        hybrid(4, seed=1),
        hybrid(4, activation="elu"),
    ]
    texts = [identity(motion(model, ["link/link1/mass"])) for model in models]
    assert None not in texts
    assert len(set(texts)) == len(texts)


class Doubled(eqx.Module):
    """A network of the user's."""

    def __call__(self, x):
        return 2.0 * x[:2]


def test_a_network_of_the_users_is_traced():
    augment = hs.Augment("joint.force", inputs=("joint.velocity",), network=hs.Custom(Doubled()))
    model = hs.Blueprint(augment).graft(hs.chain(2), key=0)
    assert identity(motion(model, ["link/link1/mass"])) is None


def results_of(problem) -> list[np.ndarray]:
    z, s = problem.zeros()
    normal = problem.normal(z, s)
    return [np.asarray(x) for x in (normal.cost, normal.g, normal.A, normal.h)]


def test_a_second_problem_finds_all_programs_and_computes_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRIDSIM_CACHE", str(tmp_path))
    recall, traced = sys.modules["hybridsim.native.recall"], []
    trace = recall.trace
    monkeypatch.setattr(recall, "trace", lambda f, specs: traced.append(specs) or trace(f, specs))
    log = driven(hs.chain(1, length=0.45, damping=0.2), 0.3)
    model = hs.chain(1, length=0.5, damping=0.3)
    free = ["joint/joint1/damping", "link/link1/mass", "sensor/joint1/bias", "control/delay"]

    def results(model):
        monkeypatch.setattr(sys.modules[Compiled.__module__], "_known", {})
        traced.clear()
        found = results_of(prepare(model, log, free, window=0.1, compare={"position": 1e-2}))
        return found, len(traced)

    first, needed = results(model)
    second, again = results(model)
    assert needed == 5
    assert again == 1, "all but the product of small matrices, which is traced in a millisecond"
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    heavier = replace(model, links=replace(model.links, mass=1.01 * model.links.mass))
    third, traced_again = results(heavier)
    assert traced_again == needed
    assert not np.array_equal(third[0], first[0])
