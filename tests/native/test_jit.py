"""`native.jit` as a function: trees, static arguments, threads, the cache, errors."""

import inspect
import re
from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import hybridsim as hs
from hybridsim import native

RNG = np.random.default_rng(2)


def test_trees_keywords_and_static_arguments():
    @native.jit
    def f(a, scale, *, shift):
        return {"sum": a["x"] * scale + shift, "name": [a["x"].sum()]}

    a = {"x": np.arange(3.0)}
    found = f(a, 2.0, shift=np.array(1.0))
    np.testing.assert_array_equal(found["sum"], [1.0, 3.0, 5.0])
    np.testing.assert_array_equal(f(a, 3.0, shift=np.array(1.0))["sum"], [1.0, 4.0, 7.0])
    assert isinstance(found["name"][0], np.ndarray)


def test_new_contents_of_the_same_array_are_seen():
    f, x = native.jit(lambda x: x + 1), np.zeros(2)
    f(x)
    x[:] = 5
    np.testing.assert_array_equal(f(x), [6.0, 6.0])
    y = np.zeros(2, dtype=np.int32).astype(np.float32)
    g = native.jit(lambda x: x * 2)
    g(y)
    y[:] = 3
    np.testing.assert_array_equal(g(y), [6.0, 6.0])


def test_given_outputs_are_written():
    f = native.jit(lambda x: (x + 1, x.sum()))
    x, out = np.arange(3.0), (np.zeros(3), np.zeros(()))
    result = f(x, out=out)
    assert result[0] is out[0]
    np.testing.assert_array_equal(out[0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"out\[0\] is float32\[3\]"):
        f(x, out=(np.zeros(3, dtype=np.float32), np.zeros(())))


def test_modules_and_optimisers():
    mlp = eqx.nn.MLP(3, 1, 8, 2, activation=jax.nn.elu, key=jax.random.PRNGKey(0))
    x, y = RNG.normal(size=(6, 3)), RNG.normal(size=6)
    parameters, static = eqx.partition(mlp, eqx.is_array)
    optimiser = optax.adam(1e-2)

    def train(parameters, x, y):
        def loss(p):
            return jnp.mean((jax.vmap(eqx.combine(p, static))(x)[:, 0] - y) ** 2)

        def update(carry, _):
            p, memory = carry
            value, gradient = jax.value_and_grad(loss)(p)
            change, memory = optimiser.update(gradient, memory)
            return (optax.apply_updates(p, change), memory), value

        return jax.lax.scan(update, (parameters, optimiser.init(parameters)), None, length=20)[1]

    found = native.jit(train)(parameters, x, y)
    np.testing.assert_allclose(found, jax.jit(train)(parameters, x, y), rtol=1e-11)
    assert found[-1] < found[0]


def test_wide_layers_stay_in_memory():
    mlp = eqx.nn.MLP(8, 4, 192, 2, key=jax.random.PRNGKey(0))
    x = RNG.normal(size=8)
    f = native.jit(lambda m, x: m(x))
    np.testing.assert_allclose(f(mlp, x), mlp(x), rtol=1e-12, atol=1e-14)
    weights = sum(x.size for x in jax.tree.leaves(eqx.filter(mlp, eqx.is_array)))
    assert sum(f.lower(mlp, x).counts.values()) < weights / 8


def test_several_threads_at_once():
    model = hs.chain(3)
    f = native.jit(lambda q: hs.rollout(model, (q, jnp.zeros(3)), dt=1e-3, steps=100).q[-1])
    starts = RNG.normal(size=(40, 3))
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(f, starts))
    for q, found in zip(starts, together, strict=True):
        np.testing.assert_array_equal(found, f(q))


def test_a_missing_rule_names_primitive_and_line():
    with pytest.raises(native.UnsupportedPrimitiveError, match=r"'eigh'.*test_jit\.py"):
        native.jit(lambda a: jnp.linalg.eigh(a)[0])(np.eye(3))


def test_static_values_that_python_holds_equal_are_different_programs():
    f = native.jit(lambda x, s: x * s if s is not True else x + 10)
    x = np.array([2])
    assert [f(x, s).dtype for s in (1, 1.0)] == [np.int64, np.float64]
    assert f(x, True) == 12
    inverse = native.jit(lambda x, s: x / jnp.asarray(s))
    assert (inverse(np.ones(()), 0.0), inverse(np.ones(()), -0.0)) == (np.inf, -np.inf)


def test_a_dictionary_is_not_keywords():
    f = native.jit(lambda *args, **kwargs: (len(args), len(kwargs), jax.tree.leaves((args, kwargs))[0] + 1))
    x = {"x": np.ones(())}
    assert f(x)[:2] == (1, 0)
    assert f(**x)[:2] == (0, 1)


