"""Random bits: the threefry generator, and JAX's typed keys, which are pairs of words in one number here."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ..arrays import Small, Stored, flat_index, size_of
from ..types import is_key, type_of

UNROLL = 64
"""More pairs of words than this are made in a loop."""
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def _threefry(low, eqn, *xs):
    """Threefry-2x32 with 20 rounds (Salmon et al. 2011)."""
    s, type = low.s, type_of(np.uint32)
    shape = eqn.outvars[0].aval.shape

    def rotate(x, k):
        return s.op("or", s.op("shl", x, s.const(k, type)), s.op("lshr", x, s.const(32 - k, type)))

    def block(k0, k1, x0, x1):
        keys = [k0, k1, s.op("xor", s.op("xor", k0, k1), s.const(0x1BD11BDA, type))]
        x0, x1 = s.add(x0, k0), s.add(x1, k1)
        for i in range(5):
            for r in _ROTATIONS[i % 2]:
                x0 = s.add(x0, x1)
                x1 = s.op("xor", rotate(x1, r), x0)
            x0 = s.add(x0, keys[(i + 1) % 3])
            x1 = s.add(s.add(x1, keys[(i + 2) % 3]), s.const(i + 1, type))
        return x0, x1

    if size_of(shape) <= UNROLL:
        tables = [np.broadcast_to(low.a.small(x).ids, shape).ravel().tolist() for x in xs]
        pairs = [block(*values) for values in zip(*tables, strict=True)]
        return [Small(np.array([p[k] for p in pairs], dtype=np.int64).reshape(shape), type) for k in (0, 1)]
    outs = [low.g.buffer(type, size_of(shape)) for _ in range(2)]

    def write(indices):
        def own(x):
            last = indices[len(indices) - len(x.shape) :]
            return tuple(s.index(0) if n == 1 else i for i, n in zip(last, x.shape, strict=True))

        for out, value in zip(outs, block(*(low.a.at(x, own(x)) for x in xs)), strict=True):
            low.g.store(out, flat_index(s, shape, indices), value)

    low.a.nest(shape, write)
    return [Stored(shape, type, out, s) for out in outs]


def _wrap(low, eqn, x):
    """Words, two and two, as keys."""
    s, type, key = low.s, type_of(np.uint32), type_of(np.uint64)

    def element(indices):
        first, second = (s.cast(low.a.at(x, (*indices, s.index(k))), key) for k in (0, 1))
        return s.op("or", first, s.op("shl", second, s.const(32, key)))

    assert x.type == type
    return [low.result(x.shape[:-1], key, element, (x,))]


def _unwrap(low, eqn, x):
    """Keys as words, two each."""
    s, type, key = low.s, type_of(np.uint32), type_of(np.uint64)

    def element(indices):
        first, second = indices[-1], s.const(32, key)
        shift = s.mul(s.cast(first, key), second)
        return s.cast(s.op("lshr", low.a.at(x, indices[:-1]), shift), type)

    return [low.result((*x.shape, 2), type, element, (x,))]


def _by_implementation(call):
    """A rule for a primitive on typed keys: JAX's own implementation on words, traced and written out."""

    def rule(low, eqn, *xs):
        from ..lower import inline

        key_type = next(v.aval.dtype for v in [*eqn.invars, *eqn.outvars] if is_key(v.aval.dtype))
        xs = [_unwrap(low, eqn, x)[0] if is_key(v.aval.dtype) else x for x, v in zip(xs, eqn.invars, strict=True)]
        ranks = [v.aval.ndim for v in eqn.invars]
        common = np.broadcast_shapes(*(v.aval.shape for v in eqn.invars))

        def every(*arrays):
            """JAX's functions are of one key; a primitive may have arrays of them."""
            one = functools.partial(call, key_type._impl, eqn.params)
            for _ in common:
                one = jax.vmap(one)
            return one(*(jnp.broadcast_to(a, common + a.shape[n:]) for a, n in zip(arrays, ranks, strict=True)))

        specs = [jax.ShapeDtypeStruct(x.shape, x.type.dtype) for x in xs]
        outs = inline(low, jax.make_jaxpr(every)(*specs), xs)
        return [_wrap(low, eqn, x)[0] if is_key(v.aval.dtype) else x for x, v in zip(outs, eqn.outvars, strict=True)]

    return rule


def _counts(low, eqn):
    """0, 1, 2, ... as high and low words."""
    shape = eqn.params["shape"]
    numbers = np.arange(np.prod(shape, dtype=np.uint64), dtype=np.uint64).reshape(shape)
    words = (numbers >> np.uint64(32), numbers & np.uint64(0xFFFFFFFF))
    return [low.a.constant(word.astype(np.uint32), type_of(np.uint32)) for word in words]


RANDOM = {
    "iota_2x32_shape": _counts,
    "threefry2x32": _threefry,
    "random_wrap": _wrap,
    "random_unwrap": _unwrap,
    "random_bits": _by_implementation(lambda impl, p, keys: impl.random_bits(keys, p["bit_width"], p["shape"])),
    "random_split": _by_implementation(lambda impl, p, keys: impl.split(keys, p["shape"])),
    "random_fold_in": _by_implementation(lambda impl, p, keys, data: impl.fold_in(keys, data)),
    "random_seed": _by_implementation(lambda impl, p, seeds: impl.seed(seeds)),
}
