"""Rows of small arrays side by side in vector registers: four legs cost little more than one.

What a program does with the rows of an array of four rows is mostly the same for each. Values that do the same are
packed: one operation on a vector instead of four on numbers. This is superword-level parallelism (Larsen and
Amarasinghe 2000), except that the arrays of the program say where to begin.
"""

from collections.abc import Iterator

from .graph import Graph
from .live import Facts, facts, operands
from .order import CircleError, order
from .rebuild import WIDTH, Rebuilt, rebuild

_PACKABLE = frozenset((
    "add", "sub", "mul", "div", "neg", "fma", "fms", "fnma", "sqrt", "abs", "max", "min", "copysign", "floor", "rint",
    "select", "eq", "ne", "lt", "le", "and", "or", "xor", "not", "shl", "lshr", "bits", "carry",
))  # fmt: skip
_COMMUTATIVE = frozenset(("add", "mul", "max", "min", "and", "or", "xor", "eq", "ne", "fma", "fms", "fnma"))

GATHER, BROADCAST, EXTRACT = 3.0, 1.0, 1.0
"""What it costs, in operations, to make a vector of four numbers, of one, and to take a number out."""

Pack = tuple[int, ...]


class Packing:
    """Which values are packed with which."""

    def __init__(self, graph: Graph, found: Facts):
        self.graph, self.facts = graph, found
        self.packs: dict[int, Pack] = {}
        """Of each packed value, its pack."""
        self.operands: dict[Pack, list[Pack]] = {}

    def try_pack(self, seed: Pack) -> None:
        """Pack these values, and what they are made of, as far as that is possible."""
        waiting = [seed]
        while waiting:
            pack = waiting.pop()
            if self._can_pack(pack):
                self.operands[pack] = self._aligned(pack)
                for value in pack:
                    self.packs[value] = pack
                waiting += self.operands[pack]

    def _can_pack(self, pack: Pack) -> bool:
        g, first = self.graph, pack[0]
        op, region, type = g.ops[first], g.regions[first], g.types[first]
        return (
            (op in _PACKABLE or op.startswith(("rarely ", "call ")))
            and len(set(pack)) == len(pack)
            and all(
                g.ops[v] == op and g.regions[v] is region and g.types[v] == type and v not in self.packs for v in pack
            )
            and all(v in self.facts.live for v in pack)
        )

    def _aligned(self, pack: Pack) -> list[Pack]:
        """Operands of the lanes side by side; factors and terms in the order in which they match the first lane's."""
        lanes = [operands(self.graph, v) for v in pack]
        if self.graph.ops[pack[0]] in _COMMUTATIVE:
            for k, lane in enumerate(lanes[1:], start=1):
                a, b = lanes[0][:2]
                if self._match(a, lane[1], k) + self._match(b, lane[0], k) > (
                    self._match(a, lane[0], k) + self._match(b, lane[1], k)
                ):
                    lane[0], lane[1] = lane[1], lane[0]
        return [tuple(x) for x in zip(*lanes, strict=True)]

    def _match(self, first: int, other: int, lane: int) -> int:
        packed = self.packs.get(first)
        if packed is not None and packed[0] == first:
            return 4 if packed[lane] == other else 0
        if first == other:
            return 3
        constants = self.graph.constants
        if first in constants or other in constants:
            return 2 if first in constants and other in constants else 0
        return 1 if self.graph.ops[first] == self.graph.ops[other] else 0

    # What pays

    def prune(self) -> None:
        """Undo packs that cost more than they save, until all pay."""
        users, depth = Users(self), self._depth()
        asked = list(self.operands)
        while asked:
            undone = []
            for pack in asked:
                if self._cost_apart(pack, users) < self._cost_packed(pack, users, depth):
                    undone.append((pack, self.operands[pack]))
                    self._undo(pack)
            # Only of those near them the costs have changed: along a chain one pack after the other may be undone.
            near = {p: None for pack, ops in undone for p in users.without(pack, ops)}
            if undone and depth != (depth := self._depth()):
                near = dict.fromkeys(self.operands)
            asked = [p for p in near if p in self.operands]

    def _undo(self, pack: Pack) -> None:
        del self.operands[pack]
        for value in pack:
            del self.packs[value]

    def break_circles(self) -> None:
        """Undo packs that would have to be computed both before and after another."""
        done: set = set()
        for start in list(self.operands):
            while (pack := self._circle_below(start, done)) is not None:
                self._undo(pack)

    def _circle_below(self, start: Pack, done: set) -> Pack | None:
        """A pack that needs itself and that `start` needs, or None. What is `done` is in no circle."""
        g, packs = self.graph, self.packs
        begun: set = set()
        stack: list = [start] if start in self.operands else []
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            values = node if isinstance(node, tuple) else (node,)
            region = g.regions[values[0]]
            inputs = {packs.get(x, x) for v in values for x in operands(g, v) if g.regions[x] is region}
            waiting = [x for x in inputs if x not in done]
            if not waiting:
                done.add(stack.pop())
            elif node in begun:
                return next(x for x in reversed(stack) if x in begun and isinstance(x, tuple))
            else:
                begun.add(node)
                stack += waiting
        return None

    def _cost_packed(self, pack: Pack, users: "Users", depth: int) -> float:
        made = sum(self._cost_of_vector(p, depth) / users.of_vector[p] for p in set(self.operands[pack]))
        return 1 + made + EXTRACT * sum(v in users.as_number for v in pack)

    def _cost_apart(self, pack: Pack, users: "Users") -> float:
        taken_out = 0.0
        for p in set(self.operands[pack]):
            if p in self.operands:
                taken_out += EXTRACT * sum(v not in users.as_number for v in p)
        gathered = GATHER if users.of_vector.get(pack) else 0.0
        return WIDTH + taken_out + gathered

    def _cost_of_vector(self, p: Pack, depth: int) -> float:
        g = self.graph
        if p in self.operands or all(v in g.constants for v in p):
            return 0.0
        deepest = max(g.regions[v].depth for v in p)
        cost = BROADCAST if len(set(p)) == 1 else GATHER
        # Outside of loops it hardly counts.
        return cost if deepest == depth else cost / 8

    def _depth(self) -> int:
        """Of the innermost loop with packs."""
        return max((self.graph.regions[p[0]].depth for p in self.operands), default=0)


