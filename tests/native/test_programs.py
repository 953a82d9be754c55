"""Native code gives what XLA gives: one program for every family of primitives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hybridsim import native

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4))
SPD = A @ A.T + np.eye(4)
B = RNG.normal(size=4)
W = RNG.normal(size=(5, 3))
LONG = RNG.normal(size=3000)
INTS = RNG.integers(-50, 50, size=9)
TIES = np.array([3.0, 1.0, np.nan, 1.0, -0.0, 0.0, 3.0])

PROGRAMS = {
    "cholesky": (jnp.linalg.cholesky, SPD),
    "cholesky of an indefinite matrix": (jnp.linalg.cholesky, -SPD),
    "solve": (jnp.linalg.solve, A, B),
    "inverse": (jnp.linalg.inv, A),
    "qr": (jnp.linalg.qr, W),
    "lu": (jax.scipy.linalg.lu, A),
    "determinant": (jnp.linalg.slogdet, A),
    "gradient of solve": (jax.grad(lambda a, b: jnp.linalg.solve(a, b).sum()), A, B),
    "gradient of cholesky": (jax.grad(lambda a: jnp.linalg.cholesky(a).sum()), SPD),
    "hessian": (jax.hessian(lambda x: jnp.sum(jnp.sin(x) ** 3)), B),
    "jacobian": (jax.jacfwd(lambda x: jnp.tanh(W @ x[:3])), B),
    "cho_solve": (lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), b), SPD, B),
    "sort": (jnp.sort, TIES),
    "argsort": (jnp.argsort, TIES),
    "argsort rows": (jnp.argsort, W),
    "cumsum": (lambda x: jnp.cumsum(x, 0), W),
    "cumprod": (jnp.cumprod, B),
    "cummax": (jax.lax.cummax, W),
    "logcumsumexp": (jax.lax.cumlogsumexp, B),
    "argmax": (lambda x: jnp.argmax(x, 1), W),
    "argmin with NaN": (jnp.argmin, TIES),
    "integers": (lambda i: (i // 3, i % 3, i >> 1, i << 2, abs(i), jnp.sign(i), i ^ 3, ~i, jnp.clip(i, -3, 3)), INTS),
    "integer division by zero": (lambda i: (jax.lax.div(i, i - i), jax.lax.rem(i, i - i)), INTS),
    "long arrays": (lambda x: (jnp.cumsum(x), jnp.argmax(x), x.max(), x.sum(), (x * 2).mean(), x[::-1][:3]), LONG),
    "long dot": (jnp.dot, LONG, LONG),
    "large matrices": (lambda a, b: jnp.tanh(a @ b)[:2, :3], RNG.normal(size=(100, 80)), RNG.normal(size=(80, 60))),
    "where": (lambda x: jnp.where(x > 0, x, jnp.nan_to_num(jnp.log(x))), B),
    "interp": (lambda x: jnp.interp(x, jnp.arange(4.0), jnp.array([0.0, 1, 4, 9])), np.float64(1.7)),
    "percentile": (lambda x: jnp.percentile(x, 30), W),
    "roll": (lambda x: jnp.roll(x, 1, 0), W),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, 1))), W),
    "take": (lambda x, i: jnp.take(x, i, axis=0), W, INTS),
    "scatter add": (lambda x, i: jnp.asarray(x).at[i % 5].add(1.0), W, INTS),
    "scatter outside": (lambda x, i: jnp.asarray(x).at[i].set(1.0), W, INTS),
    "segment sum": (lambda x, i: jax.ops.segment_sum(x, i % 4, num_segments=4), RNG.normal(size=9), INTS),
    "dynamic slice": (lambda x, i: jax.lax.dynamic_slice(x, (i,), (2,)), B, np.int64(17)),
    "dynamic update": (lambda x, i: jax.lax.dynamic_update_slice(x, x[:2] * 2, (i,)), B, np.int64(-9)),
    "single precision": (lambda x: jnp.exp(x) * jnp.float32(3) + x**2, B.astype(np.float32)),
    "softmax": (jax.nn.softmax, W),
    "fori": (lambda x: jax.lax.fori_loop(0, 10, lambda i, c: c * jnp.cos(c) + i, x), B),
    "while": (lambda x: jax.lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 1.5 + 1, x), abs(B)),
    "cond": (lambda x: jax.lax.cond(x.sum() > 0, jnp.sin, lambda y: jnp.sort(y) * 2, x), B),
    "switch": (lambda i, x: jax.lax.switch(i, [jnp.sin, jnp.cos, lambda y: -y], x), np.int64(5), B),
    "scan": (lambda x: jax.lax.scan(lambda c, y: (c * 0.9 + y, jnp.sin(c)), x[0], jnp.outer(x, x)[0]), B),
    "reverse scan": (lambda x: jax.lax.scan(lambda c, y: (c + y, c * y), 0.0, x, reverse=True), LONG),
    "exchanged carries": (lambda x: jax.lax.fori_loop(0, 3, lambda i, c: (c[1], c[0]), (x, x * 2)), LONG),
    "powers": (lambda x: (abs(x) ** jnp.arange(4.0), x**3, x**-2), B),
    "rounding": (lambda x: (jnp.round(x * 3), jnp.floor(x), jnp.ceil(x), jnp.trunc(x * 2)), B),
    "logic": (lambda x: (jnp.any(x > 0), jnp.all(x > 0), jnp.logical_xor(x > 0, x < 1)), B),
    "threefry": (lambda k: jax.random.uniform(k, (3,)), np.array([3, 4], dtype=np.uint32)),
    "axes read in another order": (lambda x: jax.lax.reshape(x, (3, 10), (1, 0)), RNG.normal(size=(5, 6))),
    "axes of a large array read in another order": (
        lambda x: jax.lax.reshape(x, (3000,), (1, 0)),
        LONG.reshape(60, 50),
    ),
    "vmapped while": (
        jax.vmap(lambda x: jax.lax.while_loop(lambda c: c[1] < x, lambda c: (c[0] * 1.5, c[1] + 1), (x, 0.0))),
        np.array([0.5, 3.0, -1.0]),
    ),
    "empty product": (lambda x: (x[:, :0] @ x[:0], x[:0] @ x.T), W),
    "tile": (lambda x: (jnp.tile(x, (2, 3)), jnp.tile(x, (60, 8))[100:103]), W),
    "stack of long arrays": (lambda x: jnp.stack([x, x * 2], 1)[5], LONG),
    "precision": (lambda x: (jax.lax.reduce_precision(x, 5, 10), jax.lax.reduce_precision(x, 8, 23)), 1e5 * LONG[:9]),
    "next number": (lambda x: (jnp.nextafter(x, x[::-1]), jnp.nextafter(0 * x, x), jnp.nextafter(x, jnp.inf)), B),
    "leading zeros": (lambda i: (jax.lax.clz(i), jax.lax.clz(i.astype(jnp.uint8))), INTS),
    "bits of other width": (
        lambda i: (
            jax.lax.bitcast_convert_type(i, jnp.uint8),
            jax.lax.bitcast_convert_type(i[:8].astype(jnp.uint32).reshape(4, 2), jnp.uint64),
        ),
        INTS,
    ),
    "bits of numbers": (
        lambda x, y: (
            jax.lax.bitcast_convert_type(x, jnp.int64),
            jax.lax.bitcast_convert_type(jax.lax.bitcast_convert_type(y, jnp.uint32) ^ 1, jnp.float32),
        ),
        B,
        B.astype(np.float32),
    ),
    "random numbers of single precision": (
        lambda k: jax.random.normal(k, (5,), jnp.float32),
        np.array([3, 4], dtype=np.uint32),
    ),
    "sort of a long array": (lambda x: (jnp.sort(x), jnp.argsort(jnp.round(x)), jnp.sort(x.reshape(60, 50), 0)), LONG),
    "sort of booleans": (lambda x: jnp.argsort(x > 0), LONG[:9]),
    "largest": (lambda x: (jax.lax.top_k(jnp.round(x[:20]), 5), jax.lax.top_k(jnp.round(x), 7)), LONG),
    "convolution": (
        lambda x, k: jax.lax.conv_general_dilated(x, k, (2,), [(1, 2)], (2,), (1,), feature_group_count=2),
        RNG.normal(size=(2, 4, 7)),
        RNG.normal(size=(6, 2, 3)),
    ),
    "convolution in the plane": (
        lambda x, k: jax.lax.conv(x, k, (1, 1), "SAME"),
        RNG.normal(size=(1, 2, 9, 8)),
        RNG.normal(size=(3, 2, 3, 3)),
    ),
    "float to integer": (lambda x: (x * 1e12).astype(jnp.int32), np.array([1.0, -1.0, np.nan, np.inf])),
    "float to integers of all widths": (
        lambda x: [x.astype(t) for t in (jnp.int8, jnp.int16, jnp.int64, jnp.uint8, jnp.uint32, jnp.uint64)],
        np.array([1.7, -1.7, 300.0, -300.0, 1e10, -1e10, 1e19, 1e30, -1e30, np.inf]),
    ),
    "integers of all widths": (
        lambda i: [
            (x * x + x, x // 3, x % 7, x >> 1, x << 3, ~x, jnp.maximum(x, 5), x > 3)
            for x in (
                i.astype(t) for t in (jnp.int8, jnp.int16, jnp.int32, jnp.uint8, jnp.uint16, jnp.uint32, jnp.uint64)
            )
        ],
        INTS,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_native_equals_xla(name):
    f, *args = PROGRAMS[name]
    expected = jax.tree.leaves(jax.jit(f)(*args))
    found = jax.tree.leaves(native.jit(f)(*args))
    assert len(expected) == len(found)
    for x, y in zip(expected, found, strict=True):
        assert (np.shape(x), x.dtype) == (y.shape, y.dtype)
        tolerance = 1e-12 if y.dtype != np.float32 else 2e-6
        np.testing.assert_allclose(y, x, rtol=tolerance, atol=tolerance * 0.1)
