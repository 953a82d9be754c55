"""Random JAX programs.

A program is a list of steps over a growing pool of arrays. Loops and branches hold programs of their own.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from .disturbance import disturbed

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
