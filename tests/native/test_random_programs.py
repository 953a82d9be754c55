"""Native code against XLA on random programs, every number of lanes against one, and how long compiling takes."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from hybridsim import native

from .agreement import agree
from .disturbance import contracted, multiplied, summed
from .program_strategy import Case, cases
from .programs import BATCH, Program, Step

SETTINGS = {"suppress_health_check": list(HealthCheck)}


@settings(max_examples=50, **SETTINGS)
@given(cases())
def test_random_programs(case):
    agree(case)


@pytest.mark.slow
@settings(max_examples=400, **SETTINGS)
@given(cases(largest=10))
def test_many_random_programs(case):
    agree(case)


def test_a_vector_made_of_a_loop_s_results():
    """They are there after the loop only, although a pack may be wanted earlier."""

    def in_turns(x):
        def turn(i, carry):
            products = jax.lax.dot_general(carry[1], jnp.full((2, 2), 1.0 * i), (((), ()), ((), ())))
            made = (products.reshape(2, 2, 10), products)
            return tuple(0.5 * old + 0.5 * jnp.resize(new, old.shape) for old, new in zip(carry, made, strict=True))

        return 0.5 * x + 0.5 * jax.lax.fori_loop(0, 2, turn, (x, x))[0]

    def f(which, x):
        y = jax.lax.switch(which, [lambda x: x, in_turns, lambda x: 0.5 * x + 0.5 * jnp.mod(x, x)], x)
        return y[:2], y[2:]

    x = np.random.default_rng(0).normal(size=(5, 2))
    for which in range(3):
        for found, expected in zip(native.jit(f)(np.int64(which), x), f(which, x), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("x", [(1.5e308, -1.5e308, 1.0), (np.inf, np.nan, -np.inf)])
def test_infinities_are_seen(x):
    """As NumPy has them; XLA takes half of a double for the number, which hides that the double is infinite."""
    x = np.array(x)

    def f(x):
        return 0.5 * (x + x), (x + x) / 2, (2 * x) * 0.5, -(-x - x), x - x, x / x, 0.0 * x

    *found, product = native.jit(f)(x)
    *expected, _ = f(x)
    for y, z in zip(found, expected, strict=True):
        np.testing.assert_array_equal(y, z)
    assert not product.any()  # the one exception


def case_of(steps, *args: np.ndarray) -> Case:
    """The arguments go to the first step (or the only one), and what it returns to the next."""
    pool, made, operands = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in args], [], tuple(range(len(args)))
    inputs = tuple(pool)
    for step in steps if isinstance(steps, tuple) else (steps,):
        results = tuple(jax.tree.leaves(jax.eval_shape(step, *(pool[i] for i in operands))))
        made.append(Step("step", step, operands, results))
        operands = tuple(range(len(pool), len(pool) + len(results)))
        pool += results
    rows = tuple(np.stack([x] * BATCH) for x in args)
    return Case(Program(inputs, tuple(made), operands), "plain", rows, (0,) * len(args), 2, True)


NOT_FINITE = np.array([1.0, np.nan, np.inf, -np.inf, 0.0, -2.0])
FOUND = {
    "a number that is padded along two axes": (
        lambda x: jax.lax.pad((x @ x.T), 1.0, [(0, 1, 1), (1, 2, 0)]),
        np.ones((1, 600)),
    ),
    "the largest index": (
        lambda i, x: jax.vmap(lambda k: jax.lax.dynamic_slice_in_dim(x, k, 2))(i),
        np.array([2**64 - 1, 0, 3], np.uint64),
        np.arange(5.0),
    ),
    "a slice whose bounds are NumPy's integers": (
        lambda x: jax.lax.slice(x, (np.int64(1),), (np.int64(299),), (np.int64(2),)),
        np.arange(300.0),
    ),
    "a sine of 1e38, of which no digit is known": (
        (jnp.sin, jnp.sin, jax.lax.rsqrt, jnp.sin, jnp.tanh),
        1e-77 * np.linspace(1.0, 2.0, 8),
    ),
    "a difference of two sums of the same terms": (
        (lambda x: (jnp.sum(x), jnp.sum(x[::-1])), lambda a, b: 1e-3 / (a - b)),
        np.linspace(0.1, 1.7, 31),
    ),
    "a product of a product with zero": (lambda x: 0.0 * x * x * x, NOT_FINITE),
    "the derivative of an empty slice": (
        jax.grad(lambda x: jnp.sum(jnp.arctan(jnp.sin(jax.lax.rsqrt(jnp.sin(x)))[:0]))),
        NOT_FINITE[:3],
    ),
    "a product with zero in a loop of one turn": (
        lambda x: jax.lax.map(lambda row: row[0] * row[1], (0.0 * x[None], x[None])),
        NOT_FINITE,
    ),
    "a dot product with zeros": (lambda x: contracted(jnp.dot, jnp.zeros(6), x), NOT_FINITE),
    "the sign of a product with zero": (lambda x: 1 / (x * np.zeros(4)), np.array([-1.0, 2.0, -np.inf, np.nan])),
    "zero over a zero that is a product": (lambda x: 0.0 / (0.0 / x), NOT_FINITE),
    "a product that overflows if zero comes late": (partial(multiplied, jnp.prod), np.repeat([0.0, 1e200], 20)),
    "a sum that overflows if negative numbers come late": (partial(summed, jnp.sum), np.repeat([1.7e308, -1e308], 9)),
    "a number that is zero for XLA": ((lambda x: x**-2, jax.lax.lgamma), np.array([1.0, np.sqrt(np.finfo(float).max)])),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_random_programs_found(name):
    steps, *args = FOUND[name]
    agree(case_of(steps, *args))
