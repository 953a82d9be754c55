"""Tracing is what a user waits for: the gradient of a step of a quadruped is a short program, traced in no time."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

import hybridsim as hs

from .mechanisms import moving, quadruped

TIMES_PLAIN = 12.0
"""Time that tracing may take, beside that of a plain program of as many operations; about 4.5 is measured."""
OPERATIONS = 4500

MEASURE = """
import time
import jax
from gradients.test_tracing import OPERATIONS, gradient_of_a_step, moving, quadruped

jax.config.update("jax_enable_x64", True)
arguments = moving(quadruped())


def plain(x):
    for _ in range(OPERATIONS):
        x = jax.lax.add(x, 1.0)
    return x


def seconds(function, *args, **names):
    start = time.process_time()
    jax.make_jaxpr(function)(*args, **names)
    return time.process_time() - start


seconds(jax.grad(lambda x: x * x), 1.0)
print(seconds(gradient_of_a_step, **arguments), seconds(plain, 1.0))
"""


def gradient_of_a_step(model, q, qd, control):
    """With respect to everything: model, state and control."""

    def loss(model, q, qd, control):
        after = hs.step(model, (q, qd), control)
        return (after.q**2).sum() + (after.qd**2).sum()

    return jax.grad(loss, argnums=(0, 1, 2, 3))(model, q, qd, control)


def operations(jaxpr) -> int:
    """How many there are, those inside others included."""
    inner = [
        sub
        for equation in jaxpr.eqns
        for value in equation.params.values()
        for sub in (value if isinstance(value, (tuple, list)) else [value])
        if hasattr(sub, "eqns") or hasattr(sub, "jaxpr")
    ]
    return len(jaxpr.eqns) + sum(operations(getattr(sub, "jaxpr", sub)) for sub in inner)


def test_the_quadruped_has_eighteen_freedoms():
    assert (quadruped().nv, quadruped().nu) == (18, 12)


def test_gradient_of_a_step_of_a_quadruped_is_a_short_program():
    traced = jax.make_jaxpr(gradient_of_a_step)(**moving(quadruped()))
    assert operations(traced.jaxpr) < OPERATIONS


def test_gradient_of_a_step_of_a_quadruped_is_traced_in_no_time():
    """In a new process, where nothing of it was traced before; beside another program, so that the machine's speed does
    not count, and in processor time, so that other processes do not."""
    tests = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([tests, *sys.path])}
    result = subprocess.run(
        [sys.executable, "-c", MEASURE], env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode:
        pytest.fail(result.stderr)
    gradient, plain = map(float, result.stdout.split())
    assert gradient < TIMES_PLAIN * plain
