"""Batches: the same numbers whatever lanes and threads compute them, and the same as one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim import native

RNG = np.random.default_rng(1)


def swing(model, q, qd):
    return hs.rollout(model, (q, qd), dt=1e-3, steps=50).q[-1]


@pytest.fixture(scope="module")
def pendulum():
    return hs.chain(2, damping=0.1, friction=0.1)


@pytest.mark.parametrize("size", [1, 3, 4, 9])
def test_results_do_not_depend_on_lanes_or_threads(pendulum, size):
    q, qd = RNG.normal(size=(2, size, 2))
    one_by_one = native.jit(swing)
    expected = np.array([one_by_one(pendulum, a, b) for a, b in zip(q, qd, strict=True)])
    for lanes in (1, 2, 4):
        for threads in (1, 2):
            found = native.batch(swing, (None, 0, 0), threads=threads, lanes=lanes)(pendulum, q, qd)
            np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(expected, jax.vmap(swing, (None, 0, 0))(pendulum, q, qd), rtol=1e-12, atol=1e-13)


def grow(x):
    return jax.lax.while_loop(lambda c: c[0] < 10 * c[1], lambda c: (c[0] * 1.5 + 1, c[1], c[2] + 1), (x, x + 1, 0))


def choose(x, y):
    def repeat():
        return jax.lax.fori_loop(0, 5, lambda i, c: c * 1.1 + x, y)

    return jax.lax.cond(x > 0.5, lambda: jnp.sin(y) * x, repeat)


def index(i, y):
    return jax.lax.dynamic_slice(y, (i,), (2,)), y.at[i].add(3.0), y[i], jax.lax.switch(i, [jnp.sin, jnp.cos], y)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (grow, (RNG.uniform(size=9),)),
        (choose, (RNG.uniform(size=9), RNG.normal(size=(9, 3)))),
        (index, (RNG.integers(-2, 5, size=9), RNG.normal(size=(9, 3)))),
    ],
)
def test_control_that_differs_between_lanes(f, args):
    expected, found = jax.vmap(f)(*args), native.batch(f)(*args)
    for x, y in zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
        np.testing.assert_allclose(y, x, rtol=1e-13)


def test_other_axes_and_shared_trees():
    weights = {"w": RNG.normal(size=(3, 2)), "b": RNG.normal(size=(3,))}
    x = RNG.normal(size=(2, 7))

    def affine(p, x):
        return p["w"] @ x + p["b"]

    found = native.batch(affine, (None, 1))(weights, x)
    np.testing.assert_allclose(found, jax.vmap(affine, (None, 1))(weights, x), rtol=1e-13)
    per_row = {"w": RNG.normal(size=(7, 3, 2)), "b": weights["b"]}
    found = native.batch(affine, ({"w": 0, "b": None}, 1))(per_row, x)
    np.testing.assert_allclose(found, jax.vmap(affine, ({"w": 0, "b": None}, 1))(per_row, x), rtol=1e-13)


def test_batches_of_different_sizes_are_refused():
    with pytest.raises(ValueError, match=r"size of the batch; found \[3, 4\]"):
        native.batch(lambda a, b: a + b)(np.ones(3), np.ones(4))
