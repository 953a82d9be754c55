"""Arrays that are not needed at the same time share memory, so that what a program works on stays in the caches."""

from collections import defaultdict

from .graph import Branch, Buffer, Graph, Loop, Region, Store, root
from .live import facts


def share(graph: Graph) -> None:
    """Give buffers of the workspace the memory of others of their region that nothing reads any more.

    Only arrays of one type and size share memory. A buffer is needed from the first item of its region that writes it to
    the last that reads it. Loads between two items with effects may be moved there, so these items are the clock.
    """
    _Lifetimes(graph).share()


class _Lifetimes:
    def __init__(self, graph: Graph):
        found = facts(graph)
        self.graph, self.live, self.read = graph, found.live, found.read
        self.first: dict[Buffer, int] = {}
        self.last: dict[Buffer, int] = {}

    def share(self) -> None:
        self._accessed(self.graph.top)
        starting: dict[Region, list[Buffer]] = defaultdict(list)
        for buffer in sorted(self.first, key=lambda b: (self.first[b], b.index)):
            starting[buffer.region].append(buffer)
        for buffers in starting.values():
            needed: list[Buffer] = []
            free: dict[tuple, list[Buffer]] = defaultdict(list)
            for buffer in buffers:
                for other in [b for b in needed if self.last[b] < self.first[buffer]]:
                    needed.remove(other)
                    free[other.type, other.size].append(other)
                needed.append(buffer)
                if free[buffer.type, buffer.size]:
                    buffer.takes_over = free[buffer.type, buffer.size].pop()

    def _accessed(self, region: Region) -> set[Buffer]:
        """Buffers of regions around that a region writes or reads; notes when it does so with its own."""
        outside: set[Buffer] = set()
        effects = 0
        for item in region.items:
            effects += not isinstance(item, int)
            # A load comes after the item with effects before it, and before the next one.
            time = 2 * effects + isinstance(item, int)
            for buffer in self._of_item(item):
                if buffer.region is region:
                    self.first.setdefault(buffer, time)
                    self.last[buffer] = time
                else:
                    outside.add(buffer)
        return outside

    def _of_item(self, item: int | Store | Loop | Branch) -> set[Buffer]:
        if isinstance(item, int):
            is_load = item in self.live and self.graph.ops[item] == "load"
            buffers = {root(self.graph.args[item][1])} if is_load else set()
        elif isinstance(item, Store):
            buffers = {root(item.buffer)}
        else:
            buffers = set().union(*map(self._accessed, item.inner()))
        return {b for b in buffers if b.kind == "workspace" and b.index in self.read}
