"""Loops over the rows of arrays: scans of which JAX's `unroll` says that they may be written out.

A short one is written out. A long one joins the loop over rows that computes what it reads, so that several passes over
the same rows become one.
"""

import numpy as np

from ..arrays import Array, Lazy, Small, is_aligned, size_of
from ..rows import MANY, RowLoop, Rows
from ..types import type_of

MOST = 600
"""Numbers that a turn of a loop over rows reads, carries and makes at most of one array."""


def scan_rows(low, eqn, *inputs) -> list[Array] | None:
    """The rule of such a scan; None where it is better a loop like any other."""
    p = eqn.params
    n_consts, n_carry, turns = p["num_consts"], p["num_carry"], p["length"]
    consts, carry, xs = inputs[:n_consts], inputs[n_consts : n_consts + n_carry], inputs[n_consts + n_carry :]
    avals = [*(v.aval for v in p["jaxpr"].jaxpr.invars), *p["jaxpr"].out_avals]
    if turns == 0 or any(size_of(a.shape) > MOST for a in avals[n_consts:]):
        return None
    group = _group(turns, [a.shape for a in avals[n_consts + n_carry :]])
    if turns * group < MANY:
        return _written_out(low, p, consts, carry, xs)
    if group >= MANY:
        return None
    return _LoopOverRows(low, p, consts, carry, xs, group).run()


def _group(turns: int, shapes: list[tuple[int, ...]]) -> int:
    """How many rows a turn handles: the first axis of all that it reads and makes, if they agree."""
    return min((shape[0] for shape in shapes if shape), default=1)


def _row(low, x: Array, i: int) -> Small:
    return Small(low.a.row_of(x, i), x.type)


def _written_out(low, p, consts, carry, xs) -> list[Array]:
    from ..lower import inline

    turns, n_carry = p["length"], p["num_carry"]
    ys: list[list[np.ndarray]] = []
    for x in xs:
        low.a.settle(x)
    for turn in reversed(range(turns)) if p["reverse"] else range(turns):
        outs = inline(low, p["jaxpr"], [*consts, *carry, *(_row(low, x, low.s.index(turn)) for x in xs)])
        carry = outs[:n_carry]
        ys.append([low.a.small(out).ids for out in outs[n_carry:]])
    if p["reverse"]:
        ys.reverse()
    types = [type_of(a.dtype) for a in p["jaxpr"].out_avals[n_carry:]]
    return [*carry, *(Small(np.stack(rows), type) for rows, type in zip(zip(*ys, strict=True), types, strict=True))]


class _LoopOverRows:
    """What a scan does, put into a loop over rows."""

    def __init__(self, low, p, consts, carry, xs, group: int):
        self.low, self.g, self.p, self.group = low, low.g, p, group
        turns = p["length"]
        for x in (*consts, *carry, *(x for x in xs if not is_aligned(x) or x.shape[0] != turns)):
            low.a.settle(x)
        self.consts = [low.a.ready(x) for x in consts]
        self.carry = [low.a.small(x) for x in carry]
        self.loop: RowLoop = low.a.rows.loop(turns, bool(p["reverse"]))
        with self.g.inside(self.loop.body):
            self.rows = [_row(low, x, self.loop.index) for x in xs]

    def run(self) -> list[Array]:
        initial = np.concatenate([x.ids.ravel() for x in self.carry] or [np.zeros(0, dtype=np.int64)])
        with self.g.inside(self.loop.body):
            inside, after, ys = self._body(initial)
        carries = list(dict.fromkeys(i for i in inside.tolist() if i not in self.g.constants))
        places = [inside.tolist().index(i) for i in carries]
        results = [self.g.fresh("result", self.g.types[i], self.g.current) for i in carries]
        self.loop.carries += [(i, int(initial[k]), int(after[k])) for i, k in zip(carries, places, strict=True)]
        self.loop.results += results
        of_carry = dict(zip(carries, results, strict=True))
        finals = np.array([of_carry.get(i, i) for i in inside.tolist()], dtype=np.int64)
        return [*(self._final(ids, x) for ids, x in zip(self._split(finals), self.carry, strict=True)), *map(self._rows, ys)]

    def _body(self, initial: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Small]]:
        """What is carried inside, what it is after a turn, and what the turn makes.

        What is carried is taken to be the same in all turns where it starts as a constant, and two numbers to be the same
        where they start so, as in symmetric matrices, until a turn shows otherwise.
        """
        constant = np.array([i in self.g.constants for i in initial.tolist()], dtype=bool)
        same = initial
        while True:
            inside = self._inside(initial, constant, same)
            outs = self._turn(inside)
            after = np.concatenate([low_ids.ids.ravel() for low_ids in outs[: len(self.carry)]] or [initial])
            still = constant & (after == initial)
            refined = _refined(same, np.where(still, initial, after))
            if (still == constant).all() and len(set(refined[~still].tolist())) == len(set(same[~still].tolist())):
                return inside, after, outs[len(self.carry) :]
            constant, same = still, refined

    def _inside(self, initial: np.ndarray, constant: np.ndarray, same: np.ndarray) -> np.ndarray:
        carried: dict[int, int] = {}
        inside = initial.copy()
        for k in np.flatnonzero(~constant).tolist():
            label = int(same[k])
            if label not in carried:
                carried[label] = self.g.fresh("carry", self.g.types[int(initial[k])], self.loop.body)
            inside[k] = carried[label]
        return inside

    def _turn(self, inside: np.ndarray) -> list[Small]:
        from ..lower import inline

        carry = [Small(ids, x.type) for ids, x in zip(self._split(inside), self.carry, strict=True)]
        return [self.low.a.small(out) for out in inline(self.low, self.p["jaxpr"], [*self.consts, *carry, *self.rows])]

    def _split(self, ids: np.ndarray) -> list[np.ndarray]:
        ends = np.cumsum([x.ids.size for x in self.carry])
        return [part.reshape(x.shape) for part, x in zip(np.split(ids, ends[:-1]), self.carry, strict=True)]

    def _final(self, ids: np.ndarray, x: Small) -> Array:
        """What is carried out of the loop: reading it ends the loop."""
        known = Small(ids, x.type)

        def element(indices):
            self.g.place(self.loop)
            return self.low.a.at(known, indices)

        return Lazy(x.shape, x.type, element, loops=frozenset({self.loop}), aligned=False)

    def _rows(self, y: Small) -> Rows:
        turns, in_groups = self.p["length"], self.group > 1 and y.shape[:1] == (self.group,)
        ids = y.ids if in_groups else y.ids[None]
        return Rows((turns, *y.shape), y.type, self.loop, ids, 2 if in_groups else 1, self.low.a)


def _refined(labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Labels that are equal where both are."""
    _, refined = np.unique(np.stack([labels, others]), axis=1, return_inverse=True)
    return refined.ravel()
