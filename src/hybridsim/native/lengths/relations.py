"""How the axes of an equation's operands and results go together, one function for each kind of primitive."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from ..rules.calls import CALLED
from ..rules.elementwise import ELEMENTWISE
from .affine import Affine
from .labels import LONG, Axis, Labels, Link, Places, is_marked

Groups = list[tuple[list[int], list[int]]]


def relate(link: Link) -> None:
    """Give one label to axes that must have one size, as far as the primitive is known."""
    if (rule := RELATIONS.get(link.eqn.primitive.name)) is not None:
        rule(link)


def _aligned(link: Link) -> None:
    """Axes at the same place, counted from the last one, are the same; those of one number are broadcast."""
    variables = [v for v in (*link.eqn.invars, *link.eqn.outvars) if v.aval.shape]
    for d in range(1, max((len(v.aval.shape) for v in variables), default=0) + 1):
        axes = [(v, len(v.aval.shape) - d) for v in variables if len(v.aval.shape) >= d]
        largest = max(v.aval.shape[a] for v, a in axes)
        link.same(*((v, a) for v, a in axes if v.aval.shape[a] == largest))


def _pairs(axes: Callable[[Any], Sequence[tuple[int, int]]]) -> Callable[[Link], None]:
    """Of the first operand and the first result, which axes go together where they have the same size."""

    def rule(link: Link) -> None:
        x, out = link.eqn.invars[0], link.eqn.outvars[0]
        for d, e in axes(link.eqn):
            link.same_if_equal((x, d), (out, e))

    return rule


def _kept(removed: str) -> Callable[[Any], Sequence[tuple[int, int]]]:
    """Axes that are left when those that a parameter names are removed."""

    def axes(eqn: Any) -> Sequence[tuple[int, int]]:
        gone = eqn.params[removed]
        left = [d for d in range(len(eqn.invars[0].aval.shape)) if d not in gone]
        return [(d, e) for e, d in enumerate(left)]

    return axes


def _all_axes(eqn: Any) -> Sequence[tuple[int, int]]:
    return [(d, d) for d in range(len(eqn.invars[0].aval.shape))]


def _along(link: Link) -> int:
    p = link.eqn.params
    return int(p["dimension"] if "dimension" in p else p.get("axis", 0))


def _unchanged(link: Link) -> None:
    for v, w in zip(link.eqn.invars, link.eqn.outvars, strict=True):
        for d in range(len(v.aval.shape)):
            link.same((v, d), (w, d))


def _stack(link: Link) -> None:
    """Or the reverse of it: one of the two sides has one more axis."""
    along = _along(link)
    ins, outs = link.eqn.invars, link.eqn.outvars
    (whole,), parts = (outs, ins) if link.eqn.primitive.name == "stack" else (ins, outs)
    for d in range(len(parts[0].aval.shape)):
        link.same((whole, d + (d >= along)), *((v, d) for v in parts))


def _joined(link: Link) -> None:
    """Operands or results that lie one after the other along an axis: other axes are the same."""
    along = _along(link)
    for d in range(len(link.eqn.outvars[0].aval.shape)):
        if d != along:
            link.same(*((v, d) for v in (*link.eqn.invars, *link.eqn.outvars)))


def _guess_joined(link: Link) -> None:
    """The length of the whole is that of its parts together; what has no label has the size that it has here."""
    eqn = link.eqn
    joining = eqn.primitive.name == "concatenate"
    along = _along(link)
    (whole,), parts = (eqn.outvars, eqn.invars) if joining else (eqn.invars, eqn.outvars)
    labelled = [link.label(v, along) for v in parts]
    sizes = [link.places.size(v, along) for v in parts]
    total = link.label(whole, along)
    if total is None:
        link.set(whole, along, sum(sizes))
    elif isinstance(rest := total - sum(sizes), Affine):
        size = max((n for n, x in zip(sizes, labelled, strict=True) if x is None), default=0)
        alike = [v for v, n, x in zip(parts, sizes, labelled, strict=True) if x is None and n == size]
        if alike and all(factor % len(alike) == 0 for _, factor in rest.factors):
            for v in alike:
                link.set(v, along, (rest + size * len(alike)) // len(alike))


def _guess_slice(link: Link) -> None:
    """What is left of a long axis is long if more is left than is taken away."""
    (x,), (out,), p = link.eqn.invars, link.eqn.outvars, link.eqn.params
    strides = p["strides"] or (1,) * len(x.aval.shape)
    for d, (begin, end, stride) in enumerate(zip(p["start_indices"], p["limit_indices"], strides, strict=True)):
        size, taken = x.aval.shape[d], begin + x.aval.shape[d] - end
        if 2 * taken >= size:
            continue
        if (label := link.label(x, d)) is not None:
            last = link.labels.divide(label - taken - 1, stride)
            link.set(out, d, None if last is None else last + 1)
        elif (label := link.label(out, d)) is not None:
            # The last number that is read may not be the last of the axis.
            beyond = size - taken - 1 - (out.aval.shape[d] - 1) * stride
            link.set(x, d, (label - 1) * stride + 1 + taken + beyond)


def _guess_part(link: Link) -> None:
    """As of a slice, where the place is computed at which it begins; also where a part is written."""
    x, part = link.eqn.invars[0], link.eqn.outvars[0]
    if link.eqn.primitive.name == "dynamic_update_slice":
        part = link.eqn.invars[1]
    for d, (size, width) in enumerate(zip(x.aval.shape, part.aval.shape, strict=True)):
        if 2 * (size - width) < size:
            for (v, n), (w, m) in (((x, size), (part, width)), ((part, width), (x, size))):
                if (label := link.label(v, d)) is not None:
                    link.set(w, d, label + (m - n))


def _guess_pad(link: Link) -> None:
    """What is put around a long axis is short; a long one is put around a short axis."""
    (x, _), (out,) = link.eqn.invars, link.eqn.outvars
    for d, (low, high, between) in enumerate(link.eqn.params["padding_config"]):
        around, stride = int(low) + int(high), int(between) + 1
        long, whole = link.label(x, d), link.label(out, d)
        if long is not None:
            link.set(out, d, (long - 1) * stride + 1 + around)
        elif whole is not None and 2 * around < out.aval.shape[d]:
            last = link.labels.divide(whole - 1 - around, stride)
            link.set(x, d, None if last is None else last + 1)


def groups(shape: Sequence[int], other: Sequence[int]) -> Groups:
    """Axes of two shapes of the same numbers in the same order: which of them are, together, which."""
    found: Groups = []
    i = j = 0
    while i < len(shape) and j < len(other):
        left, right, a, b = [i], [j], shape[i], other[j]
        i, j = i + 1, j + 1
        while a != b:
            if a < b and i < len(shape):
                left, a, i = [*left, i], a * shape[i], i + 1
            elif a > b and j < len(other):
                right, b, j = [*right, j], b * other[j], j + 1
            else:
                return found
        found.append((left, right))
    return found


def _reshape_groups(link: Link) -> Groups:
    """Without axes of one number; none where numbers come in another order."""
    x, out = link.eqn.invars[0], link.eqn.outvars[0]
    if link.eqn.params.get("dimensions") is not None and link.eqn.primitive.name == "reshape":
        return []
    ins, outs = ([d for d, n in enumerate(v.aval.shape) if n != 1] for v in (x, out))
    found = groups([x.aval.shape[d] for d in ins], [out.aval.shape[d] for d in outs])
    return [([ins[d] for d in left], [outs[d] for d in right]) for left, right in found]


def _reshape(link: Link) -> None:
    """An axis that stays; or several that become one, of which the size is the product."""
    x, out = link.eqn.invars[0], link.eqn.outvars[0]
    for left, right in _reshape_groups(link):
        if len(left) == len(right) == 1:
            link.same((x, left[0]), (out, right[0]))
        for (many, v), (one, w) in (((left, x), (right, out)), ((right, out), (left, x))):
            long = [d for d in many if link.label(v, d) is not None]
            if len(one) == 1 and len(many) > 1 and len(long) == 1:
                label = link.label(v, long[0])
                for d in many:
                    label = label if d == long[0] or label is None else label * v.aval.shape[d]
                link.set(w, one[0], label)


def _guess_reshape(link: Link) -> None:
    """Where one long axis becomes several, the first of them that can be is long."""
    x, out = link.eqn.invars[0], link.eqn.outvars[0]
    for left, right in _reshape_groups(link):
        for (one, v), (many, w) in (((left, x), (right, out)), ((right, out), (left, x))):
            label = link.label(v, one[0])
            if len(one) > 1 or len(many) < 2 or label is None or any(link.label(w, d) is not None for d in many):
                continue
            for d in many:
                others = v.aval.shape[one[0]] // w.aval.shape[d]
                if all(factor % others == 0 for _, factor in label.factors):
                    link.set(w, d, label // others)
                if link.label(w, d) is not None:
                    break
            else:
                link.labels.divide(label, v.aval.shape[one[0]] // w.aval.shape[many[0]])


def _dot(link: Link) -> None:
    (ca, cb), (ba, bb) = link.eqn.params["dimension_numbers"]
    (a, b), (out,) = link.eqn.invars, link.eqn.outvars
    for d, e in (*zip(ca, cb, strict=True), *zip(ba, bb, strict=True)):
        link.same((a, d), (b, e))
    free_a = [d for d in range(len(a.aval.shape)) if d not in (*ca, *ba)]
    free_b = [d for d in range(len(b.aval.shape)) if d not in (*cb, *bb)]
    for e, d in enumerate((*ba, *free_a)):
        link.same((a, d), (out, e))
    for e, d in enumerate(free_b, start=len(ba) + len(free_a)):
        link.same((b, d), (out, e))


def _gather(link: Link) -> None:
    (x, indices), (out,), p = link.eqn.invars, link.eqn.outvars, link.eqn.params
    d = p["dimension_numbers"]
    batch = [e for e in range(len(out.aval.shape)) if e not in d.offset_dims]
    for k, e in enumerate(batch):
        link.same((indices, k), (out, e))
    _windows(link, x, out, (*d.collapsed_slice_dims, *d.operand_batching_dims), d.offset_dims)
    for o, k in zip(d.operand_batching_dims, d.start_indices_batching_dims, strict=True):
        link.same((x, o), (indices, k))


def _scatter(link: Link) -> None:
    (x, indices, updates), (out,) = link.eqn.invars, link.eqn.outvars
    d = link.eqn.params["dimension_numbers"]
    for k in range(len(x.aval.shape)):
        link.same((x, k), (out, k))
    for k, e in enumerate(e for e in range(len(updates.aval.shape)) if e not in d.update_window_dims):
        link.same((indices, k), (updates, e))
    _windows(link, x, updates, (*d.inserted_window_dims, *d.operand_batching_dims), d.update_window_dims)
    for o, k in zip(d.operand_batching_dims, d.scatter_indices_batching_dims, strict=True):
        link.same((x, o), (indices, k))


def _windows(link: Link, x: Any, parts: Any, without: Sequence, axes: Sequence) -> None:
    """Whole axes of an array that is read or written in parts."""
    for o, e in zip((o for o in range(len(x.aval.shape)) if o not in without), axes, strict=True):
        link.same_if_equal((x, o), (parts, e))


def _update(link: Link) -> None:
    (x, new, *_), (out,) = link.eqn.invars, link.eqn.outvars
    for d in range(len(x.aval.shape)):
        link.same((x, d), (out, d))
        link.same_if_equal((x, d), (new, d))


def _scan(link: Link) -> None:
    eqn, p = link.eqn, link.eqn.params
    inner = link.places.within(link.k, 0, p["jaxpr"])
    first, carried = p["num_consts"], p["num_carry"]
    rows = first + carried
    ins, outs = inner.jaxpr.invars, inner.jaxpr.outvars
    link.passed(inner, list(zip(eqn.invars[:rows], ins[:rows], strict=True)))
    link.passed(inner, list(zip(eqn.outvars[:carried], outs[:carried], strict=True)))
    _round(link, inner, ins[first:rows], outs[:carried])
    scanned = [
        *zip(eqn.invars[rows:], ins[rows:], strict=True),
        *zip(eqn.outvars[carried:], outs[carried:], strict=True),
    ]
    link.passed(inner, scanned, rows=True)
    for v, _ in scanned:
        if (label := link.label(v, 0)) is not None:
            link.labels.label_loop(link.places, link.k, label)
    for v, _ in scanned:
        link.set(v, 0, link.places.turns.get(link.k))


def _round(link: Link, inner: Any, before: Sequence, after: Sequence) -> None:
    """What one turn of a loop leaves is what the next begins with."""
    for v, w in zip(before, after, strict=True):
        for d in range(len(v.aval.shape)):
            link.labels.same([Axis(inner, v, d), Axis(inner, w, d)])


def _while(link: Link) -> None:
    eqn, p = link.eqn, link.eqn.params
    test, body = (link.places.within(link.k, n, p[f"{name}_jaxpr"]) for n, name in enumerate(("cond", "body")))
    nc, nb = p["cond_nconsts"], p["body_nconsts"]
    link.passed(test, list(zip((*eqn.invars[:nc], *eqn.invars[nc + nb :]), test.jaxpr.invars, strict=True)))
    link.passed(body, list(zip(eqn.invars[nc:], body.jaxpr.invars, strict=True)))
    link.passed(body, list(zip(eqn.outvars, body.jaxpr.outvars, strict=True)))
    _round(link, body, body.jaxpr.invars[nb:], body.jaxpr.outvars)


def _cond(link: Link) -> None:
    for n, branch in enumerate(link.eqn.params["branches"]):
        inner = link.places.within(link.k, n, branch)
        link.passed(inner, list(zip(link.eqn.invars[1:], inner.jaxpr.invars, strict=True)))
        link.passed(inner, list(zip(link.eqn.outvars, inner.jaxpr.outvars, strict=True)))


def _call(link: Link) -> None:
    inner = link.places.within(link.k, 0, link.eqn.params[CALLED[link.eqn.primitive.name]])
    link.passed(inner, list(zip(link.eqn.invars, inner.jaxpr.invars, strict=True)))
    link.passed(inner, list(zip(link.eqn.outvars, inner.jaxpr.outvars, strict=True)))


def guess_rest(labels: Labels) -> None:
    """Arrays without a relation to a loop that are as long: those that are made from nothing, as times are, and tables from
    which each turn of a loop reads a row.

    A short axis may well be as long as a loop by chance, so it is taken for one of these only where the program says so.
    """
    called = list(labels.root.called())
    short: dict[int, Affine] = {}
    for places in called:
        for label in chain(*places.sizes.values()):
            if label is not None:
                short.setdefault(label.at(labels.lengths), label)
    sizes = {size: label for size, label in short.items() if size >= LONG}
    for places in called:
        for k, eqn in enumerate(places.jaxpr.eqns):
            if eqn.primitive.name == "scan" and k in places.turns:
                _guess_tables(labels, places.within(k, 0, eqn.params["jaxpr"]), sizes)
            elif eqn.primitive.name == "iota":
                _guess_made(labels, places, eqn.outvars[0], short if is_marked(eqn) else sizes)
            elif eqn.primitive.name == "broadcast_in_dim" and not _rank(eqn.invars[0]):
                _guess_made(labels, places, eqn.outvars[0], sizes)
    labels.spread()


def _guess_made(labels: Labels, places: Places, made: Any, sizes: dict[int, Affine]) -> None:
    for d in range(_rank(made)):
        _guess_size(labels, Axis(places, made, d), sizes)


def _guess_tables(labels: Labels, body: Places, sizes: dict[int, Affine]) -> None:
    for places in body.called():
        for eqn in places.jaxpr.eqns:
            if eqn.primitive.name in ("dynamic_slice", "gather"):
                for d, width in enumerate(eqn.params["slice_sizes"]):
                    if width == 1:
                        _guess_size(labels, Axis(places, eqn.invars[0], d), sizes)


def _guess_size(labels: Labels, axis: Axis, sizes: dict[int, Affine]) -> None:
    labels.set(axis, sizes.get(axis.variable.aval.shape[axis.number]))


def _rank(v: Any) -> int:
    return len(v.aval.shape)


_OTHERS = ("bitcast_convert_type",)
"""Elementwise only if the types have the same size."""

RELATIONS: dict[str, Callable[[Link], None]] = {
    **dict.fromkeys((name for name in ELEMENTWISE if name not in _OTHERS), _aligned),
    **dict.fromkeys(("rev", "cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), _aligned),
    **dict.fromkeys((f"reduce_{name}" for name in ("sum", "prod", "max", "min", "and", "or", "xor")), _pairs(_kept("axes"))),
    **dict.fromkeys(("argmax", "argmin"), _pairs(_kept("axes"))),
    "squeeze": _pairs(_kept("dimensions")),
    "broadcast_in_dim": _pairs(lambda eqn: list(enumerate(eqn.params["broadcast_dimensions"]))),
    "transpose": _pairs(lambda eqn: [(d, e) for e, d in enumerate(eqn.params["permutation"])]),
    "slice": _pairs(_all_axes),
    "pad": _pairs(_all_axes),
    "dynamic_slice": _pairs(_all_axes),
    "dynamic_update_slice": _update,
    **dict.fromkeys(("optimization_barrier", "device_put", "sharding_constraint"), _unchanged),
    "concatenate": _joined,
    "split": _joined,
    "stack": _stack,
    "unstack": _stack,
    "reshape": _reshape,
    "dot_general": _dot,
    "gather": _gather,
    **dict.fromkeys((f"scatter{name}" for name in ("", "-add", "_add", "-mul", "_mul", "-min", "_min", "-max", "_max")), _scatter),
    "scan": _scan,
    "while": _while,
    "cond": _cond,
    **dict.fromkeys(CALLED, _call),
}  # fmt: skip

GUESSES: dict[str, Callable[[Link], None]] = {
    "concatenate": _guess_joined,
    "split": _guess_joined,
    "slice": _guess_slice,
    "pad": _guess_pad,
    "dynamic_slice": _guess_part,
    "dynamic_update_slice": _guess_part,
    "reshape": _guess_reshape,
}
"""What is likely: which of several numbers depends on a length cannot be seen from one example."""
