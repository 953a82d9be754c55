"""Reading and writing at places that are themselves computed."""

import numpy as np

from ..arrays import SMALL, Small, Stored, flat_index, size_of
from ..graph import Buffer, root
from ..types import BOOL


def _known(low, x):
    """A table of constants as numbers, else None."""
    constants = low.g.constants
    if not isinstance(x, Small) or not all(i in constants for i in x.ids.ravel().tolist()):
        return None
    flat = [min(int(constants[i]), np.iinfo(np.int64).max) for i in x.ids.ravel().tolist()]
    return np.array(flat, dtype=np.int64).reshape(x.shape)


def _dynamic_slice(low, eqn, x, *starts):
    sizes = eqn.params["slice_sizes"]
    s = low.s
    begin = [s.clamp_index(low.a.at(start, ()), 0, n - m) for start, n, m in zip(starts, x.shape, sizes, strict=True)]
    if isinstance(x, Small) and all(b in low.g.constants for b in begin):
        places = [int(low.g.constants[b]) for b in begin]
        return [Small(x.ids[tuple(slice(p, p + m) for p, m in zip(places, sizes, strict=True))], x.type)]
    return [low.result(tuple(sizes), x.type, lambda i: low.a.at(x, tuple(map(s.add, i, begin))), (x,), cheap=True)]


def _dynamic_update_slice(low, eqn, x, update, *starts):
    s = low.s
    begin = [s.clamp_index(low.a.at(a, ()), 0, n - m) for a, n, m in zip(starts, x.shape, update.shape, strict=True)]
    if isinstance(x, Small) and all(b in low.g.constants for b in begin):
        ids = x.ids.copy()
        places = [int(low.g.constants[b]) for b in begin]
        ids[tuple(slice(p, p + m) for p, m in zip(places, update.shape, strict=True))] = low.a.small(update).ids
        return [Small(ids, x.type)]
    out = _memory_to_change(low, x)

    def write(indices):
        low.g.store(out, flat_index(s, x.shape, tuple(map(s.add, indices, begin))), low.a.at(update, indices))

    low.a.nest(update.shape, write)
    stored = Stored(x.shape, x.type, low.g.alias(out, low.g.current), s)
    return [low.a.small(stored) if isinstance(x, Small) else stored]


def _memory_to_change(low, x) -> Buffer:
    """Memory that holds x, the first operand: its own where nothing else needs it, else a copy."""
    if low.may_overwrite(0):
        return root(x.buffer)
    out = low.g.reusable_buffer(x.type, size_of(x.shape))
    low.a.fill(out, x.shape, lambda i: low.a.at(x, i))
    return out


def _gather(low, eqn, x, indices):
    aval, p = eqn.outvars[0].aval, eqn.params
    d, sizes, s = p["dimension_numbers"], p["slice_sizes"], low.s
    mode = str(p["mode"])
    fill = "FILL" in mode
    batch_dims = [i for i in range(len(aval.shape)) if i not in d.offset_dims]
    offset_operand = [
        i for i in range(len(x.shape)) if i not in d.collapsed_slice_dims and i not in d.operand_batching_dims
    ]

    def source(out):
        """(operand place, whether it is inside) of a place of the result."""
        batch = [out[i] for i in batch_dims]
        place = [s.index(0)] * len(x.shape)
        inside = s.const(True, BOOL)
        for o, i in zip(offset_operand, d.offset_dims, strict=True):
            place[o] = out[i]
        for o, i in zip(d.operand_batching_dims, d.start_indices_batching_dims, strict=True):
            place[o] = batch[i]
        for k, o in enumerate(d.start_index_map):
            start = low.a.at(indices, (*batch, s.index(k)))
            last = x.shape[o] - sizes[o]
            clamped = s.clamp_index(start, 0, last)
            if fill:
                ok = s.compare("eq", s.cast(start, s.g.types[clamped]), clamped)
                inside = ok if low.g.is_constant(inside) and low.g.constants[inside] else s.op("and", inside, ok)
            place[o] = s.add(place[o], clamped)
        return tuple(place), inside

    missing = low.s.const(_missing(x.type, p.get("fill_value")), x.type)

    def element(out):
        place, inside = source(out)
        return s.select(inside, low.a.at(x, place), missing) if fill else low.a.at(x, place)

    known = _known(low, indices)
    if isinstance(x, Small) and known is not None and size_of(aval.shape) <= SMALL:
        grid = np.indices(aval.shape)
        place, inside = _known_places(
            x.shape,
            grid,
            [grid[i] for i in batch_dims],
            known,
            dict(zip(offset_operand, d.offset_dims, strict=True)),
            dict(zip(d.operand_batching_dims, d.start_indices_batching_dims, strict=True)),
            {o: x.shape[o] - sizes[o] for o in d.start_index_map},
        )
        ids = x.ids[place]
        return [Small(np.asarray(np.where(inside, ids, missing) if fill else ids), x.type)]
    return [low.result(aval.shape, x.type, element, (x,), cheap=True)]


