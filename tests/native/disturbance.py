"""How far two ways of running a program may differ: as much as it does when every float in between is disturbed.

What is disturbed are a few units in the last place, as by rounding, and the order of operations where that is left open.
"""

from collections.abc import Callable
from contextlib import contextmanager
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

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


def _disturbing(x) -> bool:
    return _Disturbance.amounts is not None and str(x.dtype) in _UNITS


def _undetermined(f: Callable, where, *xs):
    """f(*xs), which is a matter of chance: disturbances of one kind make it NaN, and others something that is not."""
    amounts, anywhere = _Disturbance.amounts, jnp.any(where)
    other = anywhere & jnp.any(amounts != 0) & (amounts[0] <= 0)
    y = f(*(jnp.where(other, 1, x) for x in xs))
    return y * jnp.where(anywhere & (amounts[0] > 0), jnp.nan, 1.0).astype(y.dtype)


def summed(add: Callable, x):
    """add(x), a sum of some numbers of x in an order that is left open: partial sums may overflow in one but not in another."""
    x = disturbed(x)
    if not _disturbing(x):
        return add(x)
    fixed = jax.lax.stop_gradient(x)
    up, down = jnp.maximum(fixed, 0), jnp.maximum(-fixed, 0)
    most = [jnp.isinf(add(jnp.where(jnp.isfinite(side), side, 0))) for side in (up, down)]
    return _undetermined(add, (most[0] & (add(down) > 0)) | (most[1] & (add(up) > 0)), x)


def contracted(product: Callable, a, b):
    """product(a, b), sums of products of numbers of each."""
    a, b = disturbed(a), disturbed(b)
    if not _disturbing(a):
        return product(a, b)
    sizes = (jnp.where(jnp.isfinite(x), jnp.abs(x), 0) for x in map(jax.lax.stop_gradient, (a, b)))
    return _undetermined(product, jnp.isinf(product(*sizes)), a, b)


def multiplied(multiply: Callable, x):
    """multiply(x), a product of some numbers of x: partial products may overflow or vanish in one order but not in another."""
    if not _disturbing(x):
        return multiply(x)
    size = jnp.abs(jax.lax.stop_gradient(x))
    large = multiply(jnp.where(jnp.isfinite(size), jnp.maximum(size, 1), 1))
    small = multiply(jnp.where(size > 0, jnp.minimum(size, 1), 1))
    zero, infinite = (multiply(jnp.where(found, 0, jnp.ones_like(size))) == 0 for found in (size == 0, jnp.isinf(size)))
    overflows = jnp.isinf(large) & ((small < 1) | zero)
    vanishes = (small < jnp.finfo(x.dtype).tiny) & ((large > 1) | infinite)
    return _undetermined(multiply, overflows | vanishes, x)


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
    """(arguments) -> (results, how much disturbances change them), compiled once; by XLA unless told otherwise."""

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
