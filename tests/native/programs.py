"""Random JAX programs, and how far two ways of running one may differ.

A program is a list of steps over a growing pool of arrays. Loops and branches hold programs of their own.
"""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

FLOATS = ("float64", "float32")
INTEGERS = ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")
BATCH = 3
"""Rows of every input: one program is run on each of them."""


@dataclass(frozen=True)
class Step:
    """One function of some arrays of the pool; its results join the pool."""

    name: str
    function: Callable
    operands: tuple[int, ...]
    results: tuple[jax.ShapeDtypeStruct, ...]


@dataclass(frozen=True)
class Program:
    inputs: tuple[jax.ShapeDtypeStruct, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]

    def __call__(self, *inputs):
        values = list(inputs)
        for step in self.steps:
            results = step.function(*(values[i] for i in step.operands))
            values += [disturbed(x) for x in jax.tree.leaves(results)]
        return [values[i] for i in self.outputs]

    def __repr__(self) -> str:
        def show(spec):
            return f"{spec.dtype}{list(spec.shape)}"

        lines = [f"{k} = {show(spec)}" for k, spec in enumerate(self.inputs)]
        at = len(self.inputs)
        for step in self.steps:
            names = ", ".join(f"{at + k} {show(spec)}" for k, spec in enumerate(step.results))
            lines.append(f"{names} = {step.name} of {step.operands}")
            at += len(step.results)
        return "\n".join([*lines, f"returns {self.outputs}"])


# How much a result may differ: as much as disturbing every float in between by a few units in the last place does.

_UNITS = {"float64": 2.0**-46, "float32": 2.0**-17}
"""Of disturbances: 64 units in the last place, so that what rounding adds to their effect is little."""
_FEW = 1 / 8
"""The part of this that counts."""
_DIRECTIONS = np.eye(4)
_MIXTURES = np.array([(-1.0, 0.5, 0.0, 0.0), (0.0, -1.0, 0.5, 0.5), (0.5, 0.5, 0.5, -0.5), (-0.5, 0.0, -0.5, 1.0)])
"""Of the four directions in which every number is disturbed at random."""


class _Disturbance:
    """How much of each direction, while a program is traced, and how many arrays were disturbed so far."""

    amounts = None
    count = 0


def disturbed(x):
    """x, each of its floats changed by a few units in the last place while `disturbance` says so.

    The results of steps are, and the terms of sums: the rounding errors of a sum are as large as its terms are.
    """
    name = str(x.dtype)
    if _Disturbance.amounts is None or name not in _UNITS or x.size == 0:
        return x
    _Disturbance.count += 1  # each array in its own way, or the disturbances of two would cancel in their difference
    rng, shape = np.random.default_rng((x.size, _Disturbance.count)), (len(_DIRECTIONS), *x.shape)
    changes = rng.choice([-1.0, 1.0], size=shape) * rng.uniform(0.5, 1.0, size=shape)
    change = jnp.tensordot(_Disturbance.amounts, changes, 1)
    return x * (1 + _UNITS[name] * change).astype(x.dtype)


@contextmanager
def disturbance(amounts):
    _Disturbance.amounts, _Disturbance.count = amounts, 0
    try:
        yield
    finally:
        _Disturbance.amounts = None


QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""For XLA to compile fast, whatever the code is like."""


def oracle(f: Callable, tolerance: float, compiled: Callable = partial(jax.jit, compiler_options=QUICK)) -> Callable:
    """(arguments) -> (results by XLA, how much disturbances change them), compiled once."""

    @compiled
    def with_amounts(amounts, *args):
        with disturbance(amounts):
            return jax.tree.leaves(f(*args))

    def run(*args):
        def at(amounts):
            return [np.asarray(x) for x in with_amounts(amounts, *args)]

        exact = at(np.zeros(len(_DIRECTIONS)))
        pure, mixed = ([at(amounts) for amounts in some] for some in (_DIRECTIONS, _MIXTURES))
        changes = [[o[k] for o in pure + mixed] for k in range(len(exact))]
        return exact, [sensitivity(x, others, tolerance) for x, others in zip(exact, changes, strict=True)]

    return run


def sensitivity(x: np.ndarray, others: list[np.ndarray], tolerance: float) -> np.ndarray:
    """The largest change at each place by a few units in the last place.

    Infinite where a discrete result changes or a NaN comes or goes, and where changes beyond the tolerance are not in
    proportion to the disturbance: the sine of 1e38 is any number, and a few samples do not tell its range.
    """
    if x.dtype.kind != "f":
        return np.where(np.any([x != o for o in others], axis=0), np.inf, 0.0)
    with np.errstate(all="ignore"):
        changes = np.array([np.where((x == o) | (np.isnan(x) & np.isnan(o)), 0.0, o - x) for o in others], np.float64)
        largest = np.max(np.abs(changes), axis=0)
        pure, mixed = changes[: len(_DIRECTIONS)], changes[len(_DIRECTIONS) :]
        rest = np.max(np.abs(mixed - np.tensordot(_MIXTURES, pure, 1)), axis=0)
        proportional = (rest <= 0.1 * largest) | (largest <= tolerance * scale_of(x))
    return np.where(np.isfinite(largest) & proportional, _FEW * largest, np.inf)


def scale_of(x: np.ndarray) -> float:
    return float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x)))


def wrong(found: np.ndarray, expected: np.ndarray, sensitive: np.ndarray, tolerance: float) -> np.ndarray:
    """Where they differ by more than the tolerance times the largest number. NaN and infinities must be the same.

    An ill-conditioned program has no right digits that the tolerance could ask for: 1 / (x - y) of two numbers that
    are the same but for rounding, a power of a large sum. So results may also differ as much as they do when every
    intermediate number is changed by a few units in the last place, which is what another order of a sum does.
    """
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    if expected.dtype.kind != "f":
        return (found != expected) & (sensitive == 0)
    # XLA takes subnormal numbers for zero.
    allowed = tolerance * scale_of(expected) + sensitive + float(np.finfo(expected.dtype).tiny)
    with np.errstate(all="ignore"):
        near = (found == expected) | (np.abs(found - expected) <= allowed) | (np.isnan(found) & np.isnan(expected))
    return ~(near | np.isinf(sensitive))


def values(rng: np.random.Generator, spec: jax.ShapeDtypeStruct, special: bool) -> np.ndarray:
    """BATCH arrays of a shape and type: with zeros, ties and, if `special`, the numbers that break formulas."""
    shape, dtype = (BATCH, *spec.shape), np.dtype(spec.dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, size=shape).astype(bool)
    if dtype.kind == "f":
        x = np.round(rng.normal(size=shape) * 8) / 8 + rng.choice([0, 1e-3], size=shape) * rng.normal(size=shape)
        if special:
            small = np.finfo(dtype).tiny ** 0.25
            hard = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, small, np.sqrt(np.finfo(dtype).max), -1.0, 2.0])
            x = np.where(rng.random(shape) < 0.5, rng.choice(hard, size=shape), x)
        return x.astype(dtype)
    info = np.iinfo(dtype)
    x = rng.integers(max(-6, info.min), 7, size=shape).astype(dtype)
    hard = np.array([info.min, info.max, 0, info.max // 2, dtype.itemsize * 8], dtype=dtype)
    return np.where(rng.random(shape) < (0.4 if special else 0.1), rng.choice(hard, size=shape), x)


def quantised(x):
    """Floats on a grid, so that what is discontinuous does not depend on the last digit."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    return jax.lax.stop_gradient(jnp.round(jnp.clip(x, -1e4, 1e4) * 16 + 0.3183) / 16)
