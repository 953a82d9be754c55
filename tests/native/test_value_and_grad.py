"""A value and its gradient in one native function, with a key on disk of its own."""

import os
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim import native
from hybridsim.native.fingerprint import UnknownPartError, fingerprint, source_state


@pytest.fixture
def from_a_file(monkeypatch):
    """As if Python had been started with this file; a process of pytest-xdist was not started with any."""
    monkeypatch.setattr(sys.modules["__main__"], "__file__", __file__, raising=False)


X, Y = np.array([0.3, -0.7, 1.1]), np.array([[1.0, 2.0, -0.5], [0.2, 0.1, 0.7]])


def loss(x, y):
    return jnp.sum(jnp.sin(y @ x) ** 2) + jnp.tanh(x[0])


@pytest.mark.parametrize("argnums", [0, 1, -1, (0,), (1, 0), (0, 1)])
def test_equals_jax(argnums):
    value, gradient = native.value_and_grad(loss, argnums)(X, Y)
    expected = jax.value_and_grad(loss, argnums)(X, Y)
    assert jax.tree.structure((value, gradient)) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves((value, gradient)), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_more_results_and_keywords():
    def f(x, *, scale, name):
        return scale * jnp.sum(x**3), {"twice": 2 * x, "name": name}

    (value, more), gradient = native.value_and_grad(f, has_aux=True)(X, scale=np.array(2.0), name="n")
    np.testing.assert_allclose(value, 2 * np.sum(X**3), rtol=1e-14)
    np.testing.assert_allclose(gradient, 6 * X**2, rtol=1e-14)
    np.testing.assert_array_equal(more["twice"], 2 * X)
    assert more["name"] == "n"


def test_gradient_of_a_rollout_by_all_numbers_of_a_model():
    model = hs.chain(2, damping=0.1)

    def miss(model, q):
        return jnp.sum(hs.rollout(model, (q, jnp.zeros(2)), dt=1e-2, steps=20).q ** 2)

    q = np.array([0.3, -0.2])
    value, gradient = native.value_and_grad(miss)(model, q)
    expected_value, expected = eqx.filter_value_and_grad(miss)(jax.tree.map(jnp.asarray, model), q)
    np.testing.assert_allclose(value, expected_value, rtol=1e-12)
    np.testing.assert_allclose(gradient.links.mass, expected.links.mass, rtol=1e-11)
    np.testing.assert_allclose(gradient.joints.damping, expected.joints.damping, rtol=1e-11)


def test_leaves_that_are_no_floats_have_no_gradient():
    _, gradient = native.value_and_grad(lambda p: p["x"] * p["n"])(
        {"x": np.array(2.0), "n": np.array(3), "name": "static"}
    )
    assert gradient["n"] is None
    assert gradient["name"] is None
    assert gradient["x"] == 3.0


def test_inside_of_jax():
    f = native.value_and_grad(loss)
    value, gradient = jax.jit(lambda x: f(2 * x, Y))(X)
    expected = jax.value_and_grad(loss)(2 * X, Y)
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-13)
    second = jax.jacfwd(lambda x: f(x, Y)[1])(X)
    np.testing.assert_allclose(second, jax.hessian(loss)(X, Y), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    ("f", "argnums", "message"),
    [
        (lambda x: x, 0, r"of one real number, but the function returns float64\[3\]"),
        (lambda x: jnp.sum(x) > 0, 0, "returns bool"),
        (lambda x: (x[0], x[1]), 0, "of one real number"),
        (lambda x: jnp.sum(x), 1, "argnums has 1, but there are 1"),
        (lambda x: jnp.sum(x), (0, 0), "twice"),
    ],
)
def test_what_has_no_gradient(f, argnums, message):
    with pytest.raises((TypeError, ValueError), match=message):
        native.value_and_grad(f, argnums)(X)


def twice_with_slope(slope: float):
    """2 x, whose derivative is said to be something else."""

    @jax.custom_jvp
    def f(x):
        return 2 * x

    f.defjvp(lambda primals, tangents: (f(*primals), slope * tangents[0]))
    return lambda x: jnp.sum(f(x))


@pytest.mark.usefixtures("from_a_file")
def test_custom_rules_are_obeyed_and_part_of_the_key(tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRIDSIM_CACHE", str(tmp_path))
    for slope in (2.0, 5.0):
        value, gradient = native.value_and_grad(twice_with_slope(slope))(X)
        np.testing.assert_allclose(value, 2 * X.sum(), rtol=1e-15)
        np.testing.assert_array_equal(gradient, np.full(3, slope))
    jaxprs = [jax.make_jaxpr(twice_with_slope(slope))(X) for slope in (2.0, 5.0)]
    assert fingerprint(jaxprs[0]) == fingerprint(jaxprs[1])
    assert fingerprint(jaxprs[0], rules=True) != fingerprint(jaxprs[1], rules=True)


@pytest.mark.usefixtures("from_a_file")
def test_a_rule_for_reverse_mode_has_no_short_key():
    @jax.custom_vjp
    def f(x):
        return x * x

    f.defvjp(lambda x: (x * x, x), lambda x, c: (7 * c,))
    with pytest.raises(UnknownPartError):
        fingerprint(jax.make_jaxpr(f)(X), rules=True)
    np.testing.assert_array_equal(native.value_and_grad(lambda x: jnp.sum(f(x)))(X)[1], np.full(3, 7.0))


@pytest.mark.usefixtures("from_a_file")
def test_second_start_does_not_differentiate(tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRIDSIM_CACHE", str(tmp_path))
    first, second = native.value_and_grad(loss), native.value_and_grad(loss)
    expected = first(X, Y)
    monkeypatch.setattr(jax, "value_and_grad", None)
    value, gradient = second(X, Y)
    assert value == expected[0]
    np.testing.assert_array_equal(gradient, expected[1])


@pytest.mark.usefixtures("from_a_file")
def test_a_changed_source_file_is_another_key(tmp_path, monkeypatch):
    path = tmp_path / "a_module_of_the_user.py"
    path.write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("a_module_of_the_user")
    before = source_state()
    assert source_state() == before
    os.utime(path, (1, 1))
    assert source_state() != before
    sys.modules.pop("a_module_of_the_user")


def test_code_that_was_typed_in_has_no_short_key(monkeypatch):
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    with pytest.raises(UnknownPartError, match="typed in"):
        source_state()
    np.testing.assert_allclose(native.value_and_grad(loss)(X, Y)[1], jax.grad(loss)(X, Y), rtol=1e-13)
