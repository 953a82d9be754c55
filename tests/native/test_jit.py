"""`native.jit` as a function: trees, static arguments, threads, the cache, errors."""

import os
import subprocess
import sys
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


PROGRAM = """
import jax, numpy as np
jax.config.update("jax_enable_x64", True)
from hybridsim import native
f = native.jit(lambda x: x.sum() + 1)
f(np.ones(3))
executable, = f._known.values()
print(executable.compiled.from_disk, float(f(np.ones(3))))
"""


def run_program(folder) -> str:
    environment = {**os.environ, "HYBRIDSIM_CACHE": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_next_process_compiles_nothing_and_a_torn_file_is_no_harm(tmp_path):
    assert run_program(tmp_path) == "False 4.0"
    assert run_program(tmp_path) == "True 4.0"
    (stored,) = tmp_path.iterdir()
    stored.write_bytes(stored.read_bytes()[:-7])
    assert run_program(tmp_path) == "False 4.0"
    assert run_program(tmp_path) == "True 4.0"