def _known_places(shape, grid, batch, starts, windows, batching, last):
    """For every place of `grid`: the place in an array of `shape`, and whether the slice it is part of lies inside.

    `starts` are the slices' beginnings; axes of the array by `windows` and `batching` follow axes of the grid and of
    the batch, and `last` says where along an axis a slice can begin at most, in the order of the entries of `starts`.
    """
    places = [np.zeros(grid.shape[1:], dtype=np.int64) for _ in shape]
    inside = np.ones(grid.shape[1:], dtype=bool)
    for o, i in windows.items():
        places[o] = places[o] + grid[i]
    for o, i in batching.items():
        places[o] = places[o] + batch[i]
    for k, (o, end) in enumerate(last.items()):
        start = starts[(*batch, k)]
        clamped = np.clip(start, 0, end)
        inside &= start == clamped
        places[o] = places[o] + clamped
    return tuple(places), inside


def _missing(type, fill_value):
    if fill_value is not None:
        return fill_value
    if type.is_float:
        return np.nan
    if type == BOOL:
        return True
    info = np.iinfo(type.dtype)
    return info.min if type.signed else info.max


def _scatter(combine):
    def rule(low, eqn, x, indices, updates):
        d, s = eqn.params["dimension_numbers"], low.s
        scatter_dims = [i for i in range(len(updates.shape)) if i not in d.update_window_dims]
        window_operand = [
            i for i in range(len(x.shape)) if i not in d.inserted_window_dims and i not in d.operand_batching_dims
        ]
        window = [1] * len(x.shape)
        for o, i in zip(window_operand, d.update_window_dims, strict=True):
            window[o] = updates.shape[i]
        # Promised places are clamped all the same: nothing outside of an array is ever written.
        clip = "FILL" not in str(eqn.params["mode"])

        def target(place):
            """(operand place, whether it is inside): updates that would fall outside are dropped whole."""
            batch = [place[i] for i in scatter_dims]
            out = [s.index(0)] * len(x.shape)
            inside = s.const(True, BOOL)
            for o, i in zip(window_operand, d.update_window_dims, strict=True):
                out[o] = place[i]
            for o, i in zip(d.operand_batching_dims, d.scatter_indices_batching_dims, strict=True):
                out[o] = batch[i]
            for k, o in enumerate(d.scatter_dims_to_operand_dims):
                start = low.a.at(indices, (*batch, s.index(k)))
                clamped = s.clamp_index(start, 0, x.shape[o] - window[o])
                if not clip:
                    ok = s.compare("eq", s.cast(start, s.g.types[clamped]), clamped)
                    inside = ok if low.g.is_constant(inside) and low.g.constants[inside] else s.op("and", inside, ok)
                out[o] = s.add(out[o], clamped)
            return tuple(out), inside

        known = _known(low, indices)
        if known is not None and isinstance(x, Small) and size_of(updates.shape) <= SMALL:
            ids = x.ids.copy()
            new = low.a.small(updates)
            grid = np.indices(updates.shape)
            places, inside = _known_places(
                x.shape,
                grid,
                [grid[i] for i in scatter_dims],
                known,
                dict(zip(window_operand, d.update_window_dims, strict=True)),
                dict(zip(d.operand_batching_dims, d.scatter_indices_batching_dims, strict=True)),
                {o: x.shape[o] - window[o] for o in d.scatter_dims_to_operand_dims},
            )
            flat = ids.ravel()
            targets = np.ravel_multi_index(places, x.shape).ravel() if x.shape else np.zeros(inside.size, dtype=int)
            for place, value, ok in zip(
                targets.tolist(), new.ids.ravel().tolist(), inside.ravel().tolist(), strict=True
            ):
                if ok or clip:
                    flat[place] = combine(s, int(flat[place]), value)
            return [Small(flat.reshape(x.shape), x.type)]
        out = _memory_to_change(low, x)

        def write(place):
            where, inside = target(place)
            flat = flat_index(s, x.shape, where)
            old = low.g.read_now(out, flat)
            low.g.store(out, flat, s.select(inside, combine(s, old, low.a.at(updates, place)), old))

        if isinstance(updates, Small):  # numbers that would have to be put into memory to be looped over
            for place in np.ndindex(*updates.shape):
                write(tuple(s.index(i) for i in place))
        else:
            low.a.nest(updates.shape, write)
        stored = Stored(x.shape, x.type, low.g.alias(out, low.g.current), s)
        return [low.a.small(stored) if isinstance(x, Small) else stored]

    return rule


INDEXING = {
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "scatter": _scatter(lambda s, old, new: new),
    "scatter-add": _scatter(lambda s, old, new: s.add(old, new)),
    "scatter_add": _scatter(lambda s, old, new: s.add(old, new)),
    "scatter-mul": _scatter(lambda s, old, new: s.mul(old, new)),
    "scatter_mul": _scatter(lambda s, old, new: s.mul(old, new)),
    "scatter-min": _scatter(lambda s, old, new: s.op("min", old, new)),
    "scatter_min": _scatter(lambda s, old, new: s.op("min", old, new)),
    "scatter-max": _scatter(lambda s, old, new: s.op("max", old, new)),
    "scatter_max": _scatter(lambda s, old, new: s.op("max", old, new)),
}
