"""One number in, one number out, at every place."""

import numpy as np

from ..arrays import SMALL, Lazy, Small, in_memory, memories_read, size_of
from ..functions import FUNCTIONS
from ..scalars import Scalars
from ..types import BOOL, type_of

WRITE_OUT = 64
"""Of more numbers than this, elementary functions are computed in memory."""


def elementwise(function):
    """A rule from a function of (scalars, equation, values)."""

    def rule(low, eqn, *xs):
        aval = eqn.outvars[0].aval
        type = type_of(aval.dtype)
        s = low.s
        if (
            size_of(aval.shape) <= SMALL
            and any(isinstance(x, Small) and x.shape == aval.shape for x in xs)
            and not any(in_memory(x) for x in xs)
        ):
            tables = [np.broadcast_to(low.a.small(x).ids, aval.shape).ravel().tolist() for x in xs]
            out = [function(s, eqn, *values) for values in zip(*tables, strict=True)]
            return [Small(np.array(out, dtype=np.int64).reshape(aval.shape), type)]

        def entry(x, indices):
            if x.shape == aval.shape:
                return low.a.at(x, indices)
            # Axes of length one, and scalars, stand for all places.
            own = indices[len(indices) - len(x.shape) :]
            return low.a.at(x, tuple(s.index(0) if n == 1 else i for n, i in zip(x.shape, own, strict=True)))

        def element(indices):
            return function(s, eqn, *(entry(x, indices) for x in xs))

        if any(in_memory(x) for x in xs):
            return [Lazy(aval.shape, type, element, cheap=False, reads=memories_read(xs))]
        return [low.result(aval.shape, type, element, xs)]

    return rule


def simple(name):
    rule = elementwise(lambda s, eqn, *values: s.op(name, *values))
    return in_loops(rule) if name in FUNCTIONS else rule


def in_loops(rule):
    """Elementary functions are dozens of operations each: of many numbers they are computed in a loop."""

    def written_out_or_not(low, eqn, *xs):
        many = not low.a.straight and any(isinstance(x, Small) and _unknown(low, x) > WRITE_OUT for x in xs)
        return rule(low, eqn, *(low.a.stored(x) if many and x.shape else x for x in xs))

    return written_out_or_not


def _unknown(low, x: Small) -> int:
    """How many different values that are not constants there are."""
    return sum(i not in low.g.constants for i in set(x.ids.ravel().tolist()))


def compared(name):
    return elementwise(lambda s, eqn, a, b: s.compare(name, a, b))


def _integer_pow(s: Scalars, eqn, x):
    y = eqn.params["y"]
    if y == 0:
        return s.const(1, s.g.types[x])
    one = s.const(1, s.g.types[x])
    power, square, n = one, x, abs(y)
    while n:
        if n & 1:
            power = s.mul(power, square)
        n >>= 1
        if n:
            square = s.mul(square, square)
    return power if y > 0 else s.div(one, power)


def _sign(s: Scalars, eqn, x):
    type = s.g.types[x]
    zero, one = s.const(0, type), s.const(1, type)
    if type.kind in "ub":
        return s.select(s.compare("eq", x, zero), zero, one)
    positive = s.select(s.compare("lt", zero, x), one, x if type.is_float else zero)
    return s.select(s.compare("lt", x, zero), s.const(-1, type), positive)


def _is_finite(s: Scalars, eqn, x):
    return s.compare("lt", s.op("abs", x), s.const(np.inf, s.g.types[x]))


def _convert(s: Scalars, eqn, x):
    target = type_of(eqn.outvars[0].aval.dtype)
    if target is BOOL or target == BOOL:
        return s.compare("ne", x, s.const(0, s.g.types[x])) if s.g.types[x] != BOOL else x
    return s.cast(x, target)


def _clamp(s: Scalars, eqn, low, x, high):
    return s.op("min", s.op("max", x, low), high)


def _select_n(s: Scalars, eqn, which, *cases):
    if len(cases) == 1:
        return cases[0]
    if s.g.types[which] == BOOL:
        return s.select(which, cases[1], cases[0])
    out = cases[-1]
    for i in reversed(range(len(cases) - 1)):
        out = s.select(s.compare("le", which, s.const(i, s.g.types[which])), cases[i], out)
    return out


def _rsqrt(s, eqn, x):
    return s.div(s.const(1, s.g.types[x]), s.op("sqrt", x))


