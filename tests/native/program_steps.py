"""Families of random steps: each draws operands from the pool of arrays and says what to do with them.

A family is a function of (draw, pool) that returns (name, function, operands), or None where the pool has nothing for it.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from jax import lax

from .disturbance import disturbed, multiplied, summed
from .programs import FLOATS, INTEGERS, quantised

LARGEST = 4200
"""Numbers in one array."""


def pick(draw, pool, test=lambda spec: True):
    """The place of an array for which the test holds, or None; later ones are simpler."""
    found = [i for i, spec in enumerate(pool) if test(spec)]
    return draw(st.sampled_from(found[::-1])) if found else None


def is_float(spec) -> bool:
    return str(spec.dtype) in FLOATS


def is_integer(spec) -> bool:
    return str(spec.dtype) in INTEGERS


def same_size(spec):
    return math.prod(spec.shape)


def like(x, shape, dtype):
    """x with another shape and type: broadcast where it can be, else its numbers repeated or cut."""
    if x.dtype != dtype:
        # Integers of 64 bits have more digits than floats, so what is computed of them as floats depends on the last one.
        x = disturbed(x.astype(dtype)) if jnp.issubdtype(dtype, jnp.floating) else quantised(x).astype(dtype)
    try:
        return jnp.broadcast_to(x, shape)
    except ValueError:
        return jnp.resize(x, shape) if x.size else jnp.ones(shape, dtype)


def partner(draw, pool, spec):
    """An array to go with one of this spec: of the same shape and type, if need be made so by `like`."""
    i = pick(draw, pool, lambda s: (s.size == 0) == (spec.size == 0)) if spec.size else pick(draw, pool)
    return i, lambda x: like(x, spec.shape, spec.dtype)


SMOOTH = {
    "sin": jnp.sin, "cos": jnp.cos, "tanh": jnp.tanh, "arctan": jnp.arctan, "asinh": jnp.arcsinh, "erf": jax.scipy.special.erf,
    "erfc": jax.scipy.special.erfc, "sigmoid": jax.nn.sigmoid, "softplus": jax.nn.softplus, "elu": jax.nn.elu,
    "square": jnp.square, "cbrt": jnp.cbrt, "abs": jnp.abs, "neg": jnp.negative, "expm1": jnp.expm1, "exp": jnp.exp,
    "log": jnp.log, "log1p": jnp.log1p, "sqrt": jnp.sqrt, "rsqrt": lax.rsqrt, "reciprocal": jnp.reciprocal, "tan": jnp.tan,
    "arcsin": jnp.arcsin, "arccos": jnp.arccos, "sinh": jnp.sinh, "cosh": jnp.cosh, "acosh": jnp.arccosh, "atanh": jnp.arctanh,
    "exp2": jnp.exp2, "cube": lambda x: x**3, "power -2": lambda x: x**-2, "gelu": jax.nn.gelu,
    "lgamma": lambda x: lax.lgamma(lax.stop_gradient(x)),
    "erf_inv": lax.erf_inv, "relu": jax.nn.relu, "normalised": lambda x: x / (1 + jnp.abs(x)), "logit": jax.nn.log_sigmoid,
    "nan_to_num": lambda x: jnp.clip(jnp.nan_to_num(x), -50, 50), "digits": lambda x: lax.reduce_precision(x, 8, 10),
}  # fmt: skip
CONSTANTS = {
    "times constants": lambda x: x * np.resize([0.0, 1.0, -1.0, 0.5, 3.0], x.shape).astype(x.dtype),
    "constants over": lambda x: np.resize([0.0, 1.0, -3.0], x.shape).astype(x.dtype) / x,
    "dot constants": lambda x: jnp.tensordot(
        disturbed(x), np.resize([0.0, 2.0, -0.5], (*x.shape, 2)).astype(x.dtype), x.ndim
    ),
}
STEPPED = {
    "floor": jnp.floor, "ceil": jnp.ceil, "round": jnp.round,
    "round away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "trunc": jnp.trunc, "sign": jnp.sign, "is_finite": jnp.isfinite, "isnan": jnp.isnan, "signbit": jnp.signbit,
    "heaviside": lambda x: jnp.heaviside(x, 0.5), "not zero": lambda x: x.astype(bool),
}  # fmt: skip


def constants(draw, pool):
    """Products with numbers that are known when compiling, of which some are zero."""
    i = pick(draw, pool, is_float)
    if i is None:
        return None
    name = draw(st.sampled_from([*CONSTANTS]))
    return name, CONSTANTS[name], (i,)


def unary(draw, pool):
    i = pick(draw, pool, is_float)
    if i is None:
        return None
    name = draw(st.sampled_from([*SMOOTH, *STEPPED]))
    if name in SMOOTH:
        return name, SMOOTH[name], (i,)
    return name, lambda x: STEPPED[name](quantised(x)), (i,)


def unsigned_zero(x):
    """The sign of a zero is not kept where a constant zero is added."""
    return jnp.where(x == 0, 0.0, x)


BINARY = {
    "add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "div": jnp.divide, "max": jnp.maximum, "min": jnp.minimum,
    "atan2": lambda a, b: jnp.arctan2(unsigned_zero(a), unsigned_zero(b)), "pow": lambda a, b: jnp.abs(a) ** b,
    "hypot": jnp.hypot, "logaddexp": jnp.logaddexp,
    "rem": lambda a, b: lax.rem(quantised(a), quantised(b)), "mod": lambda a, b: jnp.mod(quantised(a), quantised(b)),
    "copysign": lambda a, b: jnp.copysign(a, quantised(b) + 0.01), "pow real": lambda a, b: lax.pow(a, quantised(b)),
    "nextafter": lambda a, b: jnp.nextafter(quantised(a), quantised(b)), "floor divide": lambda a, b: quantised(a) // quantised(b),
}  # fmt: skip


def binary(draw, pool):
    i = pick(draw, pool, is_float)
    if i is None:
        return None
    j, fit = partner(draw, pool, pool[i])
    name = draw(st.sampled_from([*BINARY]))
    return name, lambda a, b: BINARY[name](a, fit(b)), (i, j)


INTEGER = {
    "add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "max": jnp.maximum, "min": jnp.minimum, "div": lax.div,
    "rem": lax.rem, "floor divide": jnp.floor_divide, "mod": jnp.mod, "and": jnp.bitwise_and, "or": jnp.bitwise_or,
    "xor": jnp.bitwise_xor, "shift left": lax.shift_left, "shift logical": lax.shift_right_logical,
    "shift arithmetic": lax.shift_right_arithmetic, "abs": lambda a, b: jnp.abs(a), "sign": lambda a, b: jnp.sign(a),
    "not": lambda a, b: ~a, "neg": lambda a, b: -a, "popcount": lambda a, b: lax.population_count(a),
    "clz": lambda a, b: lax.clz(a),
    "cube": lambda a, b: lax.integer_pow(a, 3), "pow": lambda a, b: jnp.power(a, b & 7),
    "by constants": lambda a, b: (a // 7) * 3 + lax.rem(a, jnp.full_like(a, 5)) - (a >> 1) + (a << 2),
}  # fmt: skip


def integer(draw, pool):
    i = pick(draw, pool, is_integer)
    if i is None:
        return None
    j, fit = partner(draw, pool, pool[i])
    name = draw(st.sampled_from([*INTEGER]))
    return f"integer {name}", lambda a, b: INTEGER[name](a, fit(b)), (i, j)


COMPARE = {
    "eq": jnp.equal, "ne": jnp.not_equal, "lt": jnp.less, "le": jnp.less_equal, "gt": jnp.greater, "ge": jnp.greater_equal,
    "and": lambda a, b: (a > 0) & (b > 0), "or": lambda a, b: (a > 0) | (b > 0), "xor": lambda a, b: (a > 0) ^ (b > 0),
    "bool sum": lambda a, b: (a > 0) * (b > 1) + (a < 0),
}  # fmt: skip


def compare(draw, pool):
    i = pick(draw, pool)
    j, fit = partner(draw, pool, pool[i])
    name = draw(st.sampled_from([*COMPARE]))
    if pool[i].dtype == bool:
        return "logic", lambda a, b: jnp.where(a, ~fit(b), jnp.logical_xor(a, fit(b))), (i, j)
    return name, lambda a, b: COMPARE[name](quantised(a), quantised(fit(b))), (i, j)


def select(draw, pool):
    i, k = pick(draw, pool), pick(draw, pool)
    j, fit = partner(draw, pool, pool[i])
    name = draw(st.sampled_from(["where", "select_n", "clamp", "clamp scalars"]))
    if pool[i].dtype == bool or name == "where":
        return "where", lambda a, b, c: jnp.where(like(c, a.shape, bool), a, fit(b)), (i, j, k)
    if name == "select_n":

        def choose(a, b, c):
            which = jnp.clip(like(c, a.shape, np.int32), 0, 2)
            return lax.select_n(which, a, fit(b), a + fit(b))

        return name, choose, (i, j, k)
    if name == "clamp" or pool[i].shape == ():  # JAX's vmap fails at scalar bounds of a scalar
        return name, lambda a, b, c: lax.clamp(jnp.minimum(fit(b), 1), a, jnp.maximum(fit(b), 1)), (i, j, k)
    fixed = lax.stop_gradient  # JAX cannot differentiate with respect to these bounds
    return name, lambda a, b, c: lax.clamp(fixed(like(b, (), a.dtype)), a, fixed(like(c, (), a.dtype))), (i, j, k)


def convert(draw, pool):
    i = pick(draw, pool)
    dtype = draw(st.sampled_from([*FLOATS, *INTEGERS, "bool"]))
    raw = is_float(pool[i]) and dtype in FLOATS
    name = draw(st.sampled_from(["convert", "bitcast"]))
    if name == "bitcast" and dtype != "bool" and is_integer(pool[i]) and dtype in INTEGERS:
        wide, narrow = np.dtype(pool[i].dtype).itemsize, np.dtype(dtype).itemsize
        if narrow <= wide or (pool[i].shape and pool[i].shape[-1] == narrow // wide):
            return f"bitcast to {dtype}", lambda x: lax.bitcast_convert_type(x, dtype), (i,)
    return f"convert to {dtype}", lambda x: (x if raw else quantised(x)).astype(dtype), (i,)


def factors(draw, size: int) -> tuple[int, ...]:
    """A shape with so many numbers."""
    shape, left = [], size
    while left > 1 and len(shape) < 3:
        divisors = [d for d in (2, 3, 4, 5, 7, 10, 16, left) if left % d == 0]
        d = draw(st.sampled_from(divisors[::-1]))
        shape.append(d)
        left //= d
    if left != 1 or (not shape and draw(st.booleans())):
        shape.append(left)
    return tuple(shape)


def structure(draw, pool):
    i = pick(draw, pool)
    shape = pool[i].shape
    rank = len(shape)
    name = draw(
        st.sampled_from(["reshape", "transpose", "rev", "slice", "pad", "broadcast", "expand", "tile", "roll", "iota"])
    )
    if name == "reshape" and pool[i].size:
        new = factors(draw, pool[i].size)
        return f"reshape to {new}", lambda x: x.reshape(new), (i,)
    if name == "expand" or rank == 0:
        axis = draw(st.integers(0, rank))
        return f"expand {axis}", lambda x: jnp.expand_dims(x, axis), (i,)
    if name == "transpose":
        order = draw(st.permutations(range(rank)))
        return f"transpose {order}", lambda x: x.transpose(order), (i,)
    axis = draw(st.integers(0, rank - 1))
    if name == "rev":
        return f"rev {axis}", lambda x: lax.rev(x, (axis,)), (i,)
    if name == "slice":
        start = [draw(st.integers(0, n)) for n in shape]
        limit = [draw(st.integers(a, n)) for a, n in zip(start, shape, strict=True)]
        strides = [draw(st.integers(1, 3)) for _ in shape]
        return f"slice {start} {limit} {strides}", lambda x: lax.slice(x, start, limit, strides), (i,)
    if name == "pad":
        ends = [st.integers(-1 if n > 1 else 0, 2) for n in shape]
        config = [(draw(end), draw(end), draw(st.integers(0, 2))) for end in ends]
        number = draw(st.sampled_from([0, 1]))
        return f"pad {config}", lambda x: lax.pad(x, jnp.asarray(number).astype(x.dtype), config), (i,)
    if name == "broadcast":
        n = draw(st.integers(0, 3))
        return f"broadcast {n}", lambda x: jnp.broadcast_to(x, (n, *x.shape)), (i,)
    if name == "tile":
        return "tile", lambda x: jnp.tile(x, (1,) * axis + (2,) + (1,) * (rank - axis - 1)), (i,)
    if name == "roll":
        return "roll", lambda x: jnp.roll(x, 1, axis), (i,)
    return "iota", lambda x: lax.broadcasted_iota(x.dtype if x.dtype != bool else np.int32, x.shape, axis), (i,)


def join(draw, pool):
    i = pick(draw, pool, lambda s: len(s.shape) > 0)
    if i is None:
        return None
    j, fit = partner(draw, pool, pool[i])
    axis = draw(st.integers(0, len(pool[i].shape) - 1))
    name = draw(st.sampled_from(["concatenate", "stack", "split", "unstack"]))
    if name == "split":
        cut = draw(st.integers(0, pool[i].shape[axis]))
        return f"split {axis} {cut}", lambda a: jnp.split(a, [cut], axis), (i,)
    if name == "unstack" and 0 < pool[i].shape[axis] < 5:
        return f"unstack {axis}", lambda a: jnp.unstack(a, axis=axis), (i,)
    how = jnp.stack if name == "stack" else jnp.concatenate
    return f"{name} {axis}", lambda a, b: how([a, fit(b), a], axis), (i, j)


def reduce(draw, pool):
    i = pick(draw, pool)
    axes = tuple(d for d in range(len(pool[i].shape)) if draw(st.booleans()))
    empty = any(pool[i].shape[d] == 0 for d in axes)
    names = ["sum", "prod", "any", "all"] + (
        [] if empty else ["max", "min", "mean", "argmax", "argmin", "logsumexp", "norm"]
    )
    name = draw(st.sampled_from(names))
    if name in ("argmax", "argmin"):
        axis = axes[0] if axes else None
        if not axes and pool[i].size == 0:
            return None
        return f"{name} {axis}", lambda x: getattr(jnp, name)(quantised(x), axis=axis), (i,)
    if name in ("logsumexp", "norm"):
        function = {"logsumexp": jax.nn.logsumexp, "norm": lambda x, axis: jnp.sqrt(jnp.sum(x * x + 1e-3, axis=axis))}[
            name
        ]
        return f"{name} {axes}", lambda x: function(disturbed(like(x, x.shape, "float64")), axis=axes), (i,)
    if name in ("any", "all"):
        return f"{name} {axes}", lambda x: getattr(jnp, name)(quantised(x) > 0, axis=axes), (i,)
    if name == "mean":
        # The terms of a sum of large integers of both signs may cancel: how far, `like` finds out.
        dtype = pool[i].dtype if is_float(pool[i]) else "float64"
        return f"mean {axes}", lambda x: summed(partial(jnp.mean, axis=axes), like(x, x.shape, dtype)), (i,)
    if name == "sum":
        return f"sum {axes}", lambda x: summed(partial(jnp.sum, axis=axes), x), (i,)
    if name == "prod":
        return f"prod {axes}", lambda x: multiplied(partial(jnp.prod, axis=axes), x), (i,)
    return f"{name} {axes}", lambda x: getattr(jnp, name)(x, axis=axes), (i,)


CUMULATIVE = {
    "cumsum": lambda x, **how: summed(partial(lax.cumsum, **how), x), "cummax": lax.cummax, "cummin": lax.cummin,
    "cumprod": lambda x, **how: multiplied(partial(lax.cumprod, **how), x),
    "cumlogsumexp": lambda x, **how: lax.cumlogsumexp(disturbed(x), **how),
}  # fmt: skip


def cumulative(draw, pool):
    i = pick(draw, pool, lambda s: len(s.shape) > 0 and s.dtype != bool)
    if i is None:
        return None
    name = draw(st.sampled_from([*CUMULATIVE] if is_float(pool[i]) else [*CUMULATIVE][:-1]))
    axis, reverse = draw(st.integers(0, len(pool[i].shape) - 1)), draw(st.booleans())
    return f"{name} {axis} {reverse}", lambda x: CUMULATIVE[name](x, axis=axis, reverse=reverse), (i,)


def sort(draw, pool):
    i = pick(draw, pool, lambda s: len(s.shape) > 0 and (s.size <= 64 or s.size > 256))
    if i is None:
        return None
    j, fit = partner(draw, pool, pool[i])
    axis = draw(st.integers(0, len(pool[i].shape) - 1))
    name = draw(st.sampled_from(["sort", "argsort", "two keys", "descending", "top_k", "median"]))
    if name == "sort":
        return f"sort {axis}", lambda x: jnp.sort(x, axis=axis), (i,)
    if name == "argsort":
        return f"argsort {axis}", lambda x: jnp.argsort(quantised(x), axis=axis), (i,)
    if name == "descending":
        return f"descending {axis}", lambda x: jnp.sort(quantised(x), axis=axis, descending=True), (i,)
    if name == "top_k" and pool[i].dtype != bool:
        k = draw(st.integers(0, min(3, pool[i].shape[-1])))
        return f"top_k {k}", lambda x: lax.top_k(quantised(x), k), (i,)
    if name == "median" and pool[i].size and is_float(pool[i]):
        return f"median {axis}", lambda x: jnp.median(x, axis=axis), (i,)

    def by_two(a, b):
        return lax.sort(
            (quantised(a), quantised(fit(b)), jnp.arange(a.size).reshape(a.shape)), dimension=axis, num_keys=2
        )

    return f"two keys {axis}", by_two, (i, j)
