"""Arrays in memory are changed where they are, and only where nothing needs the old ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from hybridsim import native

N = 300
"""More numbers than a loop carries in registers."""


def grow(x, n):
    """Nested loops that write one number a turn."""

    def outer(k, x):
        return lax.fori_loop(0, k + 1, lambda j, x: x.at[(7 * k + j) % N].add(x[j] + 1.0), x)

    return lax.fori_loop(0, n, outer, x)


def used_after(x, n):
    """The start is needed again after the loop."""
    return lax.fori_loop(0, n, lambda k, y: y.at[k].set(2.0 * y[k + 1]), x) - x


def old_and_new(x, n):
    """Each turn needs the array from before its change."""
    return lax.fori_loop(0, n, lambda k, x: x.at[k].set(-1.0) + 0.5 * x, x)


def shifted(x, n):
    """What is written comes from other places of the same array."""
    return lax.fori_loop(0, n, lambda k, x: lax.dynamic_update_slice(x, 1.1 * x[:200], (k + 50,)), x)


def reversed_into_itself(x, n):
    return lax.fori_loop(0, n, lambda k, x: x.at[k].set(0.0).at[:].set(x[::-1] + x), x)


def swapped(x, n):
    """Two arrays change places in each turn."""

    def turn(k, pair):
        a, b = pair
        return b.at[k].add(1.0), a.at[k + 1].set(b[k])

    return lax.fori_loop(0, n, turn, (x, 2.0 * x))


def same_twice(x, n):
    """One array is the start of two carries."""
    return lax.fori_loop(0, n, lambda k, pair: (pair[0].at[k].set(5.0), pair[1].at[k].add(pair[0][k])), (x, x))


def copied_out(x, n):
    """A scan returns its carry as it was at the start of each turn."""

    def turn(x, k):
        return x.at[k].set(x[k] + n), x

    return lax.scan(turn, x, jnp.arange(5))


def in_a_branch(x, n):
    def turn(k, x):
        return lax.cond(k % 2 == 0, lambda x: x.at[k].set(9.0), lambda x: x.at[k].add(x[k + 1]), x)

    return lax.fori_loop(0, n, turn, x)


def closed_over(x, n):
    """The loop changes one copy and reads the other."""
    return lax.fori_loop(0, n, lambda k, y: y.at[k].set(x[N - 1 - k] + y[k]), x)


def called(x, n):
    """A function that is called changes its argument, which is needed afterwards."""
    change = jax.jit(lambda x, k: x.at[k].set(0.0))
    y = change(x, n)
    z = change(y, n + 1)
    return y + z, change(x.at[n + 2].set(1.0), 3)


def kept_formula(x, n):
    """A formula of the old array is used after the change."""
    y = lax.fori_loop(0, n, lambda k, y: y.at[k].set(1.0), x)
    formula = jnp.flip(y) * 2.0
    return y.at[n].set(7.0), formula


CASES = [
    grow,
    used_after,
    old_and_new,
    shifted,
    reversed_into_itself,
    swapped,
    same_twice,
    copied_out,
    in_a_branch,
    closed_over,
    called,
    kept_formula,
]


@pytest.mark.parametrize("function", CASES)
def test_results_are_those_of_xla(function):
    x = np.random.default_rng(0).normal(size=N)
    by_native, by_xla = native.jit(function), jax.jit(function)
    for n in (0, 1, 13):
        for found, expected in zip(jax.tree.leaves(by_native(x, n)), jax.tree.leaves(by_xla(x, n)), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("function", CASES)
def test_lanes_that_turn_a_different_number_of_times(function):
    xs, ns = np.random.default_rng(1).normal(size=(7, N)), np.array([3, 0, 13, 1, 13, 5, 2])
    together = native.batch(function, in_axes=(0, 0), threads=1, lanes=4)(xs, ns)
    for k in range(len(ns)):
        alone = native.jit(function)(xs[k], ns[k])
        for found, expected in zip(jax.tree.leaves(together), jax.tree.leaves(alone), strict=True):
            np.testing.assert_array_equal(found[k], expected)


@pytest.mark.parametrize("function", [old_and_new, closed_over, swapped])
def test_derivatives(function):
    x = np.random.default_rng(2).normal(size=N)

    def total(x):
        return sum(jnp.sum(jnp.sin(y)) for y in jax.tree.leaves(function(x, 13)))

    tangent = np.random.default_rng(3).normal(size=N)
    found = native.jit(lambda x, dx: jax.jvp(total, (x,), (dx,))[1])(x, tangent)
    np.testing.assert_allclose(found, jax.jvp(total, (x,), (tangent,))[1], rtol=1e-12)
    np.testing.assert_allclose(native.jit(jax.grad(total))(x), jax.grad(total)(x), rtol=1e-12, atol=1e-12)


def test_a_loop_that_writes_one_number_copies_nothing():
    """Stores in the program: one into the array in each turn, and those that bring the array in and out."""

    def f(x):
        return lax.fori_loop(0, 50, lambda k, x: x.at[k].set(x[k] + 1.0), x)

    text = native.jit(f).lower(np.zeros(N)).llvm
    assert text.count("store double") <= 3
