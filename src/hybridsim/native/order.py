"""Regions whose items have come out of order are put back into one in which everything comes after what it needs.

Otherwise the order is that of the program. Memory is read and written in the program's order.
"""

from .graph import Branch, Graph, Loop, Region, Store, root
from .live import Facts, operands


class CircleError(ValueError):
    """Something needs itself."""


def order(graph: Graph, found: Facts) -> None:
    """Sort the items of all regions, in place, and drop values that nothing needs."""
    stack = [graph.top]
    while stack:
        region = stack.pop()
        _Ordering(graph, found.live, region).run()
        for item in region.items:
            if isinstance(item, (Loop, Branch)):
                stack += _inner(item)


def _inner(item: Loop | Branch) -> list[Region]:
    if isinstance(item, Branch):
        return item.regions
    return [item.body] if item.test_region is None else [item.test_region, item.body]


class _Ordering:
    def __init__(self, graph: Graph, live: set[int], region: Region):
        self.graph, self.live, self.region = graph, live, region
        self.items = [item for item in region.items if not isinstance(item, int) or item in live]
        self.here: dict = {item: item for item in self.items if isinstance(item, int)}
        """Of each value that is made here, the item that makes it: itself, or a loop or branch that it is a result of."""
        self.here |= {r: item for item in self.items if isinstance(item, (Loop, Branch)) for r in item.results}
        self.needs: dict = {}

    def run(self) -> None:
        self._find_needs()
        done: set = set()
        begun: set = set()
        out: list = []
        for start in self.items:
            stack = [start]
            while stack:
                item = stack[-1]
                waiting = [] if item in done else [x for x in self.needs[item] if x not in done]
                if waiting:
                    if item in begun:
                        raise CircleError
                    begun.add(item)
                    stack += waiting
                    continue
                if item not in done:
                    done.add(item)
                    out.append(item)
                stack.pop()
        self.region.items = out

    def _find_needs(self) -> None:
        last_effect, loads = None, []
        for item in self.items:
            if isinstance(item, int):
                needs: list = [self.here[x] for x in operands(self.graph, item) if x in self.here]
                if self._reads_what_is_written(item):
                    loads.append(item)
                    needs += [last_effect] if last_effect is not None else []
            else:
                needs = [self.here[x] for x in self._used_by(item) if x in self.here] + loads
                needs += [last_effect] if last_effect is not None else []
                last_effect, loads = item, []
            self.needs[item] = needs

    def _reads_what_is_written(self, value: int) -> bool:
        return self.graph.ops[value] == "load" and root(self.graph.args[value][1]).kind in ("workspace", "output")

    def _used_by(self, item: Store | Loop | Branch) -> set[int]:
        """Values that an item uses, those in its own regions included."""
        if isinstance(item, Store):
            return {item.place, item.value}
        used: set[int] = set()
        if isinstance(item, Branch):
            used.add(item.selector)
            used.update(v for values in item.outputs for v in values)
        else:
            used.update(v for carry in item.carries for v in carry)
            used.update(x for x in (item.trip, item.test) if x is not None)
        for region in _inner(item):
            for x in region.items:
                if not isinstance(x, int):
                    used |= self._used_by(x)
                elif x in self.live:
                    used.update(operands(self.graph, x))
        return used
