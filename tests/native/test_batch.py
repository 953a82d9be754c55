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


def test_results_do_not_depend_on_lanes_or_threads(pendulum):
    q, qd = RNG.normal(size=(2, 9, 2))
    one_by_one = native.jit(swing)
    expected = np.array([one_by_one(pendulum, a, b) for a, b in zip(q, qd, strict=True)])
    for lanes in (1, 2, 4, 8):
        for threads in (1, 3):
            f = native.batch(swing, (None, 0, 0), threads=threads, lanes=lanes)
            for size in (1, 3, 4, 9):
                np.testing.assert_array_equal(f(pendulum, q[:size], qd[:size]), expected[:size])
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


@pytest.mark.parametrize(
    ("in_axes", "error", "message"),
    [
        ((0, 0, 0), ValueError, "in_axes has 3 entries for 2 arguments"),
        ((0, 2), ValueError, r"in_axes asks for axis 2 of an array of shape \(3, 2\); use None to share"),
        (None, ValueError, "no argument has an array with a batch axis"),
        ((0, {"y": 0}), ValueError, r"in_axes\[1\] must be a number, None or a tree like argument 1"),
        ((0, "x"), TypeError, "in_axes has 'x' where an axis belongs"),
        ({"a": 0}, TypeError, "in_axes is of type dict"),
    ],
)
def test_wrong_axes_are_named(in_axes, error, message):
    f = native.batch(lambda a, b: a + b["x"], in_axes)
    with pytest.raises(error, match=message):
        f(np.ones((3, 2)), {"x": np.ones((3, 2))})


@pytest.mark.parametrize("number", [{"threads": 0}, {"lanes": -1}])
def test_numbers_of_lanes_and_threads_are_positive(number):
    with pytest.raises(ValueError, match="must be 1 or more"):
        native.batch(jnp.sin, **number)


def test_sizes_share_one_program_and_an_empty_batch_is_empty():
    traced = []

    @native.batch
    def f(x):
        traced.append(x.shape)
        return x * 2, {"sum": x.sum()}

    for size in (5, 0, 1, 64):
        x = RNG.normal(size=(size, 3))
        double, total = f(x)
        assert double.shape == (size, 3)
        np.testing.assert_array_equal(double, 2 * x)
        np.testing.assert_allclose(total["sum"], x.sum(1), rtol=1e-14)
    assert traced == [(3,)]


def test_batch_writes_given_outputs():
    f = native.batch(lambda x: x[::-1] + 1, threads=2)
    x = RNG.normal(size=(33, 4))
    expected, out = f(x), np.zeros((33, 4))
    assert f(x, out=out) is out
    np.testing.assert_array_equal(out, expected)
    f(x, out=x)
    np.testing.assert_array_equal(x, expected)
    with pytest.raises(ValueError, match=r"out\[0\] is float64\[32, 4\]"):
        f(x, out=np.zeros((32, 4)))


def test_types_and_static_leaves():
    def f(x, n, flag, scale):
        return jnp.where(flag, x * scale, x), n + 1, jnp.any(x > 0), "static"

    x, n, flag = RNG.normal(size=(9, 2)).astype(np.float32), np.arange(9, dtype=np.int8), RNG.normal(size=9) > 0
    *found, word = native.batch(f)(x, n, flag, 3)
    assert word == "static"
    expected = jax.vmap(lambda *rows: f(*rows, 3)[:3])(x, n, flag)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_gradients_of_a_batch(pendulum):
    def loss(model, q):
        return jnp.sum(swing(model, q, jnp.zeros(2)) ** 2)

    q = RNG.normal(size=(6, 2))
    found = native.batch(jax.value_and_grad(loss), (None, 0))(pendulum, q)
    expected = jax.jit(jax.vmap(jax.value_and_grad(loss), (None, 0)))(pendulum, q)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_keys_along_the_last_axis():
    keys = jax.random.split(jax.random.key(3), 5)
    np.testing.assert_array_equal(native.batch(jax.random.uniform, -1)(keys), jax.vmap(jax.random.uniform)(keys))


def test_fallback_of_a_batch():
    a = RNG.normal(size=(4, 2, 2))
    with pytest.warns(RuntimeWarning, match="'eigh'"):
        found = native.batch(lambda a: jnp.linalg.eigh(a + a.T)[0], fallback="xla")(a)
    np.testing.assert_allclose(found, np.linalg.eigvalsh(a + a.swapaxes(1, 2)), rtol=1e-12, atol=1e-14)