def test_static_results_are_returned_as_they_are():
    mlp = eqx.nn.MLP(2, 1, 3, 1, activation=jax.nn.elu, key=jax.random.PRNGKey(0))
    moved, name, none, number = native.jit(
        lambda m: (jax.tree.map(lambda x: x * 2 if eqx.is_array(x) else x, m), "n", None, 3)
    )(mlp)
    assert (name, none, number) == ("n", None, 3)
    assert moved.activation is mlp.activation
    np.testing.assert_array_equal(moved.layers[0].weight, 2 * mlp.layers[0].weight)


def test_methods():
    class Scale(eqx.Module):
        factor: jax.Array

        @native.jit
        def __call__(self, x, *, shift=0):
            return self.factor * x + shift

        @native.jit
        def twice(self, x):
            return self(self(x))

    scale = Scale(jnp.array(3.0))
    assert scale(np.array(2.0), shift=np.array(1.0)) == 7.0
    assert scale.twice(np.array(2.0)) == 18.0
    assert scale.twice.lower(np.array(2.0)).counts["mul"] == 2
    assert jax.grad(lambda s: s.twice(2.0))(scale).factor == 12.0


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.array([None, 1]), r"argument 0\['x'\] is an array of object.*use float64"),
        (np.array(["a"]), r"argument 0\['x'\] is an array of <U1"),
        (np.zeros(2, complex), "complex128 are not supported"),
        ({1, 2}, r"argument 0\['x'\] is of type set: it is no array, so it is static, but it cannot be hashed"),
    ],
)
def test_arguments_that_cannot_be_compiled_are_named(x, message):
    with pytest.raises(TypeError, match=message):
        native.jit(lambda t: t["y"] + 1)({"x": x, "y": np.zeros(2)})
    with pytest.raises(TypeError, match=message.replace("argument 0", "argument 't'")):
        native.jit(lambda t: t["y"] + 1)(t={"x": x, "y": np.zeros(2)})


UNUSUAL = {
    "transposed": np.arange(12.0).reshape(3, 4).T,
    "every other": np.arange(8.0)[::2],
    "backwards": np.arange(4.0)[::-1],
    "bytes swapped": np.arange(3.0).astype(">f8"),
    "not aligned": np.frombuffer(b"x" + np.arange(3.0).tobytes(), np.uint8)[1:].view(np.float64),
    "read-only": np.broadcast_to(np.float64(2.0), (2, 3)),
    "empty": np.zeros((2, 0, 3)),
    "number": np.float64(2.5),
    "no axes": np.array(2.5),
    "not numbers": np.array([np.nan, np.inf, -np.inf, -0.0]),
    "integers": np.arange(3, dtype=np.int16),
    "booleans": np.array([True, False]),
    "of JAX": jnp.arange(3.0),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_arrays(name):
    x = UNUSUAL[name]
    f, usual = native.jit(lambda x: (x + x, x.sum(), x)), x if name != "bytes swapped" else x.astype(np.float64)
    expected = jax.jit(lambda x: (x + x, x.sum(), x))(usual)
    for _ in range(2):
        for found, wanted in zip(f(x), expected, strict=True):
            assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
            np.testing.assert_array_equal(found, wanted)


def test_a_copy_that_was_converted_is_not_taken_for_the_array():
    f, x = native.jit(lambda x: x + 1), np.zeros(3, ">f8")
    f(x)
    x[:] = 4
    np.testing.assert_array_equal(f(x), [5.0, 5.0, 5.0])


def test_arrays_that_are_read_in_place_are_looked_at_once():
    """What makes a call quick: neither converted nor asked for their addresses again."""
    f, x, model = native.jit(lambda m, x: m.gravity + x), np.zeros(3), hs.chain(2)
    f(model, x)
    (entry,) = f._known.values()
    assert all(a is b for a, b in zip(entry.run._local.seen, [*jax.tree.leaves(model), x], strict=True))


def test_modules_that_change_inside_are_seen():
    class Box(eqx.Module):
        parts: list
        more: tuple

    box = Box([np.zeros(2)], tuple(np.full((), float(k)) for k in range(10)))
    f = native.jit(lambda b: b.parts[0] + b.more[1])
    np.testing.assert_array_equal(f(box), [1.0, 1.0])
    box.parts[0] = np.ones(2)
    np.testing.assert_array_equal(f(box), [2.0, 2.0])


def test_equal_modules_share_code_and_dead_ones_are_forgotten():
    from hybridsim.native.arguments import _modules

    traced = []

    @native.jit
    def f(m):
        traced.append(m)
        return m.gravity * 2

    for g in (1.0, 2.0):
        model = eqx.tree_at(lambda m: m.gravity, hs.chain(2), np.full(3, g))
        for _ in range(3):
            np.testing.assert_array_equal(f(model), [2 * g] * 3)
        assert id(model) in _modules
        number = id(model)
        del model
        assert number not in _modules
    assert len(traced) == 1


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ((np.zeros(3), np.zeros(())[None]), r"out\[1\] is float64\[1\]; a writeable.*float64\[\] is needed"),
        ((np.zeros(6)[::2], np.zeros(())), r"out\[0\] is float64\[3\]; a writeable, aligned, C-contiguous"),
        ((np.zeros(3), 1.0), r"out\[1\] is float;"),
        ((np.zeros(3), np.broadcast_to(1.0, ())), r"out\[1\] is float64\[\]; a writeable"),
        ([np.zeros(3), np.zeros(())], "out has the structure"),
        ((np.zeros(3),), "out has the structure"),
    ],
)
def test_wrong_outputs_are_refused(out, message):
    with pytest.raises(ValueError, match=message):
        native.jit(lambda x: (x + 1, x.sum()))(np.arange(3.0), out=out)


