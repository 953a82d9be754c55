"""Compiling takes a time in proportion to a program's length, and what is done to keep it short changes no result."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hybridsim import native
from hybridsim.native import compile, emit, scalars
from hybridsim.native.functions import FUNCTIONS

from .disturbance import oracle, wrong

ROWS = np.linspace(0.2, 1.7, 5)


@pytest.fixture
def change(monkeypatch, tmp_path):
    """Set a constant of the compiler, and forget what was compiled with others: programs on disk do not tell them apart."""

    def set_to(module, name: str, value: int) -> None:
        monkeypatch.setattr(module, name, value)
        monkeypatch.setenv("HYBRIDSIM_CACHE", str(tmp_path / f"{name} {value}"))

    return set_to


IN_A_ROW = """
import sys, time
import jax, jax.numpy as jnp, numpy as np
from hybridsim import native

jax.config.update("jax_enable_x64", True)

def f(x):
    for _ in range(3000):
        x = jnp.sin(x) * 1.1
    return x

for make, x in ((native.jit, np.array(0.3)), (native.batch, np.array([0.3, 0.2, 0.1]))):
    started = time.process_time()
    make(f)(x)
    print(time.process_time() - started)
"""


def test_three_thousand_sines_in_a_row():
    """Seconds of the processor, so that other processes do not count; in a process without tests' checks of types.

    1.1 s and 1.6 s on the machine where XLA takes 0.9 s; 10 s and 18 s while every sine was written out.
    """
    result = subprocess.run([sys.executable, "-c", IN_A_ROW], capture_output=True, text=True, check=True)
    one, many = map(float, result.stdout.split())
    assert one < 5.0
    assert many < 5.0


@pytest.mark.parametrize("transform", [lambda f: f, jax.grad], ids=["value", "gradient"])
def test_powers_of_many_numbers_are_not_written_out(transform):
    """A power is more than a hundred operations, which were written out for each of 240 numbers: 36,763 or more.

    Of those that are summed, 64 are still written out.
    """
    f = transform(lambda x: jnp.sum(x ** (x + 1)))
    assert sum(native.jit(f).lower(np.ones(240)).counts.values()) < 12_000


class TestCalledFunctions:
    """Elementary functions of which there are so many that they are compiled once and called."""

    @pytest.fixture(autouse=True)
    def never_written_out(self, change):
        change(scalars, "WRITTEN_OUT", -1)

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_same_bits_as_written_out(self, change, name, dtype):
        inputs = 2 if name in ("atan2", "pow") else 1
        primitive = {"logistic": jax.lax.logistic, "erf_inv": jax.lax.erf_inv, "pow": jax.lax.pow}
        function = primitive.get(name) or getattr(jax.lax, name)
        x = np.random.default_rng(0).uniform(-1.5, 1.5, (inputs, 7, 4)).astype(dtype)
        x[:, 0] = np.nan, np.inf, -0.0, 3e7
        called = native.jit(lambda *x: function(*x))
        assert called.lower(*x[:, 0]).counts[f"call {name}"] in (1, 4)
        found = np.stack([called(*x[:, k]) for k in range(7)])
        for lanes in (1, 2, 4, 8):
            together = native.batch(lambda *x: function(*x), threads=1, lanes=lanes)(*x)
            np.testing.assert_array_equal(together, found)
        change(scalars, "WRITTEN_OUT", 10_000)
        written_out = native.jit(lambda *x: function(*x))
        assert f"call {name}" not in written_out.lower(*x[:, 0]).counts
        np.testing.assert_array_equal(found, np.stack([written_out(*x[:, k]) for k in range(7)]))

    def test_in_loops_and_branches_that_lanes_take_differently(self):
        def f(x):
            def turn(x):
                return jax.lax.cond(x > 0, jnp.exp, lambda x: jnp.cos(x) + 2.0, x) - 1.5

            return jax.lax.while_loop(lambda x: x < 3.0, turn, x)

        rows = np.linspace(-2.0, 2.0, 9)
        expected = [oracle(f, 1e-12)(x) for x in rows]
        one = native.jit(f)
        found = np.array([one(x) for x in rows])
        for y, ((exact,), (sensitive,)) in zip(found, expected, strict=True):
            assert not wrong(y, exact, sensitive, 1e-12).any()
        np.testing.assert_array_equal(native.batch(f, threads=1)(rows), found)


def test_a_function_that_was_written_out_is_not_called_with_the_same_argument(change):
    change(scalars, "WRITTEN_OUT", 20)  # less than one sine has
    counts = native.jit(lambda x: jnp.sin(x) + jnp.sin(2 * x) + jnp.sin(x) * jnp.sin(2 * x)).lower(np.ones(())).counts
    assert counts["call sin"] == 1


def swings(x):
    """Loops, branches, functions, arrays in memory."""

    def turn(i, x):
        x = jnp.where(x > 0.3, x - jnp.sin(x * i), x * 1.01 + 0.1)
        return x + 1e-3 * jnp.sum(jnp.tanh(x)) + 0.1 * jax.lax.cond(x[0] > x[1], jnp.cos, jnp.exp, x[2])

    x = jax.lax.fori_loop(0, 3, turn, x)
    return x, jnp.cumsum(x) / jnp.sqrt(1 + x * x)


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_blocks_that_are_cut_give_the_same_bits(change, lanes):
    rows = np.random.default_rng(1).normal(size=(5, 6))
    whole, whole_batch = native.jit(swings), native.batch(swings, threads=1, lanes=lanes)
    expected = [whole(x) for x in rows], whole_batch(rows)
    change(emit, "LONGEST_BLOCK", 7)
    assert native.jit(swings).lower(rows[0]).llvm.count("label %never") > 20
    pieces, pieces_batch = native.jit(swings), native.batch(swings, threads=1, lanes=lanes)
    found = [pieces(x) for x in rows], pieces_batch(rows)
    jax.tree.map(np.testing.assert_array_equal, found, expected)
    jax.tree.map(np.testing.assert_array_equal, jax.tree.map(lambda *x: np.stack(x), *found[0]), found[1])


@pytest.mark.parametrize(("long", "very_long"), [(0, 10**9), (0, 0)], ids=["long", "very long"])
def test_less_effort_gives_the_same_bits(change, long, very_long):
    rows = np.random.default_rng(2).normal(size=(5, 6))
    expected = [native.jit(swings, optimise=3)(x) for x in rows]
    change(compile, "LONG", long)
    change(compile, "VERY_LONG", very_long)
    assert compile.effort("\n", 2).machine == (1 if very_long else 0)
    assert compile.effort("\n", 3) == compile.Effort(3, True, 3)
    less = native.jit(swings)
    jax.tree.map(np.testing.assert_array_equal, [less(x) for x in rows], expected)
    together = native.batch(swings, threads=1)(rows)
    jax.tree.map(np.testing.assert_array_equal, jax.tree.map(lambda *x: np.stack(x), *expected), together)
