"""Discovery over inputs and over places, on one joint."""

import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs

DT = 1e-2


def motions(model, seed, count=8, steps=20):
    rng = np.random.default_rng(seed)
    start = rng.uniform(-1, 1, (count, 1)), rng.uniform(-3, 3, (count, 1))

    def one(q, qd):
        made = hs.rollout(model, (q, qd), dt=DT, steps=steps, contact=None)
        return made.q, made.qd

    return hs.native.batch(one)(*start)


def misfit(model, measured):
    q, qd = measured
    made = hs.rollout(model, (q[0], qd[0]), dt=DT, steps=len(q) - 1, contact=None)
    return jnp.mean((made.q - q) ** 2) + jnp.mean((made.qd - qd) ** 2)


CANDIDATES = hs.Blueprint(
    hs.Augment("joint.force", ("joint.position", "joint.velocity"), hs.MLP((4,), "tanh")),
    hs.Augment("link.mass", ("joint.position",), hs.MLP((4,), "tanh"), mode="scale"),
)


@pytest.mark.parametrize(
    ("truth", "found"),
    [
        pytest.param(hs.chain(1, damping=0.3), "joint.force[joint1] += MLP(joint.velocity)", id="damping"),
        pytest.param(hs.chain(1), "", id="nothing is missing"),
    ],
)
@pytest.mark.slow
def test_which_networks_are_needed_at_all(truth, found):
    noise = np.random.default_rng(9)
    data, held_out = (tuple(x + 1e-3 * noise.standard_normal(x.shape) for x in motions(truth, seed)) for seed in (0, 1))
    model = hs.normalised(CANDIDATES.graft(hs.chain(1)), data, contact=None)
    result = hs.discover(model, misfit, data, held_out, [1e-2, 1.0], steps=60, finish=100, places=True)
    assert str(hs.blueprint_of(result.model)) == found


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kappas": (-1.0,)}, r"kappas is \[-1\.\]; it must be a finite number, not negative"),
        ({"kappas": (np.nan,)}, "kappas is"),
        ({"factor": 0.5}, "factor is 0.5; it must be a finite number, at least 1"),
        ({"tolerance": -1.0}, "tolerance is -1.0"),
        ({"held_out": (np.zeros((0, 3, 1)),) * 2}, "held_out must be arrays"),
        ({"held_out": (np.full((2, 3, 1), np.nan),) * 2}, "loss of the plain model is nan for the held-out example 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(options, words):
    data = (np.zeros((2, 3, 1)), np.zeros((2, 3, 1)))
    with pytest.raises(ValueError, match=words):
        hs.discover(CANDIDATES.graft(hs.chain(1)), misfit, data, **{"held_out": data, **options})
