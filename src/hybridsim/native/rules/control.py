"""Loops and branches."""

import numpy as np

from ..arrays import FROM_MEMORY, Array, Lazy, Small, Stored, size_of
from ..graph import Branch, Buffer, Loop, root
from ..types import BOOL, INDEX, type_of
from .reductions import reduce_array
from .unrolled import is_written_out, turn_by_turn

CARRY = 128
"""Arrays with more numbers than this are carried in memory."""


def _scan(low, eqn, *inputs):
    from ..lower import inline

    p = eqn.params
    n_consts, n_carry, length, closed = p["num_consts"], p["num_carry"], p["length"], p["jaxpr"]
    consts, carry, xs = inputs[:n_consts], inputs[n_consts : n_consts + n_carry], inputs[n_consts + n_carry :]
    if is_written_out(eqn):
        return turn_by_turn(low, eqn, list(consts), list(carry), list(xs))
    g, s = low.g, low.s
    y_avals = closed.out_avals[n_carry:]
    ys = [
        Stored((length, *a.shape), type_of(a.dtype), g.buffer(type_of(a.dtype), length * size_of(a.shape)), s)
        for a in y_avals
    ]
    if length == 0:
        return [*carry, *ys]
    # What one entry of xs is needed for is read in the loop; tables of scalars must lie in memory for that.
    xs = [low.a.stored(x) if isinstance(x, Small) else x for x in xs]
    carries = Carries(low, carry, n_consts)
    region = g.enter()
    counter = g.fresh("counter", INDEX, region)
    inside = carries.inside(region)
    i = s.sub(s.index(length - 1), counter) if p["reverse"] else counter
    rows = [_row(low, x, i) for x in xs]
    outs = inline(low, closed, [*consts, *inside, *rows], carries.places_in_body(n_consts))
    for y, out in zip(ys, outs[n_carry:], strict=True):
        offset = s.mul(i, s.index(size_of(out.shape)))
        if isinstance(out, Small):
            for k, value in enumerate(out.ids.ravel().tolist()):
                g.store(y.buffer, s.add(offset, s.index(k)), value)
        else:
            low.a.fill(y.buffer, out.shape, lambda indices, out=out: low.a.at(out, indices), offset)
    pairs = carries.advance(outs[:n_carry])
    g.leave()
    loop = Loop(region, counter, s.index(length), pairs)
    g.current.items.append(loop)
    return [*carries.after(loop), *ys]


class Carries:
    """What a loop hands from one turn to the next: scalars as they are, large arrays in memory of their own."""

    def __init__(self, low, initial, first: int):
        """`first` is the place of the first one among the operands of the equation."""
        self.low = low
        self.initial = list(initial)
        self.memory = [self._memory(x, first + k) for k, x in enumerate(self.initial)]

    def _memory(self, x: Array, operand: int) -> Buffer | None:
        if isinstance(x, Small) and size_of(x.shape) <= (FROM_MEMORY if self.low.a.straight else CARRY):
            return None
        if isinstance(x, Stored) and self.low.may_overwrite(operand):
            return root(x.buffer)
        buffer = self.low.g.reusable_buffer(x.type, size_of(x.shape))
        self.low.a.fill(buffer, x.shape, lambda indices: self.low.a.at(x, indices))
        return buffer

    def places_in_body(self, first: int) -> frozenset[int]:
        """Arguments of the body that a turn may overwrite: what the turn before has left in memory."""
        return frozenset(first + k for k, buffer in enumerate(self.memory) if buffer is not None)

    def inside(self, region):
        out = []
        self.ids = []
        for x, buffer in zip(self.initial, self.memory, strict=True):
            if buffer is None:
                ids = np.array([self.low.g.fresh("carry", x.type, region) for _ in range(x.ids.size)], dtype=np.int64)
                self.ids.append(ids)
                out.append(Small(ids.reshape(x.shape), x.type))
            else:
                # Its contents change from turn to turn, so reading it belongs to the loop.
                self.ids.append(None)
                alias = self.low.g.alias(buffer, region)
                out.append(Stored(x.shape, x.type, alias, self.low.s))
        return out

    def advance(self, outs):
        pairs, copies = [], []
        for x, ids, buffer, out in zip(self.initial, self.ids, self.memory, outs, strict=True):
            if buffer is None:
                after = self.low.a.small(out).ids.ravel().tolist()
                pairs += zip(ids.tolist(), x.ids.ravel().tolist(), after, strict=True)
            elif not self._is_memory(out, buffer):
                # An array that stands in another carry's memory is copied out before that is overwritten.
                borrowed = any(self._is_memory(out, other) for other in self.memory)
                kept = Lazy(out.shape, out.type, out.element) if borrowed else out
                copies.append((buffer, self.low.a.stored(kept)))
        for buffer, out in copies:
            self.low.a.fill(buffer, out.shape, out.element)
        return pairs

    @staticmethod
    def _is_memory(x, buffer) -> bool:
        return buffer is not None and isinstance(x, Stored) and root(x.buffer) is buffer

    def after(self, loop):
        g = self.low.g
        loop.results = [g.fresh("result", g.types[i], g.current) for _, i, _ in loop.carries]
        results = iter(loop.results)
        out = []
        for x, buffer in zip(self.initial, self.memory, strict=True):
            if buffer is None:
                ids = np.array([next(results) for _ in range(x.ids.size)], dtype=np.int64)
                out.append(Small(ids.reshape(x.shape), x.type))
            else:
                alias = g.alias(buffer, g.current)
                out.append(Stored(x.shape, x.type, alias, self.low.s))
        return out


