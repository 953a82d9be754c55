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


def kinds(*shapes) -> list[list[np.ndarray]]:
    """Arrays of each shape: of equal numbers, whose sums have errors that all have the same sign, and of random ones."""
    return [[make(shape).astype(np.float32) for shape in shapes] for make in (_equal, RNG.random, _normal)]


def _equal(shape) -> np.ndarray:
    return np.full(shape, 0.1)


def _normal(shape) -> np.ndarray:
    return RNG.normal(size=shape)


SUMS = {
    "long": (lambda x: x.sum(), (360000,), None),
    "of a prime number of terms": (lambda x: x.sum(), (100003,), None),
    "of rows": (lambda x: x.sum(1), (30, 1111), 1),
    "of columns": (lambda x: x.sum(0), (5000, 3), 0),
    "over two axes": (lambda x: x.sum((0, 2)), (70, 20, 90), (0, 2)),
    "of what is computed": (lambda x: jnp.sum(-(-x)[::-1]), (601, 599), None),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums(name):
    f, shape, axis = SUMS[name]
    compiled = native.jit(f)
    for (x,) in kinds(shape):
        assert_near(np.asarray(compiled(x)), x.astype(EXTENDED), axis)


DOTS = {
    "vectors": ("k,k->", "k,k->k"),
    "matrix by vector": ("ik,k->i", "ik,k->ik"),
    "vector by matrix": ("k,kj->j", "k,kj->jk"),
    "two rows by columns": ("ik,jk->ij", "ik,jk->ijk"),
    "matrices": ("ik,kj->ij", "ik,kj->ijk"),
}


@pytest.mark.parametrize("K", [331, 7777])
@pytest.mark.parametrize("name", DOTS)
def test_dots(name, K):
    how, products = DOTS[name]
    sizes = {"i": 2 if name.startswith("two") else 13, "j": 11, "k": K}
    shapes = [tuple(sizes[axis] for axis in side) for side in how.split("->")[0].split(",")]
    compiled = native.jit(lambda a, b: jnp.einsum(how, a, b))
    for a, b in kinds(*shapes):
        terms = np.einsum(products, a.astype(EXTENDED), b.astype(EXTENDED))
        assert_near(np.asarray(compiled(a, b)), terms, -1, roundings=1)


def test_lanes_do_not_change_a_sum():
    x, y = RNG.normal(size=(5, 3001)), RNG.normal(size=3001)

    def f(x, y):
        return x.sum(), jnp.tanh(x).sum(), x @ y, (x[:, None] * y[:3]).sum(0)

    compiled = native.jit(f)
    alone = [compiled(row, y) for row in x]
    for lanes in (2, 4):
        together = native.batch(f, (0, None), threads=1, lanes=lanes)(x, y)
        for k, out in enumerate(together):
            np.testing.assert_array_equal(out, np.stack([row[k] for row in alone]))
