"""Scalar arithmetic on a graph: what can be known while compiling is not computed while running.

Folding follows IEEE arithmetic except in one point, the point of the exercise: a factor or numerator that is a
constant zero makes the product zero, whatever the other factor is.
"""

from collections.abc import Callable, Mapping

import numpy as np

from .graph import Graph
from .lengths.affine import Affine, Size
from .types import BOOL, INDEX, Type

_NUMPY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "neg": np.negative, "not": np.invert,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "sqrt": np.sqrt, "abs": np.abs, "floor": np.floor, "ceil": np.ceil, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log1p": np.log1p, "expm1": np.expm1, "tanh": np.tanh,
    "sinh": np.sinh, "cosh": np.cosh, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "pow": np.power, "cbrt": np.cbrt,
}  # fmt: skip


WRITTEN_OUT = 10_000
"""Elementary functions are written out where they are used until they have this many operations together.

LLVM optimises what is written out with all that stands around it, which makes the fastest code, but takes it longer
than in proportion to the size: 1,000 sines in a row took ten times as long to compile as 300. No program of
the engine comes near this limit. Beyond it each function is compiled once, and called.
"""


class Scalars:
    """Operations on values of one graph; each returns a value."""

    def __init__(self, graph: Graph, functions: Mapping[str, Callable[..., int]] | None = None):
        self.g = graph
        self.functions = functions or {}
        """Operations that are made of simpler ones; others the C library computes."""
        self.written_out = 0
        self._indices: dict[int, int] = {}

    def const(self, value, type: Type) -> int:
        return self.g.constant(value, type)

    def index(self, value: int | np.integer | Affine) -> int:
        """A number of the program's text, which JAX also keeps as NumPy's integers, or a size, as a place of an array."""
        if isinstance(value, Affine):
            return self._size(value)
        value = int(value)
        found = self._indices.get(value)
        if found is None:
            found = self._indices[value] = self.g.constant(value, INDEX)
        return found

    def _size(self, size: Affine) -> int:
        """A size that depends on lengths."""
        assert self.g.lengths is not None
        total = self.index(size.constant)
        for k, factor in size.factors:
            length = self.cast(self.g.load(self.g.lengths, self.index(k)), INDEX)
            total = self.add(self.mul(length, self.index(factor)), total)
        return total

    def _known(self, *values: int):
        c = self.g.constants
        return [c[v] for v in values] if all(v in c for v in values) else None

    def op(self, name: str, *args: int, type: Type | None = None) -> int:
        """An operation without special rules beyond folding constants."""
        type = type or self.g.types[args[0]]
        fold = _NUMPY.get(name)
        if fold is not None and (known := self._known(*args)) is not None:
            with np.errstate(all="ignore"):
                return self.g.constant(fold(*known), type)
        if type.is_float and name in self.functions:
            return self._function(name, args, type)
        return self.g.value(name, args, type)

    def _function(self, name: str, args: tuple[int, ...], type: Type) -> int:
        """Written out, or called where there is too much of that."""
        key = ("function", name, *args)
        found = self.g.remembered(key)
        if found is not None:
            return found
        if self.written_out > WRITTEN_OUT:
            return self.g.value(f"call {name}", args, type)
        before = len(self.g.ops)
        result = self.functions[name](self, *args)
        self.written_out += len(self.g.ops) - before
        self.g.remember(key, result)
        return result

    def add(self, a: int, b: int) -> int:
        c = self.g.constants
        if a in c and c[a] == 0:
            return b
        if b in c and c[b] == 0:
            return a
        if a in c and b in c:
            return self.op("add", a, b)
        if a == b and self.g.types[a].is_float:
            return self.mul(self.const(2, self.g.types[a]), a)
        ops, args = self.g.ops, self.g.args
        if ops[b] == "neg":
            return self.sub(a, args[b][0])
        if ops[a] == "neg":
            return self.sub(b, args[a][0])
        return self.g.value("add", (a, b), self.g.types[a])

    def total(self, terms: list[int], type: Type) -> int:
        """The sum of all terms: what is known last is added last. Many are summed in halves, for a small error."""
        c = self.g.constants
        terms = [t for t in terms if not (t in c and c[t] == 0)]
        if not terms:
            return self.const(0, type)
        g, here = self.g, self.g.current
        return self._total(sorted(terms, key=lambda t: g.arrival[t] if g.regions[t] is here else 0))

    def _total(self, terms: list[int]) -> int:
        if len(terms) > 8:
            middle = (len(terms) + 1) // 2
            return self.add(self._total(terms[:middle]), self._total(terms[middle:]))
        total = terms[0]
        for t in terms[1:]:
            total = self.add(total, t)
        return total

    def sub(self, a: int, b: int) -> int:
        c = self.g.constants
        if b in c and c[b] == 0:
            return a
        if a in c and b in c:
            return self.op("sub", a, b)
        if a in c and c[a] == 0:
            return self.neg(b)
        if self.g.ops[b] == "neg":
            return self.add(a, self.g.args[b][0])
        return self.g.value("sub", (a, b), self.g.types[a])

    def neg(self, a: int) -> int:
        if self.g.ops[a] == "neg":
            return self.g.args[a][0]
        if self.g.ops[a] == "sub":
            return self.g.value("sub", (self.g.args[a][1], self.g.args[a][0]), self.g.types[a])
        return self.op("neg", a)

    def mul(self, a: int, b: int) -> int:
        c = self.g.constants
        if b in c:
            a, b = b, a
        if a in c:
            if b in c:
                return self.op("mul", a, b)
            k = c[a]
            if k == 0:
                return a
            if k == 1:
                return b
            if k == -1 and self.g.types[a].kind != "u":
                return self.neg(b)
        ops, args = self.g.ops, self.g.args
        # Signs move outwards, so that products which differ in sign only are one product.
        if ops[a] == "neg":
            return self.neg(self.mul(args[a][0], b))
        if ops[b] == "neg":
            return self.neg(self.mul(a, args[b][0]))
        return self.g.value("mul", (a, b), self.g.types[a])

    def div(self, a: int, b: int) -> int:
        c, type = self.g.constants, self.g.types[a]
        if not type.is_float:
            return self.integer_div(a, b)
        if a in c and b in c:
            with np.errstate(all="ignore"):
                return self.const(np.divide(c[a], c[b]), type)
        if b in c:
            k = c[b]
            if k == 1:
                return a
            if k == -1:
                return self.neg(a)
            mantissa, _ = np.frexp(k)
            if abs(mantissa) == 0.5 and np.isfinite(np.divide(1, k)):  # a power of two: its inverse is exact
                return self.mul(a, self.const(np.divide(1, k), type))
        if a in c and c[a] == 0:
            return a
        ops, args = self.g.ops, self.g.args
        if ops[a] == "neg":
            return self.neg(self.div(args[a][0], b))
        if ops[b] == "neg":
            return self.neg(self.div(a, args[b][0]))
        return self.g.value("div", (a, b), type)

    def integer_div(self, a: int, b: int) -> int:
        """As XLA: towards zero, x / 0 = -1, the most negative number by -1 is itself."""
        known, type = self._known(a, b), self.g.types[a]
        if known is not None and known[1] != 0:
            x, y = int(known[0]), int(known[1])
            return self.const(np.array(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)).astype(type.dtype), type)
        if b in self.g.constants and self.g.constants[b] == 1:
            return a
        return self.g.value("idiv", (a, b), type)

    def rem(self, a: int, b: int) -> int:
        """The sign of the dividend, as C and XLA; integer x rem 0 = x."""
        known, type = self._known(a, b), self.g.types[a]
        if known is not None and known[1] != 0:
            with np.errstate(all="ignore"):
                return self.const(np.fmod(known[0], known[1]), type)
        return self.g.value("rem", (a, b), type)

    def select(self, condition: int, if_true: int, if_false: int) -> int:
        if condition in self.g.constants:
            return if_true if self.g.constants[condition] else if_false
        if if_true == if_false:
            return if_true
        if self.g.ops[condition] == "not":
            return self.select(self.g.args[condition][0], if_false, if_true)
        return self.g.value("select", (condition, if_true, if_false), self.g.types[if_true])

    def compare(self, name: str, a: int, b: int) -> int:
        if a == b and not self.g.types[a].is_float:
            return self.const(name in ("eq", "le", "ge"), BOOL)
        if name in ("gt", "ge"):
            name, a, b = {"gt": "lt", "ge": "le"}[name], b, a
        return self.op(name, a, b, type=BOOL)

    def cast(self, a: int, type: Type) -> int:
        source = self.g.types[a]
        if source == type:
            return a
        if a in self.g.constants:
            with np.errstate(all="ignore"):
                return self.const(np.asarray(self.g.constants[a]).astype(type.dtype), type)
        return self.g.value("cast", (a,), type)

    def clamp_index(self, a: int, low: int, high: Size) -> int:
        """An index of any integer type, as INDEX, between low and high."""
        type = self.g.types[a]
        if type.kind == "u":  # the largest would become negative
            largest = np.iinfo(INDEX.dtype).max if isinstance(high, Affine) else max(high, 0)
            a = self.op("min", a, self.const(min(largest, np.iinfo(type.dtype).max), type))
        a = self.cast(a, INDEX)
        return self.op("min", self.op("max", a, self.index(low)), self.index(high))
