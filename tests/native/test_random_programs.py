"""Native code against XLA on random programs, every number of lanes against one, and how long compiling takes."""

import time
from contextlib import nullcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from jax.extend.core import subjaxprs

from hybridsim import native
from hybridsim.native.scalars import Scalars

from .program_strategy import Case, cases
from .programs import BATCH, Program, Step, oracle, wrong
from .subnormals import flushed
from .zero_products import computed, hidden, run, watched

SETTINGS = {"suppress_health_check": list(HealthCheck)}


def agree(case: Case) -> None:
    """By XLA, by native code row by row, and by native code in lanes."""
    by_xla, by_native = oracle(case.function, case.tolerance), native.jit(case.function)
    with watched() as some:
        started = time.process_time()
        by_native(*case.row(0))
        compiled_in_time(case, time.process_time() - started)
        rows = [[np.asarray(x) for x in jax.tree.leaves(by_native(*case.row(k)))] for k in range(BATCH)]
        for k in range(BATCH):
            check(case, k, rows[k], *by_xla(*case.row(k)), bool(some))
        started = time.process_time()
        together = native.batch(case.function, case.in_axes, threads=1, lanes=case.lanes)(*case.batched())
        compiled_in_time(case, time.process_time() - started)
    for k, found in enumerate(jax.tree.leaves(together)):
        np.testing.assert_array_equal(found, np.stack([row[k] for row in rows]))


def compiled_in_time(case: Case, seconds: float) -> None:
    """Seconds of the processor, so that other processes count little. Most programs take less than one, none of thousands five."""
    allowed = 20.0 + 4e-3 * numbers(jax.make_jaxpr(case.function)(*case.row(0)).jaxpr)
    assert seconds < allowed, f"compiling took {seconds:.1f} s, more than {allowed:.1f} s"


def numbers(jaxpr) -> int:
    """How many numbers the equations of a program make, those in loops once; arrays beyond a size are made in loops."""
    own = sum(min(v.aval.size, 400) for eqn in jaxpr.eqns for v in eqn.outvars)
    return own + sum(numbers(inner) for inner in subjaxprs(jaxpr))


def check(case: Case, k: int, found: list, expected: list, sensitive: list, zero_products: bool) -> None:
    """The same as XLA's, but for products with a known zero and what is too small for XLA."""

    def differing(xs: list, ys: list, sensitive: list = sensitive) -> list:
        return [wrong(*each, case.tolerance) for each in zip(xs, ys, sensitive, strict=True)]

    bad, exact, row = differing(found, expected), found, case.row(k)
    if any(map(np.any, bad)) and zero_products:
        with hidden():
            own, own_sensitive = oracle(case.function, case.tolerance, native.jit)(*row)
        refuse(differing(found, own, own_sensitive), found, own, "with zeros that the compiler does not know: ")
        with computed():
            exact = run(case.function, row)
        bad = differing(exact, expected)
    if any(map(np.any, bad)):
        with computed() if zero_products else nullcontext(), flushed():
            as_xla = run(case.function, row)
        with computed() if zero_products else nullcontext(), flushed(0.0):
            same = run(case.function, row)
        # With subnormal numbers for zeros it must be as XLA's, and for no other reason than these.
        other = zip(differing(as_xla, expected), differing(same, exact), strict=True)
        refuse([b & (x | y) for b, (x, y) in zip(bad, other, strict=True)], exact, expected)


def refuse(bad: list, found: list, expected: list, where: str = "") -> None:
    if any(map(np.any, bad)):
        raise AssertionError(where + described(bad, found, expected))


def described(bad: list, found: list, expected: list) -> str:
    return "\n".join(f"{x[b]} is not {y[b]}" for b, x, y in zip(bad, found, expected, strict=True) if b.any())


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


def special_case(f) -> Case:
    """f of numbers that are not finite."""
    spec = jax.ShapeDtypeStruct((3,), np.dtype("float64"))
    program = Program((spec,), (Step("f", f, (0,), (spec,)),), (1,))
    x = np.array([[1.0, np.nan, np.inf], [0.0, -np.inf, np.nan], [1.0, 2.0, 3.0]])
    return Case(program, "plain", (x,), (0,), 2, True)


def test_zero_products_may_differ_and_nothing_else(monkeypatch):
    agree(special_case(lambda x: x * np.array([0.0, 0.0, 2.0])))
    agree(special_case(lambda x: jnp.where(jnp.isnan(x * 0.0), 1.0, 0.0)))
    agree(special_case(lambda x: x - x))
    sub = Scalars.sub
    monkeypatch.setattr(Scalars, "sub", lambda s, a, b: s.const(0, s.g.types[a]) if a == b else sub(s, a, b))
    for hides_nan in (lambda x: x - x, lambda x: (x - x) + x * np.array([1.0, 0.0, 1.0])):
        with pytest.raises(AssertionError, match="is not"):
            agree(special_case(hides_nan))


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
}


@pytest.mark.parametrize("name", FOUND)
def test_what_random_programs_found(name):
    f, *args = FOUND[name]
    np.testing.assert_allclose(native.jit(f)(*args), jax.jit(f)(*args), rtol=1e-13)
