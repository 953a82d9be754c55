"""Derivatives three ways: forward mode, reverse mode and central differences, one leaf of the arguments at a time."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

# Most of the time would go into optimising programs that run a few times.
QUICK = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
}

# Of reverse against forward mode: both are exact, so only rounding is left.
MODES = 1e-10
# Of central differences: Richardson's extrapolation with this step is exact to about 1e-9.
DIFFERENCES = 1e-7
STEP = 1e-3


class Leaf(NamedTuple):
    """What was found for one leaf, along one random direction."""

    slope: float
    """Size of the derivative."""
    modes: float
    """Forward against reverse mode, relative."""
    differences: float
    """Forward mode against central differences, relative."""


class Derivatives:
    """A function of named arguments, compiled once in forward and once in reverse mode."""

    def __init__(self, function: Callable):
        def flat(arguments: dict):
            return jnp.concatenate([jnp.ravel(x) for x in jax.tree.leaves(function(**arguments))])

        self.forward = jax.jit(lambda x, dx: jax.jvp(flat, (x,), (dx,)), compiler_options=QUICK)
        self.reverse = jax.jit(lambda x, dy: jax.vjp(flat, x)[1](dy)[0], compiler_options=QUICK)

    def check(self, arguments: dict, without: tuple[str, ...] = ()) -> dict[str, Leaf]:
        """Of every leaf by its name, except those whose name starts with one of `without`."""
        arguments = jax.tree.map(jnp.asarray, arguments)
        rng = np.random.default_rng(0)
        still = jax.tree.map(jnp.zeros_like, arguments)
        value, _ = self.forward(arguments, still)
        weights = rng.normal(size=value.shape)
        pulled = leaves(self.reverse(arguments, weights))
        slopes, errors = {}, {}
        for name, leaf in leaves(arguments).items():
            direction = rng.normal(size=leaf.shape) * _size(leaf)
            if name.startswith(without) or not leaf.size:
                continue
            _, slope = self.forward(arguments, _with_leaf(still, name, direction))
            modes = abs(float(weights @ slope) - float(np.sum(pulled[name] * direction))) / np.linalg.norm(weights)
            slopes[name] = float(jnp.linalg.norm(slope))
            errors[name] = (modes, np.linalg.norm(self._error(arguments, name, direction, value, slope)))
        # A slope so small beside the largest is the rounding of a zero, and so may its errors be.
        zero = 1e-13 * max(slopes.values())

        def relative(size: float, error: float) -> float:
            return error / size if size > zero else max(error / zero - 1, 0.0)

        return {
            name: Leaf(size if size > zero else 0.0, *(relative(size, float(error)) for error in errors[name]))
            for name, size in slopes.items()
        }

    def zeros(self, arguments: dict, names: tuple[str, ...]) -> dict[str, float]:
        """The largest entry of the derivative with respect to leaves that should have no influence."""
        arguments = jax.tree.map(jnp.asarray, arguments)
        value, _ = self.forward(arguments, jax.tree.map(jnp.zeros_like, arguments))
        pulled = leaves(self.reverse(arguments, np.random.default_rng(0).normal(size=value.shape)))
        return {name: float(np.abs(x).max()) for name, x in pulled.items() if name.startswith(names) and x.size}

    def _error(self, arguments: dict, name: str, direction, value, slope) -> np.ndarray:
        """Slope minus central differences, less what rounding of the values alone explains."""
        still = jax.tree.map(jnp.zeros_like, arguments)

        def central(h):
            moved = (_with_leaf(arguments, name, leaves(arguments)[name] + s * h * direction) for s in (1, -1))
            ahead, behind = (np.asarray(self.forward(x, still)[0]) for x in moved)
            return (ahead - behind) / (2 * h)

        error = np.abs(slope - (4 * central(STEP / 2) - central(STEP)) / 3)
        return np.maximum(error - 8 * np.finfo(float).eps * np.abs(value) / STEP, 0.0)


def leaves(tree) -> dict[str, jax.Array]:
    """By name, such as model/links/mass."""
    named = jax.tree_util.tree_leaves_with_path(tree)
    return {jax.tree_util.keystr(path, simple=True, separator="/"): leaf for path, leaf in named}


def assert_agree(found: dict[str, Leaf], silent: tuple[str, ...] = ()) -> None:
    """All leaves agree; and each has some influence, except those named in `silent`."""
    wrong = {name: leaf for name, leaf in found.items() if not (leaf.modes < MODES and leaf.differences < DIFFERENCES)}
    assert not wrong, wrong
    dead = [name for name, leaf in found.items() if leaf.slope == 0 and not name.startswith(silent)]
    assert not dead, f"no influence: {dead}"


def _with_leaf(tree, name: str, value):
    named, structure = leaves(tree), jax.tree.structure(tree)
    return jax.tree.unflatten(structure, [value if other == name else leaf for other, leaf in named.items()])


def _size(leaf) -> float:
    """How far to move a leaf: with its own size, but not so far that a mechanism becomes another one."""
    finite = np.abs(np.asarray(leaf)[np.isfinite(leaf)])
    return min(float(finite.max(initial=0.0)) or 0.3, 0.3)
