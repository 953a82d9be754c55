"""Loops that ask to be unrolled are written out, which makes the program of a long chain a straight line."""

import subprocess
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim import native
from hybridsim.native.graph import Loop
from hybridsim.native.live import facts
from hybridsim.native.rules import unrolled

RNG = np.random.default_rng(8)
X, ROWS = RNG.normal(size=3), RNG.normal(size=(7, 3))


def loops(lowered) -> int:
    return len(facts(lowered.program.graph).loops)


def scanned(x, rows, unroll: int, reverse: bool = False):
    def turn(carry, row):
        x, n = carry
        x = jnp.sin(x) * row + jnp.where(n > 2, x, row)
        return (x, n + 1), (x[1], jnp.outer(x, row), jnp.zeros(0))

    return jax.lax.scan(turn, (x, 0), rows, reverse=reverse, unroll=unroll)


def squares(x, rows, **how):
    (last, _), (some, table, _) = scanned(x, rows, **how)
    return jnp.sum(last**2) + jnp.sum(some * table[:, 0, 1])


@pytest.mark.parametrize("f", [scanned, jax.value_and_grad(squares, argnums=(0, 1))], ids=["values", "gradient"])
@pytest.mark.parametrize("reverse", [False, True])
def test_as_the_loop(f, reverse):
    written, loop = (native.jit(partial(f, unroll=unroll, reverse=reverse)) for unroll in (2, 1))
    assert loops(written.lower(X, ROWS)) == 0 < loops(loop.lower(X, ROWS))
    expected = jax.jit(partial(f, unroll=1, reverse=reverse))(X, ROWS)
    jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-14), written(X, ROWS), expected)
    batch = native.batch(partial(f, unroll=2, reverse=reverse), in_axes=(0, None), threads=1)
    jax.tree.map(
        lambda rows, one: np.testing.assert_array_equal(rows[1], one), batch(np.stack([-X, X]), ROWS), written(X, ROWS)
    )


@pytest.mark.parametrize("turns", [0, 1])
def test_none_or_one_turn(turns):
    found, expected = (by(partial(scanned, unroll=2))(X, ROWS[:turns]) for by in (native.jit, jax.jit))
    jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-12), found, expected)


def test_what_is_too_much_stays_a_loop(monkeypatch):
    monkeypatch.setenv("HYBRIDSIM_CACHE", "off")
    assert loops(native.jit(partial(scanned, unroll=2)).lower(X, ROWS)) == 0
    monkeypatch.setattr(unrolled, "WRITTEN_OUT", 150)
    kept = native.jit(partial(scanned, unroll=2))
    assert loops(kept.lower(X, ROWS)) > 0
    jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-12), kept(X, ROWS), scanned(X, ROWS, unroll=1))


def test_loops_within_are_not_written_out():
    def f(x, rows):
        turn = lambda x, row: (jax.lax.fori_loop(0, 5, lambda i, x: jnp.cos(x) * row, x), None)  # noqa: E731
        return jax.lax.scan(turn, x, rows, unroll=2)[0]

    assert loops(native.jit(f).lower(X, ROWS)) == 2


def test_inputs_of_a_written_out_loop_are_read_once():
    """300 numbers, which otherwise stay in memory: then each product would be a loop, which stores its results."""
    inputs = np.ones((100, 3)), np.ones((100, 3))

    def f(a, b):
        return jax.lax.scan(lambda x, row: (x * row, None), jnp.ones(3), a * b, unroll=2)[0]

    lowered = native.jit(f).lower(*inputs)
    assert loops(lowered) == 0
    assert lowered.counts["load"] == 600


GROWTH = """
import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp, numpy as np
import hybridsim as hs
from hybridsim.native.pack import Packing

weighed, cost = 0, Packing._cost_apart

def counted(self, *arguments):
    global weighed
    weighed += 1
    return cost(self, *arguments)

Packing._cost_apart = counted
for links in (10, 20, 40, 60):
    model, q = hs.chain(links), np.linspace(0.1, 0.5, links)

    def end(model, q):
        return jnp.sum(hs.rollout(model, (q, 0 * q), dt=1e-3, steps=50, contact=None).q ** 2)

    for f in (lambda _, q, model=model: end(model, q), jax.grad(end)):
        lowered, weighed = hs.native.jit(f).lower(model, q), 0
        lines = lowered.llvm.count("\\n")
        print(lines, sum(lowered.counts.values()), len(lowered.program.graph.ops), weighed)
"""
"""Of rollouts and their gradients: lines of LLVM's text, operations, what was made to find these, and tried to pack them."""


def test_program_and_work_of_chains_grow_linearly():
    """In a process without tests' checks of types, in which lowering is slow."""
    result = subprocess.run([sys.executable, "-c", GROWTH], capture_output=True, text=True, check=True)
    sizes = np.array([line.split() for line in result.stdout.splitlines()], dtype=float).reshape(4, 2, 4)
    _, first, second, third = sizes
    assert np.all(third - second < 1.25 * (second - first))
    # Ten links are written out by JAX's tracing, more by the compiler; their operations are the same.
    assert np.all(sizes[3, :, 1] / 60 < 1.2 * sizes[0, :, 1] / 10)


def test_a_step_of_a_chain_has_no_loop():
    model, q = hs.chain(100), np.linspace(0.1, 0.5, 100)
    lowered = native.jit(lambda q: hs.rollout(model, (q, 0 * q), dt=1e-3, steps=50, contact=None).q).lower(q)
    step = max(facts(lowered.program.graph).loops, key=lambda loop: len(loop.body.items)).body
    assert len(step.items) > 10_000
    assert not any(isinstance(item, Loop) for item in step.items)