def test_outputs_may_be_arguments_but_not_each_other():
    f = native.jit(lambda x: (x[::-1] + 1, x.sum()))
    x, memory = np.arange(3.0), np.zeros(4)
    for expected in ([3.0, 2.0, 1.0], [2.0, 3.0, 4.0]):
        total = x.sum()
        result = f(x, out=(x, np.zeros(())))
        np.testing.assert_array_equal(x, expected)
        assert result[1] == total
    with pytest.raises(ValueError, match=r"out\[0\] and out\[1\] share memory"):
        f(x, out=(memory[:3], memory[2:3].reshape(())))


def test_single_precision_where_double_is_off():
    with jax.enable_x64(False):
        f = native.jit(lambda x: x * 3)
        assert f(np.ones(2)).dtype == np.float32
        assert f(np.ones(2, np.int64)).dtype == np.int32
    assert f(np.ones(2)).dtype == np.float64


def test_random_keys():
    f = native.jit(lambda key: (jax.random.split(key), jax.random.uniform(key, (3,))))
    key = jax.random.key(7)
    (split, number), expected = f(key), jax.random.split(key)
    assert split.dtype == expected.dtype
    np.testing.assert_array_equal(jax.random.key_data(split), jax.random.key_data(expected))
    np.testing.assert_array_equal(number, jax.random.uniform(key, (3,)))


def test_fallback_warns_once_and_gives_what_xla_gives():
    def f(a, s):
        return {"w": jnp.linalg.eigh(a)[0] * s, "name": "eigenvalues"}

    fast, a = native.jit(f, fallback="xla"), np.array([[2.0, 1.0], [1.0, 3.0]])
    with pytest.warns(RuntimeWarning, match=r"'eigh'.*test_jit\.py:\d+ .*XLA compiles this function instead") as seen:
        found = fast(a, 2)
    assert len(seen) == 1
    np.testing.assert_allclose(found["w"], 2 * np.linalg.eigvalsh(a))
    assert isinstance(found["w"], np.ndarray)
    out = {"w": np.zeros(2), "name": ""}
    fast(a, 2, out=out)
    np.testing.assert_array_equal(out["w"], found["w"])
    with pytest.raises((ValueError, TypeError), match="fallback"):
        native.jit(f, fallback="gpu")


def test_lowered_programs_can_be_looked_at():
    lowered = native.jit(lambda x: jnp.sin(x).sum()).lower(np.ones(4))
    assert lowered.counts["load"] == 4
    assert lowered.llvm.count("define") == 1
    assert "void wave(" in lowered.c_source("wave")
    assert set(lowered.seconds) == {"trace", "lower", "compile"}
    assert all(s > 0 for s in lowered.seconds.values())


def test_the_documentation_lists_what_is_exported(repository):
    text = (repository / "docs/api.md").read_text().split("## Native code")[1]
    entries = dict(re.findall(r"^\| `(\w+)(?:\((.*)\))?` \|", text, flags=re.MULTILINE))
    assert sorted(entries) == sorted(native.__all__) == native.__all__
    for name, arguments in entries.items():
        assert getattr(native, name).__doc__
        if arguments:
            shown = [part.split("=")[0].strip() for part in arguments.split(",") if part.strip() != "*"]
            assert shown == list(inspect.signature(getattr(native, name)).parameters)


@pytest.mark.parametrize("transform", [native.jit, native.batch, native.value_and_grad])
def test_jax_traces_a_function_once(transform, monkeypatch):
    """Neither to name the code on disk, nor to make it, is the jaxpr traced anew; a gradient is a second function."""
    calls, make_jaxpr = [], jax.make_jaxpr
    monkeypatch.setattr(jax, "make_jaxpr", lambda f: calls.append(f) or make_jaxpr(f))
    f = transform(lambda x: jnp.sum(jnp.sin(x) * jnp.array([1.0, 2.0, 3.0])))
    f(np.ones((2, 3)))
    assert len(calls) == (2 if transform is native.value_and_grad else 1)
