"""Formulas on the scalar graph, written with operators.

A term is a value of the graph together with the arithmetic of that graph. Numbers in a formula become constants of
the type of the term that they meet.
"""

from collections.abc import Callable, Sequence

from ..scalars import Scalars
from ..types import F64, INDEX, Type

SHIFT = 1.5 * 2.0**52
"""Adding it to a float rounds that to an integer, which then lies in the low bits."""

BIAS = 1023
"""What is added to an exponent where it is stored, in the bits from 52 on."""

ONE = BIAS << 52
"""The bits of 1.0."""

SIGN = -(2**63)
"""The bit of the sign."""


class Term:
    """A value: a float64, an int64 or a truth value."""

    __slots__ = ("id", "s")

    def __init__(self, scalars: Scalars, id: int):
        self.s = scalars
        self.id = id

    @property
    def type(self) -> Type:
        return self.s.g.types[self.id]

    def like(self, other: "Term | float | int") -> int:
        return other.id if isinstance(other, Term) else self.s.const(other, self.type)

    def constant(self, value: float | int) -> "Term":
        return Term(self.s, self.s.const(value, self.type))

    def new(self, op: str, *others: "Term | float | int", type: Type | None = None) -> "Term":
        return Term(self.s, self.s.op(op, self.id, *(self.like(o) for o in others), type=type))

    def __add__(self, other: "Term | float | int") -> "Term":
        return Term(self.s, self.s.add(self.id, self.like(other)))

    def __sub__(self, other: "Term | float | int") -> "Term":
        return Term(self.s, self.s.sub(self.id, self.like(other)))

    def __rsub__(self, other: float | int) -> "Term":
        return Term(self.s, self.s.sub(self.like(other), self.id))

    def __mul__(self, other: "Term | float | int") -> "Term":
        return Term(self.s, self.s.mul(self.id, self.like(other)))

    def __truediv__(self, other: "Term | float | int") -> "Term":
        return Term(self.s, self.s.div(self.id, self.like(other)))

    def __rtruediv__(self, other: float | int) -> "Term":
        return Term(self.s, self.s.div(self.like(other), self.id))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> "Term":
        return Term(self.s, self.s.neg(self.id))

    def __abs__(self) -> "Term":
        return self.new("abs")

    def __lt__(self, other: "Term | float | int") -> "Term":
        return Term(self.s, self.s.compare("lt", self.id, self.like(other)))

    def __le__(self, other: "Term | float | int") -> "Term":
        return Term(self.s, self.s.compare("le", self.id, self.like(other)))

    def __gt__(self, other: "Term | float | int") -> "Term":
        return Term(self.s, self.s.compare("gt", self.id, self.like(other)))

    def __ge__(self, other: "Term | float | int") -> "Term":
        return Term(self.s, self.s.compare("ge", self.id, self.like(other)))

    def equals(self, other: "Term | float | int") -> "Term":
        return Term(self.s, self.s.compare("eq", self.id, self.like(other)))

    def __and__(self, other: "Term | float | int") -> "Term":
        return self.new("and", other)

    def __or__(self, other: "Term | float | int") -> "Term":
        return self.new("or", other)

    def __xor__(self, other: "Term | float | int") -> "Term":
        return self.new("xor", other)

    def __invert__(self) -> "Term":
        return self.new("not")

    def __lshift__(self, places: int) -> "Term":
        return self.new("shl", places)

    def __rshift__(self, places: int) -> "Term":
        """Zeros come in from the left."""
        return self.new("lshr", places)


def remembered(function: Callable[..., tuple[Term, ...]]) -> Callable[..., tuple[Term, ...]]:
    """Written out once for each argument: the values would be the same, but finding that out takes its time."""

    def found_or_made(*args: Term) -> tuple[Term, ...]:
        s = args[0].s
        key = (function.__module__, function.__name__, *(a.id for a in args))
        if (ids := s.g.remembered(key)) is not None:
            return tuple(Term(s, id) for id in ids)
        results = function(*args)
        s.g.remember(key, tuple(r.id for r in results))
        return results

    return found_or_made


def fma(a: Term, b: Term | float | int, c: Term | float | int) -> Term:
    """a b + c, rounded once."""
    return Term(a.s, a.s.g.value("fma", (a.id, a.like(b), a.like(c)), a.type))


def where(condition: Term, if_true: Term | float | int, if_false: Term | float | int) -> Term:
    """Numbers are floats here."""
    s = condition.s
    yes, no = (x.id if isinstance(x, Term) else s.const(x, F64) for x in (if_true, if_false))
    return Term(s, s.select(condition.id, yes, no))


def sqrt(x: Term) -> Term:
    return x.new("sqrt")


def copysign(size: Term, sign: Term) -> Term:
    return size.new("copysign", sign)


def bits(x: Term) -> Term:
    """The 64 bits of a float as an integer, and back."""
    return x.new("bits", type=F64 if x.type == INDEX else INDEX)


def flipped(x: Term, sign: Term) -> Term:
    """x with its sign changed where the first bit of `sign` is set."""
    return bits(bits(x) ^ (sign & SIGN))


def negative(sign: Term) -> Term:
    """Whether the first bit is set, as a comparison of floats: for those processors choose without a jump."""
    return bits((sign & SIGN) | ONE) < 0.0


def power_of_two(shifted: Term) -> Term:
    """2^n of SHIFT + BIAS + n, for -1023 < n < 1024."""
    return bits(bits(shifted) << 52)


def rarely(name: str, condition: Term, usual: Term, *args: Term) -> Term:
    """The C library's function where the condition holds, which should be almost nowhere: the call is behind a branch."""
    ids = (condition.id, usual.id, *(a.id for a in args))
    return Term(usual.s, usual.s.g.value(f"rarely {name}", ids, usual.type))


def polynomial(x: Term, coefficients: Sequence[float], first: int = 0) -> Term:
    """c0 + c1 x + c2 x^2 + ..., by Estrin's scheme: pairs, then pairs of pairs, so that the chain is short.

    That rounds the sum once for each level. With the `first` coefficients added one after the other, as Horner's
    scheme does, it is rounded once, and the chain is longer by as many operations.
    """
    terms: list[Term | float] = list(coefficients[first:])
    power = x
    while len(terms) > 1:
        pairs: list[Term | float] = [fma(power, high, low) for low, high in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(pairs) * 2 :]
        power = power * power
    total = terms[0]
    for c in reversed(coefficients[:first]):
        total = fma(x, total, c)
    assert isinstance(total, Term)
    return total
