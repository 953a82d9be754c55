"""Networks, optimisers, matrices and random numbers, natively against XLA."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from hybridsim import native

RNG = np.random.default_rng(7)
KEY = jax.random.PRNGKey(0)
X = RNG.normal(size=(5, 3))


def assert_agree(f, *args, tolerance: float = 1e-12) -> None:
    found, expected = (
        [x for x in jax.tree.leaves(g(*args)) if eqx.is_array(x)] for g in (native.jit(f), eqx.filter_jit(f))
    )
    assert len(found) == len(expected)
    for x, y in zip(expected, found, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        scale = np.max(np.abs(x), initial=0.0, where=np.isfinite(x))
        np.testing.assert_allclose(y, x, rtol=0, atol=tolerance * scale)


def unrolled(cell, x):
    """A recurrent cell over a sequence, its states squared and summed."""
    size = cell.hidden_size
    start = (jnp.zeros(size), jnp.ones(size)) if isinstance(cell, eqx.nn.LSTMCell) else jnp.zeros(size)

    def turn(state, row):
        state = cell(row, state)
        return state, sum(jnp.sum(s**2) for s in jax.tree.leaves(state))

    return jax.lax.scan(turn, start, x)[1].sum()


NETWORKS = {
    "MLP": (eqx.nn.MLP(3, 2, 7, 2, activation=jax.nn.gelu, key=KEY), lambda m, x: jnp.sum(jax.vmap(m)(x) ** 2)),
    "wide MLP": (eqx.nn.MLP(3, 2, 70, 2, activation=jnp.tanh, key=KEY), lambda m, x: jnp.sum(jax.vmap(m)(x) ** 2)),
    "GRU": (eqx.nn.GRUCell(3, 6, key=KEY), unrolled),
    "LSTM": (eqx.nn.LSTMCell(3, 5, key=KEY), unrolled),
    "convolution": (eqx.nn.Conv1d(5, 2, 2, key=KEY), lambda m, x: jnp.sum(m(x) ** 2)),
    "normalisation": (eqx.nn.LayerNorm(3), lambda m, x: jnp.sum(jax.vmap(m)(x)[0] ** 3)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_and_their_gradients(name):
    network, loss = NETWORKS[name]
    assert_agree(lambda m, x: eqx.filter_value_and_grad(loss)(m, x), network, X)


OPTIMISERS = {
    "sgd": optax.sgd(1e-2, momentum=0.9, nesterov=True),
    "adam": optax.adam(1e-2),
    "adamw": optax.adamw(optax.cosine_decay_schedule(1e-2, 20), weight_decay=1e-3),
    "clipped": optax.chain(optax.clip_by_global_norm(0.1), optax.rmsprop(1e-3)),
}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_training_loops(name):
    network = eqx.nn.MLP(3, 1, 6, 1, activation=jnp.tanh, key=KEY)
    parameters, static = eqx.partition(network, eqx.is_array)
    optimiser = OPTIMISERS[name]

    def train(parameters, x, y):
        def loss(p):
            return jnp.mean((jax.vmap(eqx.combine(p, static))(x)[:, 0] - y) ** 2)

        def update(carry, _):
            p, memory = carry
            value, gradient = jax.value_and_grad(loss)(p)
            change, memory = optimiser.update(gradient, memory, p)
            return (optax.apply_updates(p, change), memory), value

        return jax.lax.scan(update, (parameters, optimiser.init(parameters)), None, length=15)

    assert_agree(train, parameters, X, RNG.normal(size=5), tolerance=1e-11)


def matrix(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, n)) + n**0.5 * np.eye(n)


MATRICES = {
    "cholesky": lambda a: jnp.linalg.cholesky(a @ a.T),
    "no cholesky": lambda a: jnp.linalg.cholesky(-a @ a.T),
    "solve": lambda a: jnp.linalg.solve(a, a[:, :2] ** 2),
    "inverse": jnp.linalg.inv,
    "determinant": lambda a: (jnp.linalg.det(a / a.shape[0] ** 0.5), jnp.linalg.slogdet(a)),
    "lu": jax.scipy.linalg.lu,
    "qr": jnp.linalg.qr,
    "qr of a tall matrix": lambda a: jnp.linalg.qr(a[:, :3], mode="complete"),
    "qr of a wide matrix": lambda a: jnp.linalg.qr(a[:3]),
    "triangular": lambda a: jax.scipy.linalg.solve_triangular(a, a.T, lower=True, trans=1),
    "from the right": lambda a: jax.lax.linalg.triangular_solve(a, a[:2], lower=True, unit_diagonal=False),
    "several": lambda a: jnp.linalg.solve(jnp.stack([a, a.T]), jnp.stack([a, a + 1])),
    "gradient": jax.grad(lambda a: jnp.sum(jnp.linalg.inv(a) ** 2) + jnp.linalg.slogdet(a)[1]),
    "gradient of cholesky": jax.grad(lambda a: jnp.sum(jnp.sin(jnp.linalg.cholesky(a @ a.T)))),
}


@pytest.mark.parametrize("n", [3, 30], ids=["written out", "in memory"])
@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name, n):
    assert_agree(MATRICES[name], matrix(n))


@pytest.mark.parametrize("f", [jnp.linalg.eigh, jnp.linalg.svd])
def test_what_is_not_there_is_named(f):
    with pytest.raises(native.UnsupportedPrimitiveError, match=r"no rule for JAX's primitive '(eigh|svd)'"):
        native.jit(f)(matrix(3))


def keys_in_control(words):
    """Typed keys and arrays of them: split, sliced, stacked, scanned over, carried, chosen."""
    key = jax.random.wrap_key_data(words)
    keys = jax.random.split(key, 4)
    carried, drawn = jax.lax.scan(
        lambda k, other: (jax.random.fold_in(k, 3), jax.random.uniform(other, (2,))), keys[1], keys[1:]
    )
    stacked = jnp.stack([keys[2], key]).reshape(1, 2)[:, ::-1]
    chosen = jax.lax.cond(words[0] > 2, lambda: keys[0], lambda: jax.random.key(11))
    numbers = jax.vmap(lambda k: jax.random.normal(k, (3,)))(stacked[0])
    fixed = jax.random.key(5)
    return [jax.random.key_data(k) for k in (carried, stacked, chosen, keys[words[1] % 4], fixed)], drawn, numbers


RANDOM = {
    "old keys": lambda words: [jax.random.uniform(k, (2,)) for k in jax.random.split(words, 3)],
    "typed keys": keys_in_control,
    "normal": lambda words: jax.random.normal(words, (7,)),
    "many": lambda words: jax.random.uniform(words, (300,), dtype=jnp.float32),
    "integers": lambda words: jax.random.randint(words, (5,), -3, 12),
    "permutation": lambda words: jax.random.permutation(words, 40),
    "categorical": lambda words: jax.random.categorical(words, jnp.log(jnp.arange(1.0, 5.0)), shape=(6,)),
    "truncated": lambda words: jax.random.truncated_normal(words, -1.0, 2.0, (4,)),
    "bits": lambda words: [jax.random.bits(words, (3,), t) for t in (jnp.uint8, jnp.uint32, jnp.uint64)],
    "seeds": lambda words: jax.random.uniform(jax.random.PRNGKey(words[0]), ()),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers(name):
    assert_agree(RANDOM[name], np.array([3, 77], dtype=np.uint32))


def test_keys_as_constants():
    key, keys = jax.random.key(3), jax.random.split(jax.random.key(4), 3)
    assert_agree(lambda x: x * jax.random.normal(key, (2,)) + jax.random.uniform(keys[1], (2,)), X[0, :2])
