"""Products with a factor that the compiler knows to be zero: it takes them for zero, whatever the other factor is.

IEEE arithmetic, and XLA with it, gives NaN where the other factor is NaN or infinite, and a negative zero where it is
negative. So where a program has such products, its results may differ from XLA's, and nothing but these products may
be the reason. Two variants of the program tell: `computed` has the products of IEEE arithmetic, `hidden` has zeros for
them which the compiler does not know. The first must agree with XLA, the second with the program as it is.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from unittest.mock import patch

import jax
import numpy as np

from hybridsim import native
from hybridsim.native import build
from hybridsim.native.arrays import Arrays, Small, Stored
from hybridsim.native.graph import Buffer, Graph
from hybridsim.native.rules import dot, elementwise
from hybridsim.native.scalars import Scalars
from hybridsim.native.types import BOOL

SIMPLE = ("op", "add", "sub", "neg", "select", "compare", "cast", "integer_div", "rem")
"""Methods of Scalars beside products."""


@contextmanager
def replaced(*changes: tuple[object, str, Callable]) -> Iterator[None]:
    """Parts of the compiler are others; what is compiled here is not for others, nor from them."""
    apart = ((build, "read", lambda key: None), (build, "write", lambda key, data: None))
    with ExitStack() as stack:
        for owner, name, value in (*changes, *apart):
            stack.enter_context(patch.object(owner, name, value))
        yield


def products(instead: Callable[..., int], known: Callable[[Scalars, int], int]) -> list[tuple[object, str, Callable]]:
    """`instead(s, op, a, b, zero, usual)` makes the products whose value is `zero`; others are as usual."""

    def zero_of(s: Scalars, values: tuple[int, ...]) -> int | None:
        return next((v for v in values if v in s.g.constants and s.g.constants[v] == 0), None)

    def changed(op: str, factors: int) -> tuple[object, str, Callable]:
        usual = getattr(Scalars, op)

        def method(s: Scalars, a: int, b: int) -> int:
            taken = known(s, a), known(s, b)
            if not s.g.types[a].is_float or (a in s.g.constants and b in s.g.constants):
                return usual(s, a, b)
            if all(v in s.g.constants for v in taken):  # of two constants the product is IEEE arithmetic's
                return s.g.value(op, (a, b), s.g.types[a])
            zero = zero_of(s, taken[:factors])
            return usual(s, a, b) if zero is None else instead(s, op, a, b, zero, usual)

        return Scalars, op, method

    return [changed("mul", 2), changed("div", 1)]


@contextmanager
def watched() -> Iterator[list]:
    """The compiler as it is; the list tells whether there were such products."""
    used = []

    def noted(s: Scalars, op: str, a: int, b: int, zero: int, usual: Callable) -> int:
        used.append(True)
        return usual(s, a, b)

    with replaced(*products(noted, lambda s, value: value)):
        yield used


@contextmanager
def computed() -> Iterator[None]:
    """As IEEE arithmetic has them."""

    def product(s: Scalars, op: str, a: int, b: int, zero: int, usual: Callable) -> int:
        return s.g.value(op, (a, b), s.g.types[a])

    with replaced(*products(product, lambda s, value: value)):
        yield


@contextmanager
def hidden() -> Iterator[None]:
    """Zeros that are not known. What the compiler would take each value for is kept beside it, for the products of these."""
    taken: dict[Graph, dict[int, int]] = defaultdict(dict)
    tables: dict[Buffer, list[int]] = {}

    def known(s: Scalars, value):
        return taken[s.g].get(value, value) if isinstance(value, int | np.integer) else value

    def zero_instead(s: Scalars, op: str, a: int, b: int, zero: int, usual: Callable) -> int:
        factor = a if known(s, a) == zero else b
        is_zero = s.g.value("eq", (factor, zero), BOOL)  # which it is not where the compiler is mistaken
        made = s.g.value("select", (is_zero, zero, s.g.value(op, (a, b), s.g.types[a])), s.g.types[a])
        taken[s.g][made] = zero
        return made

    def beside(name: str, method: Callable) -> tuple[object, str, Callable]:
        usual = getattr(Scalars, name)

        def both(s: Scalars, *args, **options) -> int:
            made, instead = method(s, *args, **options), [known(s, x) for x in args]
            new = made not in taken[s.g] and made not in s.g.constants
            if new and any(x != y for x, y in zip(args, instead, strict=True)):
                found = usual(s, *instead, **options)
                if found != made:
                    taken[s.g][made] = found
            return made

        return Scalars, name, both

    at, store, load = Arrays.at, Arrays._store_small, Graph.load
    needed, unknown = dot._multiplications, elementwise._unknown

    def ids_of(s: Scalars, ids: np.ndarray) -> np.ndarray:
        return np.array([known(s, v) for v in ids.ravel().tolist()], dtype=np.int64).reshape(ids.shape)

    def entry(arrays: Arrays, x, indices) -> int:
        """Where all entries are one constant, an unknown place has it too."""
        made = at(arrays, x, indices)
        if isinstance(x, Small) and x.ids.size and len(values := np.unique(ids_of(arrays.s, x.ids))) == 1:
            if (value := int(values[0])) != made and value in arrays.g.constants:
                taken[arrays.g][made] = value
        return made

    def stored(arrays: Arrays, x: Small) -> Stored:
        """A table of constants is one in memory, too."""
        out, ids = store(arrays, x), ids_of(arrays.s, x.ids).ravel().tolist()
        if all(v in arrays.g.constants for v in ids):
            tables[out.buffer] = ids
        return out

    def loaded(g: Graph, buffer: Buffer, place: int) -> int:
        made, where = load(g, buffer, place), taken[g].get(place, place)
        if buffer in tables and where in g.constants and (value := tables[buffer][int(g.constants[where])]) != made:
            taken[g][made] = value
        return made

    with replaced(
        *(beside(name, method) for _, name, method in products(zero_instead, known)),
        *(beside(name, getattr(Scalars, name)) for name in SIMPLE),
        (Arrays, "at", entry),
        (Arrays, "_store_small", stored),
        (Graph, "load", loaded),
        (dot, "_multiplications", lambda low, *tables: needed(low, *(ids_of(low.s, ids) for ids in tables))),
        (elementwise, "_unknown", lambda low, x: unknown(low, replace(x, ids=ids_of(low.s, x.ids)))),
    ):
        yield


def run(f: Callable, args) -> list[np.ndarray]:
    """By native code that is made now."""
    return [np.asarray(x) for x in jax.tree.leaves(native.jit(lambda *xs: f(*xs))(*args))]
