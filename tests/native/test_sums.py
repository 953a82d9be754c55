"""Long sums are nearly as exact as sums in pairs, and the same for any number of lanes."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from hybridsim import native

RNG = np.random.default_rng(5)
EXTENDED = np.longdouble


def assert_near(found, terms: np.ndarray, axis, roundings: int = 0) -> None:
    """Within four times the bound of summing in pairs, for terms with so many roundings of their own."""
    count = terms.size // max(np.size(found), 1)
    unit = np.finfo(found.dtype).eps / 2
    allowed = 4 * (math.ceil(math.log2(count)) + roundings) * unit * np.abs(terms).sum(axis)
    exact = terms.astype(EXTENDED).sum(axis)
    assert (np.abs(found - exact) <= allowed).all(), (np.abs(found - exact) / allowed).max()


def numbers(name: str, shape, dtype) -> np.ndarray:
    """The sum of equal numbers has errors that all have the same sign."""
    x = np.full(shape, 0.1) if name == "equal" else RNG.normal(size=shape) if name == "normal" else RNG.random(shape)
    return x.astype(dtype)


SUMS = {
    "in memory": (lambda x: x.sum(), (4096 + 300,), None),
    "long": (lambda x: x.sum(), (360000,), None),
    "of a prime number of terms": (lambda x: x.sum(), (100003,), None),
    "of rows": (lambda x: x.sum(1), (30, 1111), 1),
    "of columns": (lambda x: x.sum(0), (5000, 3), 0),
    "over two axes": (lambda x: x.sum((0, 2)), (70, 20, 90), (0, 2)),
    "of what is computed": (lambda x: jnp.sum(-(-x)[::-1]), (7001,), None),
    "in the plane": (lambda x: jnp.abs(x).sum(), (601, 599), None),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["equal", "normal", "positive"])
@pytest.mark.parametrize("name", SUMS)
def test_sums(name, kind, dtype):
    f, shape, axis = SUMS[name]
    x = numbers(kind, shape, dtype)
    terms = np.abs(x) if name == "in the plane" else x
    assert_near(np.asarray(native.jit(f)(x)), terms.astype(EXTENDED), axis)


DOTS = {
    "vectors": ((), (), "k,k->"),
    "matrix by vector": ((20,), (), "ik,k->i"),
    "vector by matrix": ((), (20,), "k,kj->j"),
    "two rows by columns": ((2,), (20,), "ik,jk->ij"),
    "matrices": ((7,), (9,), "ik,kj->ij"),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["equal", "normal"])
@pytest.mark.parametrize("K", [50, 331, 7777])
@pytest.mark.parametrize("name", DOTS)
def test_dots(name, K, kind, dtype):
    left, right, how = DOTS[name]
    sides = how.split("->")[0].split(",")
    shapes = [
        tuple(
            {"i": 20 if name == "matrix by vector" else (left or (1,))[0], "j": (right or (1,))[0], "k": K}[c]
            for c in side
        )
        for side in sides
    ]
    a, b = (numbers(kind, shape, dtype) for shape in shapes)
    found = np.asarray(native.jit(lambda a, b: jnp.einsum(how, a, b))(a, b))
    ones = "".join(c for c in "ij" if c in how)
    terms = np.einsum(f"{sides[0]},{sides[1]}->{ones}k", *(x.astype(EXTENDED) for x in (a, b)))
    assert_near(found, terms, -1, roundings=1)


def test_lanes_do_not_change_a_sum():
    x = RNG.normal(size=(5, 3001))
    y = RNG.normal(size=3001)

    def f(x, y):
        return x.sum(), jnp.sin(x).sum(), x @ y, (x.reshape(3001, 1) * y[:3]).sum(0), x.max()

    alone = [native.jit(f)(row, y) for row in x]
    for lanes in (1, 2, 4, 8):
        together = native.batch(f, (0, None), threads=1, lanes=lanes)(x, y)
        for k, out in enumerate(together):
            np.testing.assert_array_equal(out, np.stack([row[k] for row in alone]))