class Users:
    """How often each vector is needed, and which packed values are needed as numbers."""

    def __init__(self, packing: Packing):
        self.packing = packing
        self.of_vector: dict[Pack, int] = {}
        self.who: dict[Pack, dict[Pack, None]] = {}
        """Of each vector, the packs that need it."""
        packs, g = packing.packs, packing.graph
        self.as_number: set[int] = {v for v in packs if v in packing.facts.escaping and g.ops[v] != "carry"}
        for pack, ops in packing.operands.items():
            for p in set(ops):
                self.of_vector[p] = self.of_vector.get(p, 0) + 1
                self.who.setdefault(p, {})[pack] = None
                if p not in packing.operands:
                    self.as_number.update(v for v in p if v in packs)
        for value in packing.facts.live:
            if value not in packs:
                self.as_number.update(x for x in operands(g, value) if x in packs)

    def without(self, pack: Pack, ops: list[Pack]) -> Iterator[Pack]:
        """A pack is undone that needed the vectors `ops`. The packs, or former ones, whose costs that changes."""
        packs, constants = self.packing.packs, self.packing.graph.constants
        yield from self.who.get(pack, ())
        for p in set(ops):
            self.of_vector[p] -= 1
            del self.who[p][pack]
            if p in self.packing.operands:
                yield p
            elif not all(x in constants for x in p):
                yield from self.who[p]
            for x in p:
                # Its users, of which one is a number now, need it as one.
                if x in packs and x not in self.as_number:
                    self.as_number.add(x)
                    yield packs[x]
                    yield from self.who.get(packs[x], ())


def pack(graph: Graph, rows: list) -> Rebuilt | None:
    """The program with rows packed, or None where nothing is worth it. `rows`: tables of values, four rows each."""
    found = facts(graph)
    packing = Packing(graph, found)
    for table in rows:
        for seed in zip(*(table[k].tolist() for k in range(WIDTH)), strict=True):
            packing.try_pack(seed)
    packing.prune()
    packing.break_circles()
    if not packing.operands:
        return None
    packed = rebuild(graph, found, packing.operands)
    try:
        order(packed.graph, facts(packed.graph))
    except CircleError:
        return None
    return packed