def _round(s: Scalars, eqn, x):
    # 0: away from zero at halves; 1: to even.
    return s.op("rint" if int(eqn.params["rounding_method"]) == 1 else "round", x)


def _not(s, eqn, x):
    return s.op("not", x)


def _bits(s: Scalars, x: int) -> int:
    """A float's bits as a signed integer."""
    integer = type_of(f"int{s.g.types[x].bits}")
    if s.g.is_constant(x):
        return s.const(s.g.constants[x].view(integer.dtype), integer)
    return s.g.value("bits", (x,), integer)


def _from_bits(s: Scalars, x: int, type) -> int:
    """The number of a type that has the bits of x."""
    if s.g.types[x] == type:
        return x
    if s.g.is_constant(x):
        return s.const(s.g.constants[x].view(type.dtype), type)
    return s.g.value("bits", (x,), type)


def _reduce_precision(s: Scalars, eqn, x):
    """Rounded to fewer bits, halves to even; what is too large or small for the exponent becomes infinite or zero."""
    exponent_bits, mantissa_bits = eqn.params["exponent_bits"], eqn.params["mantissa_bits"]
    type = s.g.types[x]
    info = np.finfo(type.dtype)
    bits, integer = _bits(s, x), type_of(f"int{type.bits}")
    if (dropped := info.nmant - mantissa_bits) > 0:
        odd = s.op("and", s.op("lshr", bits, s.const(dropped, integer)), s.const(1, integer))
        bits = s.add(s.add(bits, s.const((1 << (dropped - 1)) - 1, integer)), odd)
        bits = s.op("and", bits, s.const(-(1 << dropped), integer))
    out = _from_bits(s, bits, type)
    if exponent_bits < info.nexp:
        bias = (1 << (exponent_bits - 1)) - 1
        size = s.op("abs", out)
        zero = s.mul(out, s.const(0.5, type))  # keeps its sign below
        zero = s.op("copysign", s.const(0, type), zero)
        infinite = s.op("copysign", s.const(np.inf, type), out)
        too_large = s.compare("lt", s.const((2 - 2.0**-info.nmant) * 2.0**bias, type), size)
        out = s.select(
            s.compare("lt", size, s.const(2.0 ** (1 - bias), type)), zero, s.select(too_large, infinite, out)
        )
    return s.select(s.compare("ne", x, x), x, out)


def _next_after(s: Scalars, eqn, x, y):
    """The float beside x on the side of y: floats of one sign are ordered as their bits."""
    type = s.g.types[x]
    integer = type_of(f"int{type.bits}")
    one, zero = s.const(1, integer), s.const(0, type)
    away = s.compare("eq", s.compare("lt", x, y), s.compare("lt", zero, x))
    stepped = _from_bits(s, s.add(_bits(s, x), s.select(away, one, s.const(-1, integer))), type)
    smallest = s.op("copysign", s.const(np.finfo(type.dtype).smallest_subnormal, type), y)
    moved = s.select(s.compare("eq", x, zero), smallest, stepped)
    nan = s.op("or", s.compare("ne", x, x), s.compare("ne", y, y))
    return s.select(nan, s.add(x, y), s.select(s.compare("eq", x, y), y, moved))


def _leading_zeros(s: Scalars, eqn, x):
    """All bits below the highest are set, then the others are counted."""
    type = s.g.types[x]
    shift = 1
    while shift < type.bits:
        x = s.op("or", x, s.op("lshr", x, s.const(shift, type)))
        shift *= 2
    return s.op("popcount", s.op("not", x))


ELEMENTWISE = {
    "add": elementwise(lambda s, eqn, a, b: s.op("or", a, b) if s.g.types[a] == BOOL else s.add(a, b)),
    "add_any": elementwise(lambda s, eqn, a, b: s.add(a, b)),
    "sub": elementwise(lambda s, eqn, a, b: s.sub(a, b)),
    "mul": elementwise(lambda s, eqn, a, b: s.op("and", a, b) if s.g.types[a] == BOOL else s.mul(a, b)),
    "div": elementwise(lambda s, eqn, a, b: s.div(a, b)),
    "rem": elementwise(lambda s, eqn, a, b: s.rem(a, b)),
    "neg": elementwise(lambda s, eqn, a: s.neg(a)),
    "square": elementwise(lambda s, eqn, a: s.mul(a, a)),
    "integer_pow": elementwise(_integer_pow),
    "sign": elementwise(_sign),
    "is_finite": elementwise(_is_finite),
    "convert_element_type": elementwise(_convert),
    "clamp": elementwise(_clamp),
    "select_n": elementwise(_select_n),
    "rsqrt": elementwise(_rsqrt),
    "round": elementwise(_round),
    "not": elementwise(_not),
    # The exponent may be an integer.
    "pow": in_loops(elementwise(lambda s, eqn, a, b: s.op("pow", a, s.cast(b, s.g.types[a])))),
    "stop_gradient": elementwise(lambda s, eqn, a: a),
    "name": elementwise(lambda s, eqn, a: a),
    "copy": elementwise(lambda s, eqn, a: a),
    "copy_p": elementwise(lambda s, eqn, a: a),
    "reduce_precision": elementwise(_reduce_precision),
    "nextafter": elementwise(_next_after),
    "clz": elementwise(_leading_zeros),
    "random_clone": elementwise(lambda s, eqn, a: a),
}


