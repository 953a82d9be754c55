"""Convolutions, as loops (or written out, where they are small)."""

import numpy as np

from ..arrays import Lazy, Stored, size_of
from ..types import BOOL, type_of
from .structure import both

UNROLL = 512
"""Convolutions with more multiplications than this are loops."""


def _convolution(low, eqn, signal, kernel):
    p, aval, s = eqn.params, eqn.outvars[0].aval, low.s
    type, dims = type_of(aval.dtype), p["dimension_numbers"]
    # Each spec lists where batch (or output feature), feature and the spatial axes are.
    signal_at, kernel_at, out_at = dims.lhs_spec, dims.rhs_spec, dims.out_spec
    window = tuple(kernel.shape[d] for d in kernel_at[2:])
    features = kernel.shape[kernel_at[1]]
    groups, batches = p["feature_group_count"], p["batch_group_count"]
    out_features = aval.shape[out_at[1]]
    rows = signal.shape[signal_at[0]] // batches
    turns = (features, *window)

    def product(indices, chosen):
        """The term of one input feature and one place in the window."""
        feature, places = chosen[0], chosen[1:]
        channel, row = indices[out_at[1]], indices[out_at[0]]
        inside, source = s.const(True, BOOL), [s.index(0)] * len(signal.shape)
        for k, place in enumerate(places):
            n, spread = signal.shape[signal_at[2 + k]], s.index(p["lhs_dilation"][k])
            start = s.sub(s.mul(indices[out_at[2 + k]], s.index(p["window_strides"][k])), s.index(p["padding"][k][0]))
            at = s.add(start, s.mul(place, s.index(p["rhs_dilation"][k])))
            i = s.integer_div(at, spread)
            conditions = [
                s.compare("le", s.index(0), at), s.compare("lt", i, s.index(n)), s.compare("eq", s.mul(i, spread), at)
            ]  # fmt: skip
            for ok in conditions:
                inside = both(s, inside, ok)
            source[signal_at[2 + k]] = s.clamp_index(i, 0, n - 1)
        group = s.integer_div(channel, s.index(max(out_features // groups, 1)))
        source[signal_at[1]] = s.add(s.mul(group, s.index(features)), feature)
        batch = s.integer_div(channel, s.index(max(out_features // batches, 1)))
        source[signal_at[0]] = s.add(s.mul(batch, s.index(rows)), row)
        weight = [s.index(0)] * len(kernel.shape)
        weight[kernel_at[0]], weight[kernel_at[1]] = channel, feature
        for d, place in zip(kernel_at[2:], places, strict=True):
            weight[d] = place
        term = s.mul(s.cast(low.a.at(signal, tuple(source)), type), s.cast(low.a.at(kernel, tuple(weight)), type))
        return s.select(inside, term, s.const(0, type))

    def unrolled(indices):
        total = s.const(0, type)
        for place in np.ndindex(*turns):
            total = s.add(total, product(indices, tuple(s.index(i) for i in place)))
        return total

    def looped(indices):
        def inner(shape, chosen):
            if not shape:
                return product(indices, chosen)
            if shape[0] == 1:
                return inner(shape[1:], (*chosen, s.index(0)))
            return low.a.loop(shape[0], lambda i, c: [s.add(c[0], inner(shape[1:], (*chosen, i)))], [s.const(0, type)])[
                0
            ]

        return inner(turns, ())

    if 0 in turns or 0 in signal.shape or size_of(aval.shape) == 0:
        return [low.result(aval.shape, type, lambda indices: s.const(0, type), ())]
    if size_of(aval.shape) * size_of(turns) <= UNROLL:
        return [low.a.small(Lazy(aval.shape, type, unrolled))]
    signal, kernel = low.a.stored(signal), low.a.stored(kernel)
    out = low.g.buffer(type, size_of(aval.shape))
    low.a.fill(out, aval.shape, looped)
    return [Stored(aval.shape, type, out, s)]


CONVOLUTION = {"conv_general_dilated": _convolution}
