"""Where numbers are, not what they are: reshaping, slicing, joining."""

import numpy as np

from ..arrays import (
    FROM_MEMORY,
    SMALL,
    STAY,
    Lazy,
    Small,
    Stored,
    flat_index,
    in_memory,
    memory_read,
    size_of,
    strides_of,
)
from ..lengths.affine import plain
from ..types import BOOL, type_of


def _structural(table, element):
    """A rule from what to do with a table of ids, and from which place of the operand a place comes."""

    def rule(low, eqn, x):
        aval = eqn.outvars[0].aval
        if (
            isinstance(x, Small)
            and size_of(aval.shape) <= SMALL
            and not (x.ids.size == 1 and size_of(aval.shape) > 512)
        ):
            repeated = (x, element(low, eqn, x.shape)) if size_of(aval.shape) > x.ids.size else None
            return [Small(table(eqn, x.ids), x.type, repeated)]
        source = element(low, eqn, x.shape)
        if isinstance(x, Stored) and in_memory(x) and size_of(aval.shape) > STAY:
            return [Lazy(aval.shape, x.type, lambda indices: x.element(source(indices)), reads=memory_read(x))]
        return [low.result(aval.shape, x.type, lambda indices: low.a.at(x, source(indices)), (x,), cheap=True)]

    return rule


def _split_index(low, flat, shape):
    """Indices of a flat place. Division by constants only; LLVM turns it into shifts and multiplications."""
    s, out = low.s, []
    for n, stride in zip(shape, strides_of(shape), strict=True):
        if n <= 1:
            out.append(s.index(0))
            continue
        i = s.integer_div(flat, s.index(stride))
        out.append(i)
        flat = s.sub(flat, s.mul(i, s.index(stride)))
    return tuple(out)


def _reshape(eqn, ids):
    order = eqn.params.get("dimensions") if eqn.primitive.name == "reshape" else None
    return (ids if order is None else ids.transpose(order)).reshape(eqn.outvars[0].aval.shape)


def _reshape_source(low, eqn, shape):
    """`dimensions` of a reshape are the order in which the axes are read."""
    order = eqn.params.get("dimensions") if eqn.primitive.name == "reshape" else None
    if order is None:
        return _in_order_source(low, eqn, shape)
    source = _in_order_source(low, eqn, tuple(shape[d] for d in order))
    return lambda indices: tuple(source(indices)[order.index(d)] for d in range(len(shape)))


def _in_order_source(low, eqn, shape):
    out = eqn.outvars[0].aval.shape
    kept = [n for n in out if n != 1]
    if kept == [n for n in shape if n != 1]:

        def drop(indices):
            rest = iter([i for i, n in zip(indices, out, strict=True) if n != 1])
            return tuple(low.s.index(0) if n == 1 else next(rest) for n in shape)

        return drop
    return lambda indices: _split_index(low, flat_index(low.s, out, indices), shape)


def _broadcast_source(low, eqn, shape):
    places = eqn.params["broadcast_dimensions"]
    return lambda indices: tuple(low.s.index(0) if n == 1 else indices[d] for n, d in zip(shape, places, strict=True))


def _broadcast(eqn, ids):
    shape = [1] * len(eqn.params["shape"])
    for n, d in zip(ids.shape, eqn.params["broadcast_dimensions"], strict=True):
        shape[d] = n
    return np.broadcast_to(ids.reshape(shape), eqn.params["shape"])


def _slice_source(low, eqn, shape):
    starts = eqn.params["start_indices"]
    strides = eqn.params["strides"] or (1,) * len(shape)
    s = low.s
    return lambda indices: tuple(
        s.add(s.index(a), s.mul(i, s.index(d))) for i, a, d in zip(indices, starts, strides, strict=True)
    )


def _slice(eqn, ids):
    p = eqn.params
    strides = p["strides"] or (1,) * ids.ndim
    return ids[tuple(slice(a, b, d) for a, b, d in zip(p["start_indices"], p["limit_indices"], strides, strict=True))]


def _transpose_source(low, eqn, shape):
    permutation = eqn.params["permutation"]
    return lambda indices: tuple(indices[permutation.index(d)] for d in range(len(shape)))


def _rev_source(low, eqn, shape):
    axes = eqn.params["dimensions"]
    s = low.s
    return lambda indices: tuple(
        s.sub(s.index(n - 1), i) if d in axes else i for d, (i, n) in enumerate(zip(indices, shape, strict=True))
    )


def _concatenate(low, eqn, *xs):
    return [_join(low, eqn.outvars[0].aval.shape, eqn.params["dimension"], xs)]


def _join(low, shape, axis, xs):
    if size_of(shape) <= SMALL and (all(isinstance(x, Small) for x in xs) or size_of(shape) <= FROM_MEMORY):
        return Small(np.concatenate([low.a.small(x).ids for x in xs], axis=axis), xs[0].type)
    s = low.s
    out = low.g.buffer(xs[0].type, size_of(shape))
    offset = 0
    for x in xs:
        # Each piece is copied to its place; a piece of a row needs the stride of the whole.
        def write(indices, x=x, offset=offset):
            moved = (*indices[:axis], s.add(indices[axis], s.index(offset)), *indices[axis + 1 :])
            low.g.store(out, flat_index(s, shape, moved), low.a.at(x, indices))

        low.a.nest(x.shape, write)
        offset += x.shape[axis]
    return Stored(shape, xs[0].type, out, s)


def _stack(low, eqn, *xs):
    aval, axis = eqn.outvars[0].aval, eqn.params["axis"]

    def widened(x):
        shape = (*x.shape[:axis], 1, *x.shape[axis:])
        if isinstance(x, Small):
            return Small(x.ids.reshape(shape), x.type)
        return Lazy(shape, x.type, lambda i: low.a.at(x, (*i[:axis], *i[axis + 1 :])), reads=memory_read(x))

    return [_join(low, aval.shape, axis, [widened(x) for x in xs])]