def _shift(name):
    """As XLA: shifting by the width or more leaves nothing, or the sign."""

    def function(s: Scalars, eqn, x, n):
        type = s.g.types[x]
        width = s.const(type.bits, type)
        unsigned_small = s.op("and", s.compare("le", s.const(0, type), n), s.compare("lt", n, width))
        if name == "ashr":
            last = s.const(type.bits - 1, type)
            return s.op("ashr", x, s.select(unsigned_small, n, last))
        return s.select(unsigned_small, s.op(name, x, s.select(unsigned_small, n, s.const(0, type))), s.const(0, type))

    return elementwise(function)


def _bitcast(low, eqn, x):
    """The same bits as another type; a wider type joins the numbers of the last axis, a narrower one makes a new axis."""
    s, aval = low.s, eqn.outvars[0].aval
    source, target = x.type, type_of(aval.dtype)
    if source.bits == target.bits:
        return same_bits(low, eqn, x)
    narrow, wide = (type_of(f"uint{bits}") for bits in sorted((source.bits, target.bits)))
    count = wide.bits // narrow.bits
    as_integer = type_of(f"uint{source.bits}")

    def bits(indices):
        value = low.a.at(x, indices)
        return value if source == as_integer else _from_bits(s, value, as_integer)

    def split(indices):
        shift = s.mul(s.cast(indices[-1], wide), s.const(narrow.bits, wide))
        return s.cast(s.op("lshr", bits(indices[:-1]), shift), narrow)

    def joined(indices):
        total = s.const(0, wide)
        for k in range(count):
            part = s.cast(bits((*indices, s.index(k))), wide)
            total = s.op("or", total, s.op("shl", part, s.const(k * narrow.bits, wide)))
        return total

    element = split if target.bits < source.bits else joined
    return [low.result(aval.shape, target, lambda indices: _from_bits(s, element(indices), target), (x,))]


@elementwise
def same_bits(s: Scalars, eqn, x):
    return _from_bits(s, x, type_of(eqn.outvars[0].aval.dtype))


def _total_order(name):
    """Comparison in which NaN is the largest number and -0 is below 0."""

    def function(s: Scalars, eqn, a, b):
        type = s.g.types[a]
        if not type.is_float:
            return s.compare(name, a, b)
        integer = type_of(f"int{type.bits}")
        keys = []
        for x in (a, b):
            bits = _bits(s, x)
            # Negative numbers have their order reversed.
            flipped = s.op("xor", bits, s.const(np.iinfo(integer.dtype).max, integer))
            keys.append(s.select(s.compare("lt", bits, s.const(0, integer)), flipped, bits))
        return s.compare(name, *keys)

    return elementwise(function)


ELEMENTWISE |= {
    "lt_to": _total_order("lt"),
    "le_to": _total_order("le"),
    "eq_to": _total_order("eq"),
    "shift_left": _shift("shl"),
    "shift_right_logical": _shift("lshr"),
    "shift_right_arithmetic": _shift("ashr"),
    "bitcast_convert_type": _bitcast,
    "population_count": simple("popcount"),
    "lgamma": simple("lgamma"),
}
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    ELEMENTWISE[_name] = compared(_name)
_SAME = (
    "sqrt", "cbrt", "abs", "floor", "ceil", "max", "min", "and", "or", "xor", "erf", "erfc", "erf_inv", "logistic",
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "exp", "exp2", "expm1", "log", "log1p",
)  # fmt: skip
for _name in _SAME:
    ELEMENTWISE[_name] = simple(_name)
