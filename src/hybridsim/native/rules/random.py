"""Random bits: the threefry generator, and JAX's typed keys, which are pairs of words here."""

import jax
import jax.numpy as jnp
import numpy as np

from ..arrays import Small
from ..types import type_of

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def _threefry(low, eqn, *xs):
    """Threefry-2x32 with 20 rounds (Salmon et al. 2011)."""
    s, type = low.s, type_of(np.uint32)
    shape = eqn.outvars[0].aval.shape
    tables = [np.broadcast_to(low.a.small(x).ids, shape).ravel().tolist() for x in xs]

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

    pairs = [block(*values) for values in zip(*tables, strict=True)]
    return [Small(np.array([p[k] for p in pairs], dtype=np.int64).reshape(shape), type) for k in (0, 1)]


def _by_implementation(call):
    """A rule for a primitive on typed keys: JAX's own implementation on words, traced and written out."""

    def rule(low, eqn, *xs):
        from ..lower import inline

        key_type = next(
            v.aval.dtype for v in [*eqn.invars, *eqn.outvars] if jnp.issubdtype(v.aval.dtype, jax.dtypes.prng_key)
        )
        specs = [jax.ShapeDtypeStruct(x.shape, x.type.dtype) for x in xs]
        closed = jax.make_jaxpr(lambda *arrays: call(key_type._impl, eqn.params, *arrays))(*specs)
        return inline(low, closed, list(xs))

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
    "random_wrap": lambda low, eqn, x: [x],
    "random_unwrap": lambda low, eqn, x: [x],
    "random_bits": _by_implementation(lambda impl, p, keys: impl.random_bits(keys, p["bit_width"], p["shape"])),
    "random_split": _by_implementation(lambda impl, p, keys: impl.split(keys, p["shape"])),
    "random_fold_in": _by_implementation(lambda impl, p, keys, data: impl.fold_in(keys, data)),
    "random_seed": _by_implementation(lambda impl, p, seeds: impl.seed(seeds)),
}
