"""The compiler takes a product with a factor that it knows to be zero for zero; here it is told to do something else.

IEEE arithmetic gives NaN where the other factor is NaN or infinite. That XLA's result is NaN, or anything else that
native code's is not, is right only where it comes from such a product. So a program that differs is compiled again:
with the products computed it must be as XLA's, and where it differed, it must depend on what these products are.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import jax
import numpy as np

from hybridsim import native
from hybridsim.native import build
from hybridsim.native.scalars import Scalars

_MUL, _DIV = Scalars.mul, Scalars.div


@contextmanager
def zero_products(instead: Callable | None = None) -> Iterator[list]:
    """The list tells whether there were any; `instead` makes another value of the usual and of the computed one."""
    used = []

    def chosen(s: Scalars, op: str, usual: Callable, a: int, b: int, zero: bool) -> int:
        if not zero or not s.g.types[a].is_float or (a in s.g.constants and b in s.g.constants):
            return usual(s, a, b)
        used.append(True)
        return usual(s, a, b) if instead is None else instead(s, s.g.value(op, (a, b), s.g.types[a]))

    def is_zero(s: Scalars, x: int) -> bool:
        return x in s.g.constants and s.g.constants[x] == 0

    def mul(s, a, b):
        return chosen(s, "mul", _MUL, a, b, is_zero(s, a) or is_zero(s, b))

    def div(s, a, b):
        return chosen(s, "div", _DIV, a, b, is_zero(s, a))

    # What is compiled here is not for others, nor from them.
    with (
        patch.object(Scalars, "mul", mul), patch.object(Scalars, "div", div),
        patch.object(build, "read", lambda key: None), patch.object(build, "write", lambda key, data: None),
    ):  # fmt: skip
        yield used


def computed(s: Scalars, product: int) -> int:
    return product


def marked(number: float) -> Callable:
    """A number where the product is NaN."""

    def instead(s: Scalars, product: int) -> int:
        return s.select(s.compare("ne", product, product), s.const(number, s.g.types[product]), product)

    return instead


def run(f: Callable, args, instead: Callable) -> list[np.ndarray]:
    with zero_products(instead):
        return [np.asarray(x) for x in jax.tree.leaves(native.jit(lambda *xs: f(*xs))(*args))]


def dependent(f: Callable, args) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """f with such products computed, and where its results depend on what they are if not finite."""
    exact = run(f, args, computed)
    others = [run(f, args, marked(x)) for x in (1.0, -1.0)]
    masks = [np.any([~_same(x, o[k]) for o in others], axis=0) for k, x in enumerate(exact)]
    return exact, masks


def _same(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x == y) | ((x != x) & (y != y))
