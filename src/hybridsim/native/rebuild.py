"""A copy of a graph in which packs of values are vectors. Its regions are not in order: see `order`."""

from collections import Counter
from dataclasses import dataclass

from .graph import Branch, Graph, Loop, Region, Store
from .live import Facts, operands

WIDTH = 4
"""Values in a pack: doubles in a register of AVX2."""

Pack = tuple[int, ...]


@dataclass
class Rebuilt:
    graph: Graph
    vectors: frozenset[int]
    """Values that are vectors; all others are numbers."""


def rebuild(graph: Graph, found: Facts, packs: dict[Pack, list[Pack]]) -> Rebuilt:
    """`packs`: of each pack its operands, lane by lane; what is no pack itself is gathered from numbers."""
    return _Rebuilding(graph, found, packs).run()


class _Rebuilding:
    def __init__(self, graph: Graph, found: Facts, packs: dict[Pack, list[Pack]]):
        self.old, self.found, self.packs = graph, found, packs
        self.new = graph.copy()
        self.regions: dict[Region, Region] = {}
        self.vector_of: dict[Pack, int] = {}
        self.place: dict[int, tuple[int, int]] = {}
        """Of each packed value: the vector it is in, and its lane."""
        self.lanes: dict[tuple[int, int], int] = {}
        self.vectors: set[int] = set()

    def run(self) -> Rebuilt:
        self._clone_regions(self.old.top, None)
        g = self.new
        g.top = g.current = self.regions[self.old.top]
        g.regions = [self.regions.get(region, region) for region in g.regions]
        for pack in self.packs:
            self._place(pack)
        for loop in self.found.loops:
            self._place_results(loop)
        for old in self.regions:
            self._fill(old)
        for pack, parts in self.packs.items():
            extra = tuple(x for x in self.old.args[pack[0]] if not isinstance(x, int))
            g.args[self.vector_of[pack]] = tuple(self.vector(p) for p in parts) + extra
        for value in self.found.live:
            if value not in self.place and any(x in self.place for x in operands(self.old, value)):
                g.args[value] = tuple(self.number(x) if isinstance(x, int) else x for x in self.old.args[value])
        return Rebuilt(g, frozenset(self.vectors))

    def _clone_regions(self, old: Region, parent: Region | None) -> None:
        new = self.regions[old] = Region(parent, pinned=old.pin is old)
        for item in old.items:
            if isinstance(item, Loop):
                if item.test_region is not None:
                    self._clone_regions(item.test_region, new)
                self._clone_regions(item.body, new if item.test_region is None else self.regions[item.test_region])
            elif isinstance(item, Branch):
                for region in item.regions:
                    self._clone_regions(region, new)

    def _place(self, pack: Pack) -> None:
        """Make the vector that stands for a pack."""
        first = pack[0]
        region = self.regions[self.old.regions[first]]
        new = self.new.fresh(self.old.ops[first], self.old.types[first], region)
        self.vector_of[pack] = new
        self.vectors.add(new)
        for lane, value in enumerate(pack):
            self.place[value] = (new, lane)

    def _place_results(self, loop: Loop) -> None:
        """What is carried in a vector comes out of the loop in one."""
        result_of = {carry[0]: result for carry, result in zip(loop.carries, loop.results, strict=True)}
        for pack in self.packs:
            if pack[0] in result_of:
                self._place(tuple(result_of[inside] for inside in pack))

    def vector(self, pack: Pack) -> int:
        """The vector of these values; made where the innermost of them is, so outside of loops where possible."""
        found = self.vector_of.get(pack)
        if found is None:
            numbers = tuple(self.number(v) for v in pack)
            home = max((self.new.regions[v] for v in numbers), key=lambda region: region.depth)
            found = self.vector_of[pack] = self.new.fresh("gather", self.old.types[pack[0]], home, listed=True)
            self.new.args[found] = numbers
            self.vectors.add(found)
        return found

    def number(self, value: int) -> int:
        """A value as a number, taken out of its vector if it is in one."""
        place = self.place.get(value)
        if place is None:
            return value
        if place not in self.lanes:
            vector, lane = place
            new = self.lanes[place] = self.new.fresh(
                "lane", self.new.types[vector], self.new.regions[vector], listed=True
            )
            self.new.args[new] = (vector, str(lane))
        return self.lanes[place]

    def _fill(self, old: Region) -> None:
        """Put copies of a region's items into its copy."""
        items = self.regions[old].items
        seen: Counter = Counter()
        for item in old.items:
            if isinstance(item, int):
                if item not in self.place:
                    items.append(item)
                    continue
                # A vector comes where the last of its values was.
                vector, _ = self.place[item]
                seen[vector] += 1
                if seen[vector] == WIDTH:
                    items.append(vector)
            elif isinstance(item, Store):
                items.append(Store(item.buffer, self.number(item.place), self.number(item.value)))
            elif isinstance(item, Loop):
                items.append(self._loop(item))
            else:
                outputs = [[self.number(v) for v in values] for values in item.outputs]
                regions = [self.regions[region] for region in item.regions]
                items.append(Branch(self.number(item.selector), regions, outputs, list(item.results)))

    def _loop(self, loop: Loop) -> Loop:
        carries, results = [], []
        columns = {inside: (initial, after) for inside, initial, after in loop.carries}
        result_of = {carry[0]: result for carry, result in zip(loop.carries, loop.results, strict=True)}
        for inside, initial, after in loop.carries:
            if inside not in self.place:
                carries.append((inside, self.number(initial), self.number(after)))
                results.append(result_of[inside])
        for pack in self.packs:
            if pack[0] in columns:
                initial, after = (tuple(columns[v][k] for v in pack) for k in (0, 1))
                carries.append((self.vector_of[pack], self.vector(initial), self.vector(after)))
                results.append(self.vector_of[tuple(result_of[v] for v in pack)])
        test_region = None if loop.test_region is None else self.regions[loop.test_region]
        test = None if loop.test is None else self.number(loop.test)
        trip = None if loop.trip is None else self.number(loop.trip)
        return Loop(self.regions[loop.body], loop.counter, trip, carries, test_region, test, results)
