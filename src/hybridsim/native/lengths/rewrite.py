"""Parameters of equations on long axes, written with the sizes of these instead of numbers."""

from collections.abc import Callable
from typing import Any

from ..rules.calls import CALLED
from .affine import Affine, Integer, NotGeneralError, Size
from .relations import RELATIONS

Variables = list[Any]
Rewritten = dict[str, Any]

_WITHOUT_RULE = frozenset(("cumprod", "cumlogsumexp", "erf_inv", "reduce_xor"))
_UNDERSTOOD = (RELATIONS.keys() | {"iota"}) - _WITHOUT_RULE
_OF_EMPTY = {
    "concatenate",
    "dynamic_update_slice",
    "scan",
    "while",
    "cond",
    *CALLED,
    *(x for x in RELATIONS if x.startswith(("scatter", "reduce_"))),
}
"""What leaves an empty operand alone, or makes a known number of it."""


def rewritten(eqn: Any, invars: Variables, outvars: Variables) -> Rewritten:
    """The parameters of an equation that are different if its variables have these sizes."""
    name = eqn.primitive.name
    if name not in _UNDERSTOOD:
        raise NotGeneralError(f"{name} of arrays whose size depends on a length")
    if any(map(_is_empty, invars)) and not all(map(_is_empty, outvars)) and name not in _OF_EMPTY:
        raise NotGeneralError(f"{name} that makes numbers of an empty array")
    rule = _PARAMETERS.get(name)
    return {} if rule is None else rule(eqn, invars, outvars)


def _is_empty(v: Any) -> bool:
    """Whether it is one of the arrays without numbers whose other axes depend on lengths."""
    return 0 in v.aval.shape and any(isinstance(n, Affine) for n in v.aval.shape)


def _size(v: Any, d: Integer) -> Size:
    return v.aval.shape[d]


def _slice(eqn: Any, invars: Variables, outvars: Variables) -> Rewritten:
    """Places are counted from the end of a long axis where that is nearer than its beginning."""
    p, (x,), (old,) = eqn.params, invars, eqn.invars
    begins, ends = [], []
    for d, (begin, end) in enumerate(zip(p["start_indices"], p["limit_indices"], strict=True)):
        size, left = _size(x, d), old.aval.shape[d] - end
        if isinstance(size, Affine):
            long = isinstance(_size(outvars[0], d), Affine)
            begins.append(size - (old.aval.shape[d] - begin) if not long and left < begin else begin)
            ends.append(size - left if long or left < begin else end)
        else:
            begins.append(begin)
            ends.append(end)
    return {"start_indices": tuple(begins), "limit_indices": tuple(ends)}


def _pad(eqn: Any, invars: Variables, outvars: Variables) -> Rewritten:
    """What is put around a short axis to make a long one is long on the side where it is more."""
    config = []
    for d, axis in enumerate(eqn.params["padding_config"]):
        low, high, between = map(int, axis)
        size, whole = _size(invars[0], d), _size(outvars[0], d)
        inside = (size - 1) * (between + 1) + 1 if size != 0 else 0
        missing = whole - inside - low - high
        if isinstance(missing, Affine):
            low, high = (low, missing + high) if high >= low else (missing + low, high)
        config.append((low, high, between))
    return {"padding_config": tuple(config)}


def _widths(eqn: Any, invars: Variables, outvars: Variables) -> Rewritten:
    """Of a slice at a place that is computed: those of the result."""
    return {"slice_sizes": outvars[0].aval.shape}


def _gather(eqn: Any, invars: Variables, outvars: Variables) -> Rewritten:
    d, out = eqn.params["dimension_numbers"], outvars[0]
    sizes = list(eqn.params["slice_sizes"])
    without = (*d.collapsed_slice_dims, *d.operand_batching_dims)
    for o, e in zip((o for o in range(len(sizes)) if o not in without), d.offset_dims, strict=True):
        sizes[o] = _size(out, e)
    return {"slice_sizes": tuple(sizes)}


_PARAMETERS: dict[str, Callable[[Any, Variables, Variables], Rewritten]] = {
    "slice": _slice,
    "pad": _pad,
    "dynamic_slice": _widths,
    "gather": _gather,
    "broadcast_in_dim": lambda eqn, ins, outs: {"shape": outs[0].aval.shape},
    "iota": lambda eqn, ins, outs: {"shape": outs[0].aval.shape},
    "reshape": lambda eqn, ins, outs: {"new_sizes": outs[0].aval.shape},
    "split": lambda eqn, ins, outs: {"sizes": tuple(_size(v, eqn.params["axis"]) for v in outs)},
}