def _tile(low, eqn, x):
    aval, repeats, s = eqn.outvars[0].aval, eqn.params["reps"], low.s
    if isinstance(x, Small) and size_of(aval.shape) <= SMALL:
        return [Small(np.tile(x.ids, repeats), x.type)]

    def element(indices):
        return low.a.at(x, tuple(s.rem(i, s.index(n)) for i, n in zip(indices, x.shape, strict=True)))

    return [low.result(aval.shape, x.type, element, (x,), cheap=True)]


def _unstack(low, eqn, x):
    axis = eqn.params.get("axis", 0)
    outs = []
    for k, var in enumerate(eqn.outvars):
        if isinstance(x, Small):
            outs.append(Small(np.asarray(np.take(x.ids, k, axis=axis)), x.type))
        else:

            def element(indices, k=k):
                return low.a.at(x, (*indices[:axis], low.s.index(k), *indices[axis:]))

            outs.append(low.result(var.aval.shape, x.type, element, (x,), cheap=True))
    return outs


def _split(low, eqn, x):
    outs, start, axis = [], 0, eqn.params["axis"]
    for n, var in zip(map(plain, eqn.params["sizes"]), eqn.outvars, strict=True):
        if isinstance(x, Small):
            outs.append(Small(np.take(x.ids, range(start, start + n), axis=axis), x.type))
        else:

            def element(indices, start=start):
                moved = (*indices[:axis], low.s.add(indices[axis], low.s.index(start)), *indices[axis + 1 :])
                return low.a.at(x, moved)

            outs.append(low.result(var.aval.shape, x.type, element, (x,), cheap=True))
        start += n
    return outs


def both(s, a, b):
    """a and b, of which one may be known."""
    if s.g.is_constant(a):
        return b if s.g.constants[a] else a
    if s.g.is_constant(b):
        return a if s.g.constants[b] else b
    return s.op("and", a, b)


def _pad(low, eqn, x, value):
    aval = eqn.outvars[0].aval
    config = [tuple(map(plain, axis)) for axis in eqn.params["padding_config"]]
    s, fill = low.s, low.a.at(value, ())
    if isinstance(x, Small) and size_of(aval.shape) <= SMALL:
        ids = x.ids
        out = np.full(aval.shape, fill, dtype=np.int64)
        source, target = [], []
        for n, m, (lo, _, interior) in zip(ids.shape, aval.shape, config, strict=True):
            places = lo + np.arange(n) * (interior + 1)
            keep = (places >= 0) & (places < m)
            source.append(np.flatnonzero(keep))
            target.append(places[keep])
        out[np.ix_(*target)] = ids[np.ix_(*source)]
        return [Small(out, x.type)]

    def element(indices):
        inside, places = s.const(True, BOOL), []
        for i, n, (lo, _, interior) in zip(indices, x.shape, config, strict=True):
            shifted = s.sub(i, s.index(lo))
            step = s.index(interior + 1)
            place = s.integer_div(shifted, step)
            conditions = [s.compare("ge", shifted, s.index(0)), s.compare("lt", place, s.index(n))]
            if interior:
                conditions.append(s.compare("eq", s.mul(place, step), shifted))
            for ok in conditions:
                inside = both(s, inside, ok)
            places.append(s.clamp_index(place, 0, n - 1))
        return s.select(inside, low.a.at(x, tuple(places)), fill)

    if size_of(x.shape) == 0:
        return [low.result(aval.shape, x.type, lambda indices: fill, (x,), cheap=True)]
    return [low.result(aval.shape, x.type, element, (x,))]


def _iota(low, eqn):
    aval, d = eqn.outvars[0].aval, eqn.params["dimension"]
    type = type_of(aval.dtype)
    if size_of(aval.shape) <= 256:
        shape = [1] * len(aval.shape)
        shape[d] = aval.shape[d]
        return [low.a.constant(np.broadcast_to(np.arange(aval.shape[d]).reshape(shape), aval.shape), type)]
    return [Lazy(aval.shape, type, lambda indices: low.s.cast(indices[d], type), reads=frozenset())]


def _empty(low, eqn):
    """A number that nobody reads: of a branch that was not taken, in a derivative."""
    aval = eqn.outvars[0].aval
    return [low.a.constant(np.zeros(aval.shape, dtype=aval.dtype), type_of(aval.dtype))]


def _scratch(low, eqn):
    """Memory of one's own, whose contents nobody reads before writing there."""
    aval = eqn.outvars[0].aval
    type = type_of(aval.dtype)
    return [Stored(aval.shape, type, low.g.reusable_buffer(type, size_of(aval.shape)), low.s)]


STRUCTURE = {
    "reshape": _structural(_reshape, _reshape_source),
    "squeeze": _structural(_reshape, _reshape_source),
    "expand_dims": _structural(_reshape, _reshape_source),
    "broadcast_in_dim": _structural(_broadcast, _broadcast_source),
    "slice": _structural(_slice, _slice_source),
    "transpose": _structural(lambda eqn, ids: ids.transpose(eqn.params["permutation"]), _transpose_source),
    "rev": _structural(lambda eqn, ids: np.flip(ids, eqn.params["dimensions"]), _rev_source),
    "concatenate": _concatenate,
    "stack": _stack,
    "tile": _tile,
    "split": _split,
    "unstack": _unstack,
    "pad": _pad,
    "iota": _iota,
    "empty": _empty,
    "empty2": _empty,
    "scratch": _scratch,
}
