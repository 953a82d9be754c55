"""Derivatives of whole tosses, with several impacts, by the numbers of contact: against differences.

Where a face lands, four corners touch at once and share the load. A solver that stops before it knows which of them opens gives
a motion that is almost right, and a derivative that is not: of such tosses a third had a wrong derivative.
"""

import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from gradient_table.single_steps import Survey, error

DT = 1e-3
STEPS = (1e-5, 1e-6, 1e-7)
"""Of differences."""
WRONG = 0.02
"""Relative error of a derivative beyond which it is wrong."""


def _end(model, theta, q, qd, direction, steps):
    """The last position along a direction, by the logarithms of friction and restitution."""
    friction, restitution = jnp.exp(theta)
    model = hs.with_contacts(model, friction=friction, restitution=restitution)
    return jnp.dot(direction, hs.rollout(model, (q, qd), dt=DT, steps=steps)[-1].q[:3])


_value = hs.native.jit(_end)
_value_and_gradient = hs.native.value_and_grad(_end, argnums=1)


def _thrown(rng, half_sizes):
    """A box of random mass in random motion above the ground."""
    body = hs.solid("box", mass=float(rng.uniform(0.2, 2.0)), shape="box", size=half_sizes)
    model = hs.world(hs.free_body(body), hs.ground())
    turn = rng.standard_normal(4)
    q = np.concatenate([[0, 0, 0.12 + 0.05 * rng.random()], turn / np.linalg.norm(turn)])
    qd = np.concatenate([rng.uniform(-8, 8, 3), rng.uniform(-1, 1, 2), [rng.uniform(-1.5, 0)]])
    direction = rng.standard_normal(3)
    return model, q, qd, direction / np.linalg.norm(direction)


def _wrong(rng, half_sizes, steps):
    """How many derivatives of a toss are wrong, and how many could be tested: where differences agree with each other."""
    model, q, qd, direction = _thrown(rng, half_sizes)
    theta = np.log([rng.uniform(0.1, 0.8), rng.uniform(0.05, 0.5)])
    _, gradient = _value_and_gradient(model, theta, q, qd, direction, steps)
    wrong = tested = 0
    for derivative, axis in zip(np.asarray(gradient), np.eye(2), strict=True):
        ends = [[float(_value(model, theta + x * axis, q, qd, direction, steps)) for x in (h, -h)] for h in STEPS]
        coarse, middle, fine = ((ahead - behind) / (2 * h) for (ahead, behind), h in zip(ends, STEPS, strict=True))
        if abs(middle - fine) > 1e-3 * abs(fine) + 1e-8 or abs(coarse - middle) > 1e-2 * abs(fine) + 1e-8:
            continue  # a kink
        tested += 1
        wrong += bool(abs(derivative - fine) > WRONG * abs(fine) + 1e-7)
    return wrong, tested


def _tossed(seed, count, half_sizes, steps):
    rng = np.random.default_rng(seed)
    return np.sum([_wrong(rng, half_sizes, steps) for _ in range(count)], axis=0)


def test_a_cube_that_lands_on_its_faces():
    wrong, tested = _tossed(0, 20, (0.05, 0.05, 0.05), 350)
    assert tested > 20
    assert wrong == 0


@pytest.mark.slow
@pytest.mark.parametrize("half_sizes", [(0.05, 0.05, 0.05), (0.08, 0.05, 0.02), (0.02, 0.03, 0.09), (0.03, 0.2, 0.1)])
def test_boxes_of_other_shapes(half_sizes):
    """Not yet none: where contacts that all stick share a load, a step in some hundred tosses is left unsolved."""
    wrong, tested = _tossed(1, 60, half_sizes, 600)
    assert tested > 60
    assert wrong <= 0.06 * tested


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cube", "flat box", "sphere", "capsule", "arm"])
def test_every_single_step_of_a_motion(name):
    rows = list(Survey(16, seed=1).rows((name,)))
    assert len(rows) > 8
    assert [row.scene for row in rows if error(row) > WRONG] == []
