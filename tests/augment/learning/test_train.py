"""Training: it finds known minima, keeps what it has when stopped, and says when it cannot go on."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment.flat import Flat

DT = 1e-2
MODEL = hs.chain(1)
FORCE = hs.Augment("joint.force", ("joint.velocity",), hs.Linear(bias=False))


def swings(model, count=3, steps=30):
    start = np.linspace(0.3, 1.2, count)[:, None]
    run = hs.native.batch(lambda q: hs.rollout(model, (q, 0 * q), dt=DT, steps=steps, contact=None).q)
    return run(start)


def misfit(model, q):
    made = hs.rollout(model, (q[0], 0 * q[0]), dt=DT, steps=len(q) - 1, contact=None)
    return jnp.mean((made.q - q) ** 2)


def test_a_linear_network_finds_the_damping():
    data = swings(hs.chain(1, damping=0.07))
    hybrid = hs.Blueprint(FORCE).graft(MODEL)
    trained = hs.train(hybrid, misfit, data, steps=400, learning_rate=1e-2)
    weight = trained.model.augmentation.sites[0].network.first.weight
    np.testing.assert_allclose(weight, [[-0.07]], rtol=1e-3)
    assert trained.history[-1] < 1e-6 * trained.history[0]
    assert not trained.stopped


def test_physical_numbers_and_weights_are_trained_together():
    truth = hs.chain(1, damping=0.07, stiffness=0.5)
    hybrid = hs.Blueprint(FORCE).graft(MODEL)
    free = lambda model: (model.augmentation, model.joints.stiffness)  # noqa: E731
    data = swings(truth, steps=100)
    trained = hs.train(hybrid, misfit, data, steps=600, learning_rate=2e-2, free=free).model
    np.testing.assert_allclose(trained.augmentation.sites[0].network.first.weight, [[-0.07]], rtol=2e-2)
    np.testing.assert_allclose(trained.joints.stiffness, [0.5], rtol=2e-2)
    np.testing.assert_array_equal(trained.links.mass, MODEL.links.mass)


def test_the_last_step_counts():
    data = swings(hs.chain(1, damping=0.07))
    hybrid = hs.Blueprint(FORCE).graft(MODEL)
    trained = hs.train(hybrid, misfit, data, steps=1, learning_rate=1e-2, decay=False).model
    np.testing.assert_allclose(trained.augmentation.sites[0].network.first.weight, [[-0.01]], rtol=1e-6)


def test_native_and_xla_train_alike():
    data = swings(hs.chain(1, damping=0.07))
    hybrid = hs.Blueprint(FORCE).graft(MODEL)
    one, other = (hs.train(hybrid, misfit, data, steps=20, backend=backend) for backend in ("native", "xla"))
    np.testing.assert_allclose(one.history, other.history, rtol=1e-8)


def test_the_same_seed_gives_the_same_result():
    data = swings(hs.chain(1, damping=0.07), count=5)
    hybrid = hs.Blueprint(FORCE).graft(MODEL)
    runs = [hs.train(hybrid, misfit, data, steps=20, batch_size=2, seed=seed).history for seed in (3, 3, 4)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def interrupted(monkeypatch, values, error=None):
    """Training on given losses, whose gradient is always one; after them the error."""
    remaining = iter(values)

    def evaluate(theta, batch):
        value = next(remaining, None)
        if value is None:
            raise error
        return value, np.ones_like(theta)

    # The function hides its module of the same name.
    monkeypatch.setattr(sys.modules["hybridsim.augment.train"], "_evaluator", lambda *_: evaluate)


def test_stopping_keeps_the_best_model(monkeypatch):
    hybrid = hs.Blueprint(FORCE).graft(MODEL)
    interrupted(monkeypatch, [3.0, 1.0, 2.0], KeyboardInterrupt())
    trained = hs.train(hybrid, misfit, np.zeros((1, 2, 1)), steps=10, learning_rate=0.1, decay=False)
    assert trained.stopped
    # The best loss was met after one step of 0.1.
    np.testing.assert_allclose(trained.model.augmentation.sites[0].network.first.weight, [[-0.1]], rtol=1e-6)


def test_l_bfgs_goes_further_and_can_be_stopped(monkeypatch):
    data = swings(hs.chain(1, damping=0.07))
    hybrid = hs.Blueprint(FORCE).graft(MODEL)
    trained = hs.train(hybrid, misfit, data, steps=5, finish=30)
    np.testing.assert_allclose(trained.model.augmentation.sites[0].network.first.weight, [[-0.07]], rtol=1e-6)
    interrupted(monkeypatch, [3.0, 2.0, 1.0], KeyboardInterrupt())
    stopped = hs.train(hybrid, misfit, data, steps=1, finish=30, learning_rate=0.1, decay=False)
    assert stopped.stopped
    assert stopped.model.augmentation.sites[0].network.first.weight[0, 0] < 0


def test_a_loss_that_is_not_finite_goes_back_to_the_best_point_with_a_smaller_step(monkeypatch):
    hybrid = hs.Blueprint(FORCE).graft(MODEL)
    interrupted(monkeypatch, [3.0, np.nan, 2.0, 1.0], KeyboardInterrupt())
    trained = hs.train(hybrid, misfit, np.zeros((1, 2, 1)), steps=10, learning_rate=0.1, decay=False)
    np.testing.assert_allclose(trained.model.augmentation.sites[0].network.first.weight, [[-0.05]], rtol=1e-6)


def test_a_loss_that_stays_not_finite_is_an_error_that_keeps_the_model(monkeypatch):
    hybrid = hs.Blueprint(FORCE).graft(MODEL)
    interrupted(monkeypatch, [3.0, *[np.nan] * 20])
    with pytest.raises(hs.TrainingError, match="smaller learning rate") as caught:
        hs.train(hybrid, misfit, np.zeros((1, 2, 1)), steps=30)
    np.testing.assert_array_equal(caught.value.best.augmentation.sites[0].network.first.weight, [[0.0]])


def test_errors():
    hybrid = hs.Blueprint(FORCE).graft(MODEL)
    with pytest.raises(ValueError, match="nothing is free"):
        hs.train(MODEL, misfit, np.zeros((1, 2, 1)))
    with pytest.raises(ValueError, match="'native' or 'xla'"):
        hs.train(hybrid, misfit, np.zeros((1, 2, 1)), backend="torch")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": -1}, "steps is -1, but must be a whole number, 0 or more"),
        ({"finish": -1}, "finish is -1"),
        ({"batch_size": 0}, "batch_size is 0, but must be a whole number, 1 or more"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0; it must be a finite number, positive"),
        ({"learning_rate": -0.1}, "learning_rate is -0.1"),
        ({"learning_rate": np.nan}, "learning_rate is nan"),
        ({"penalty": hs.Penalty(1.0, weights=(1.0, 1.0))}, "2 weights, but the model has 1 networks"),
        ({"penalty": hs.Penalty(1.0), "free": lambda m: m.links.mass}, "not all of them are free"),
        ({"data": np.zeros((0, 2, 1))}, r"at least one; the shapes found are: \(0, 2, 1\)"),
        ({"data": (np.zeros((3, 1)), np.zeros((2, 1)))}, r"equally many in each.*\(3, 1\), \(2, 1\)"),
        ({"data": ()}, "data must be arrays.*found are: none"),
        ({"data": 1.0}, "data must be arrays"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(options, words):
    hybrid, data = hs.Blueprint(FORCE).graft(MODEL), options.pop("data", np.zeros((1, 2, 1)))
    with pytest.raises(ValueError, match=words):
        hs.train(hybrid, misfit, data, **options)


@pytest.mark.parametrize("options", [{"steps": 3}, {"steps": 0, "finish": 3}], ids=["Adam", "L-BFGS"])
def test_data_that_are_not_finite_are_an_error_at_once(options):
    hybrid = hs.Blueprint(FORCE).graft(MODEL)
    with pytest.raises(hs.TrainingError, match="nowhere to begin; look for NaN in the data"):
        hs.train(hybrid, misfit, np.full((2, 3, 1), np.nan), **options)


def test_a_model_and_its_vector_go_there_and_back():
    hybrid = hs.Blueprint(FORCE, hs.Augment("joint.force", ("joint.position",), hs.MLP((3,)))).graft(MODEL)
    flat = Flat(hybrid, lambda model: (model.augmentation, model.links.mass))
    vector = flat.vector()
    assert flat.size == len(vector) == 1 + 4 + 13
    changed = flat.model(vector + 1)
    np.testing.assert_array_equal(changed.links.mass, MODEL.links.mass + 1)
    np.testing.assert_array_equal(changed.links.com, MODEL.links.com)
    np.testing.assert_array_equal(Flat(changed, lambda m: (m.augmentation, m.links.mass)).vector(), vector + 1)


def test_a_model_in_single_precision_stays_in_it():
    blueprint = hs.Blueprint(FORCE, hs.Augment("joint.force", (), hs.MLP((2,))))
    single = jax.tree.map(lambda x: np.asarray(x, dtype=np.float32), blueprint.graft(MODEL))
    trained = hs.train(single, misfit, np.float32(swings(hs.chain(1, damping=0.07), steps=3)), steps=2)
    assert {np.asarray(leaf).dtype for leaf in jax.tree.leaves(trained.model)} == {np.dtype("float32")}
