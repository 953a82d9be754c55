"""Native functions inside of JAX: compiled, mapped and differentiated there, they are the functions that they were made of."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim import native
from hybridsim.native.ffi import handler_text, header_version

RNG = np.random.default_rng(3)


def assert_same(found, expected, rtol=1e-12):
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        if x.dtype != jax.dtypes.float0:  # the tangents of integers, which have no values
            np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)


def curve(p, n):
    """Pytrees, integers and several outputs."""
    y = jnp.sin(p["a"]) * p["b"][0] + p["b"].sum() ** 2
    return {"value": jnp.dot(y, y) * n, "count": n + 1}, (y**3, p["a"] > 0)


def total(f):
    """A number of all outputs that have derivatives."""
    return lambda p, n: sum(jnp.sum(x * x) for x in jax.tree.leaves(f(p, n)) if jnp.issubdtype(x.dtype, jnp.inexact))


def only_floats(f):
    return lambda p, n: (f(p, n)[0]["value"], f(p, n)[1][0])


TRANSFORMATIONS = {
    "jit": jax.jit,
    "vmap": lambda f: jax.vmap(f, ({"a": 0, "b": None}, None)),
    "vmap of integers": lambda f: lambda p, n: jax.vmap(f, (None, 0))(p, n + jnp.arange(5)),
    "vmap along another axis": lambda f: lambda p, n: jax.vmap(f, ({"a": 1, "b": None}, None))(p, n),
    "vmap of vmap": lambda f: (
        lambda p, n: jax.vmap(lambda n: jax.vmap(lambda a: f({**p, "a": a}, n))(p["a"]))(n + jnp.arange(2))
    ),
    "grad": lambda f: jax.grad(total(f)),
    "value_and_grad in jit": lambda f: jax.jit(jax.value_and_grad(total(f))),
    "jvp": lambda f: lambda p, n: jax.jvp(lambda p: f(p, n), (p,), (jax.tree.map(jnp.ones_like, p),)),
    "jacfwd": lambda f: jax.jacfwd(only_floats(f)),
    "jacrev": lambda f: jax.jacrev(only_floats(f)),
    "jacfwd of jacrev": lambda f: jax.jit(jax.hessian(total(f))),
    "jacrev of jacrev": lambda f: jax.jacrev(jax.jacrev(total(f))),
    "jacrev of jacfwd": lambda f: jax.jacrev(jax.jacfwd(total(f))),
    "grad of grad of grad": lambda f: (
        lambda p, n: jax.grad(jax.grad(jax.grad(lambda s: total(f)({"a": p["a"] * s, "b": p["b"]}, n))))(1.1)
    ),
    "vmap of grad": lambda f: jax.vmap(jax.grad(total(f)), ({"a": 0, "b": None}, None)),
    "grad of vmap": lambda f: jax.grad(
        lambda p, n: jnp.sum(jax.vmap(total(f), ({"a": 0, "b": None}, None))(p, n) ** 2)
    ),
    "hessian of vmap": lambda f: jax.hessian(
        lambda p, n: jnp.sum(jax.vmap(total(f), ({"a": 0, "b": None}, None))(p, n))
    ),
    "linearize": lambda f: lambda p, n: jax.linearize(lambda p: only_floats(f)(p, n), p)[1](p),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(total(f))),
    "grad of scan": lambda f: (
        lambda p, n: jax.grad(
            lambda p: jax.lax.scan(
                lambda c, i: (c * 0.5 + 0.01 * total(f)({**p, "b": p["b"] * c}, i), c), 1.0, n + jnp.arange(3)
            )[0]
        )(p)
    ),
    "grad inside scan": lambda f: (
        lambda p, n: jax.lax.scan(
            lambda q, i: (jax.tree.map(lambda x, g: x - 1e-5 * g, q, jax.grad(total(f))(q, i)), i), p, n + jnp.arange(3)
        )
    ),
    "cond and while": lambda f: (
        lambda p, n: jax.lax.while_loop(
            lambda c: c[1] < 4,
            lambda c: (jax.lax.cond(c[1] > 2, lambda x: x, lambda x: x + total(f)(p, c[1]), c[0]), c[1] + 1),
            (0.0, n),
        )
    ),
    "native again": native.jit,
    "native gradient of native": lambda f: native.jit(jax.grad(total(f))),
    "native of vmap of native": lambda f: native.jit(jax.vmap(f, ({"a": 0, "b": None}, None))),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformed_it_is_the_function_itself(name):
    assert_transformed_same(name, np.float64, 1e-11)


@pytest.mark.parametrize("name", ["jit", "vmap", "grad", "jacfwd of jacrev", "native gradient of native"])
def test_in_single_precision_too(name):
    assert_transformed_same(name, np.float32, 3e-6)


def assert_transformed_same(name, dtype, rtol):
    # Its own numbers, and small ones: some transformations are steep, and would overflow.
    rng = np.random.default_rng(3)
    p = {"a": rng.normal(size=(3, 3)).astype(dtype), "b": rng.normal(scale=0.5, size=2).astype(dtype)}
    n = np.array(2, np.int32)
    transform = TRANSFORMATIONS[name]
    expected = transform(curve if not name.startswith("native") else jax.jit(curve))(p, n)
    assert_same(transform(native.jit(curve))(p, n), jax.tree.map(np.asarray, expected), rtol)


def test_what_a_function_has_from_outside_may_be_traced_too():
    def outer(f_of):
        def loss(w, x):
            return f_of(lambda x: jnp.sum(jnp.tanh(w * x)) * w[0])(x)

        return jax.jit(jax.value_and_grad(loss))(jnp.arange(3.0), jnp.ones(3))

    assert_same(outer(native.jit), outer(lambda f: f))
    nothing_given = jax.grad(lambda w: native.jit(lambda: jnp.sum(w**2))())(jnp.arange(3.0))
    np.testing.assert_array_equal(nothing_given, [0.0, 2.0, 4.0])


def test_static_leaves_and_modules():
    mlp = eqx.nn.MLP(3, 2, 4, 1, activation=jax.nn.tanh, key=jax.random.PRNGKey(0))

    def loss(mlp, x, power):
        return jnp.sum(mlp(x) ** power)

    x = RNG.normal(size=(7, 3))
    fast = native.jit(loss)

    def summed(f, power):
        return eqx.filter_jit(eqx.filter_value_and_grad(lambda m: jax.vmap(lambda x: f(m, x, power))(x).sum()))(mlp)

    for power in (2, 3):
        found, expected = summed(fast, power), summed(loss, power)
        assert_same(eqx.filter(found, eqx.is_array), eqx.filter(expected, eqx.is_array))


def test_a_rollout_and_its_gradient_inside_jax():
    model = hs.chain(2)

    def end(model, q):
        return hs.rollout(model, (q, jnp.zeros(2)), dt=1e-3, steps=20).q[-1]

    def loss(f):
        return eqx.filter_jit(eqx.filter_grad(lambda m, q: jnp.sum(f(m, q) ** 2)))

    q = RNG.normal(size=2)
    assert_same(loss(native.jit(end))(model, q), loss(end)(model, q), rtol=1e-10)


def test_custom_rules_are_obeyed():
    @jax.custom_vjp
    def odd(x):
        return x**2

    odd.defvjp(lambda x: (odd(x), x), lambda x, ct: (7 * x * ct,))

    @jax.custom_jvp
    def even(x):
        return x**3

    even.defjvp(lambda p, t: (even(*p), 5 * p[0] * t[0]))
    f = native.jit(lambda x: odd(x) + even(x))
    assert float(jax.grad(f)(2.0 * jnp.ones(()))) == 24.0
    assert float(jax.jit(jax.grad(f))(2.0 * jnp.ones(()))) == 24.0


def test_batch_inside_jax():
    f = native.batch(lambda p, x: jnp.sin(x) @ p, (None, 1))
    p, x = RNG.normal(size=3), RNG.normal(size=(3, 9))

    def loss(p, f):
        return jnp.sum(f(p, x) ** 3)

    plain = jax.vmap(lambda p, x: jnp.sin(x) @ p, (None, 1))
    assert_same(jax.jit(jax.hessian(loss), static_argnums=1)(p, f), jax.hessian(loss)(p, plain))


def test_lanes_give_the_same_bits_inside_jax():
    f = native.jit(lambda x: jnp.exp(jnp.sin(x)).sum())
    x = RNG.normal(size=(7, 3))
    np.testing.assert_array_equal(jax.vmap(f)(x), [f(row) for row in x])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_empty_arrays(shape):
    f = native.jit(lambda x: (x * 2, x.sum(-1)))
    x = jnp.zeros(shape)
    assert_same(jax.jit(f)(x), (x * 2, x.sum(-1)))
    assert_same(jax.vmap(f)(x), (x * 2, x.sum(-1)))


def test_python_numbers_of_jit_keep_their_weak_type():
    f = native.jit(lambda x, y: x * y)
    y = jnp.ones(2, jnp.float32)
    assert jax.jit(f)(2.0, y).dtype == np.float32
    assert f(jnp.asarray(2.0), y).dtype == np.float32
    assert f(np.asarray(2.0), y).dtype == np.float64


def test_a_missing_rule_is_an_error_or_a_warning_inside_jax():
    def f(a):
        return jnp.linalg.eigh(a)[0].sum()

    a = np.diag([1.0, 2.0])
    with pytest.raises(native.UnsupportedPrimitiveError, match=r"'eigh'.*test_ffi\.py"):
        jax.jit(native.jit(f))(a)
    with pytest.warns(RuntimeWarning, match=r"'eigh'.*test_ffi\.py:\d+ \(.*f\); XLA"):
        found = jax.jit(jax.grad(native.jit(f, fallback="xla")))(a)
    np.testing.assert_allclose(found, jax.grad(f)(a))


def test_outputs_cannot_be_given_inside_jax():
    f = native.jit(lambda x: x + 1)
    with pytest.raises(ValueError, match="out cannot be given inside"):
        jax.jit(lambda x: f(x, out=np.zeros(2)))(jnp.zeros(2))


def test_other_platforms_are_refused():
    exported = jax.export.export(jax.jit(lambda x: x), platforms=["cuda"])  # the means by which one lowers for others
    assert exported
    with pytest.raises(NotImplementedError, match="runs on the CPU only"):
        jax.export.export(jax.jit(native.jit(lambda x: x + 1)), platforms=["cuda"])(jnp.zeros(2))


def test_many_threads_of_xla_at_once():
    f = jax.jit(native.jit(lambda x: jax.lax.fori_loop(0, 1000, lambda i, c: jnp.cos(c) + c[::-1], x)))
    x = RNG.normal(size=(16, 40))
    expected = [np.asarray(f(row)) for row in x]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        for found, wanted in zip(pool.map(lambda row: np.asarray(f(row)), list(x) * 4), expected * 4, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_the_handler_is_made_for_the_installed_interface():
    major, minor = header_version()
    assert major == 0
    assert f"store i32 {minor}, " in handler_text(1, 1, False, (major, minor))