def _row(low, x, i):
    shape = x.shape[1:]
    return low.result(shape, x.type, lambda indices: low.a.at(x, (i, *indices)), (x,), cheap=True)


def _while(low, eqn, *inputs):
    from ..lower import inline

    p = eqn.params
    nc, nb = p["cond_nconsts"], p["body_nconsts"]
    cond_consts, body_consts, carry = inputs[:nc], inputs[nc : nc + nb], inputs[nc + nb :]
    g = low.g
    carries = Carries(low, carry, nc + nb)
    region = g.enter()
    inside = carries.inside(region)
    tests = inline(low, p["cond_jaxpr"], [*cond_consts, *inside])[0]
    test = _any(low, tests)
    body = g.enter(pinned=True)
    # What is done keeps its old value, which must still be there then.
    changed = frozenset() if tests.shape else carries.places_in_body(nb)
    outs = inline(low, p["body_jaxpr"], [*body_consts, *inside], changed)
    if tests.shape:
        outs = [_kept(low, tests, new, old) for new, old in zip(outs, inside, strict=True)]
    pairs = carries.advance(outs)
    g.leave()
    g.leave()
    loop = Loop(body, None, None, pairs, test_region=region, test=test)
    g.current.items.append(loop)
    return carries.after(loop)


def _any(low, tests):
    """Whether to go on. A loop that was vmapped has a test for each of its copies, and goes on while any does."""
    if not tests.shape:
        return low.a.at(tests, ())
    out = reduce_array(low, tests, "or", tuple(range(len(tests.shape))), (), BOOL)
    return low.a.at(out, ())


def _kept(low, tests, new, old):
    """The next value of a carry, whose leading axes are those of the tests: copies that are done keep theirs."""

    def element(indices):
        mine = low.a.at(tests, indices[: len(tests.shape)])
        return low.s.select(mine, low.a.at(new, indices), low.a.at(old, indices))

    return low.result(new.shape, new.type, element, (new, old, tests))


def _cond(low, eqn, which, *operands):
    from ..lower import inline

    branches = eqn.params["branches"]
    g, s = low.g, low.s
    selector = low.a.at(which, ())
    if g.types[selector] == BOOL:
        selector = s.cast(selector, INDEX)
    if g.is_constant(selector):
        chosen = min(max(int(g.constants[selector]), 0), len(branches) - 1)
        return inline(low, branches[chosen], list(operands))
    selector = s.clamp_index(selector, 0, len(branches) - 1)
    avals = branches[0].out_avals
    large = [g.buffer(type_of(a.dtype), size_of(a.shape)) if size_of(a.shape) > 256 else None for a in avals]
    regions, outputs = [], []
    for branch in branches:
        region = g.enter(pinned=True)
        outs = inline(low, branch, list(operands))
        values = []
        for out, buffer in zip(outs, large, strict=True):
            if buffer is None:
                values += low.a.small(out).ids.ravel().tolist()
            else:
                low.a.fill(buffer, out.shape, lambda indices, out=out: low.a.at(out, indices))
        g.leave()
        regions.append(region)
        outputs.append(values)
    types = [type_of(a.dtype) for a, b in zip(avals, large, strict=True) if b is None for _ in range(size_of(a.shape))]
    item = Branch(selector, regions, outputs, [])
    g.current.items.append(item)
    item.results = [g.fresh("result", t, g.current) for t in types]
    results = iter(item.results)
    outs = []
    for a, buffer in zip(avals, large, strict=True):
        if buffer is None:
            ids = np.array([next(results) for _ in range(size_of(a.shape))], dtype=np.int64)
            outs.append(Small(ids.reshape(a.shape), type_of(a.dtype)))
        else:
            outs.append(Stored(a.shape, type_of(a.dtype), buffer, s))
    return outs


def _platform_index(low, eqn):
    """Which of several implementations to take: the one for the CPU."""
    for index, platforms in enumerate(eqn.params["platforms"]):
        if platforms is None or "cpu" in platforms:
            return [low.a.constant(np.asarray(index), type_of(eqn.outvars[0].aval.dtype))]
    raise NotImplementedError(f"no implementation for the CPU among {eqn.params['platforms']}")


CONTROL = {"platform_index": _platform_index, "scan": _scan, "while": _while, "cond": _cond}
