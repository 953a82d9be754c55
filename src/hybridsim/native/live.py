"""What is needed, how often, and what differs between the lanes of a batch."""

from collections import Counter
from dataclasses import dataclass, field

from .graph import Branch, Buffer, Graph, Loop, Region, Store, root


@dataclass
class Facts:
    """About the values that some output depends on."""

    live: set[int] = field(default_factory=set)
    uses: Counter = field(default_factory=Counter)
    loops: list[Loop] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    varying: set[int] = field(default_factory=set)
    """Values that are different in each lane; empty where there is one lane."""
    escaping: set[int] = field(default_factory=set)
    """Values that something else than another value's operation uses: stores, loops, branches."""


def facts(graph: Graph, lanes: int = 1, uniform: frozenset[int] = frozenset()) -> Facts:
    """`uniform` are the indices of the input buffers that all lanes share."""
    f = Facts()
    _collect(graph.top, f)
    _mark_live(graph, f)
    if lanes > 1:
        _mark_varying(graph, f, uniform)
    return f


def operands(graph: Graph, value: int) -> list[int]:
    return [x for x in graph.args[value] if type(x) is int]


def _collect(region: Region, f: Facts) -> None:
    for item in region.items:
        if isinstance(item, Store):
            f.stores.append(item)
        elif isinstance(item, Loop):
            f.loops.append(item)
            if item.test_region is not None:
                _collect(item.test_region, f)
            _collect(item.body, f)
        elif isinstance(item, Branch):
            f.branches.append(item)
            for branch in item.regions:
                _collect(branch, f)


def _sources(f: Facts) -> dict[int, list[int]]:
    """Of each carry and result, the values that it may be."""
    sources: dict[int, list[int]] = {}
    for loop in f.loops:
        for (inside, initial, after), result in zip(loop.carries, loop.results, strict=True):
            sources[inside] = [initial, after]
            # After a counted loop a result is the last `after`; after a tested one it is what was tested.
            sources[result] = [inside, after]
    for branch in f.branches:
        for k, result in enumerate(branch.results):
            sources[result] = [branch.selector, *(values[k] for values in branch.outputs)]
    return sources


def _mark_live(graph: Graph, f: Facts) -> None:
    sources = _sources(f)
    read = read_buffers(graph)
    stack: list[int] = []

    def need(value: int) -> None:
        f.uses[value] += 1
        if value not in f.live:
            f.live.add(value)
            stack.append(value)

    def need_outside(value: int) -> None:
        f.escaping.add(value)
        need(value)

    for store in f.stores:
        if store.buffer.kind == "output" or root(store.buffer).index in read:
            need_outside(store.place)
            need_outside(store.value)
    for loop in f.loops:
        if loop.test is not None:
            need_outside(loop.test)
        if loop.trip is not None:
            need_outside(loop.trip)
    for branch in f.branches:
        need_outside(branch.selector)
    while stack:
        value = stack.pop()
        if value in sources:
            for x in sources[value]:
                need_outside(x)
        else:
            for x in operands(graph, value):
                need(x)


def read_buffers(graph: Graph) -> set[int]:
    """Memory that is read somewhere; stores to other memory are dropped."""
    return {
        root(x).index
        for value, op in enumerate(graph.ops)
        if op == "load"
        for x in graph.args[value]
        if isinstance(x, Buffer)
    }


def _mark_varying(graph: Graph, f: Facts, uniform: frozenset[int]) -> None:
    sources = _sources(f)
    memory = {b.index for b in graph.buffers if b.kind == "input" and b.index not in uniform}
    memory |= {b.index for b in graph.buffers if b.kind in ("output", "workspace")}
    varying = f.varying

    def differs(value: int) -> bool:
        op = graph.ops[value]
        if op == "load":
            place, buffer = graph.args[value]
            return root(buffer).index in memory or place in varying
        return any(x in varying for x in sources.get(value) or operands(graph, value))

    changed = True
    while changed:
        changed = False
        for value in range(len(graph.ops)):
            if value in f.live and value not in varying and differs(value):
                varying.add(value)
                changed = True
        # Lanes leave a tested loop at different times, so all that it carries differs.
        for loop in f.loops:
            if loop.test in varying:
                new = {c for inside, _, _ in loop.carries for c in (inside,)} | set(loop.results)
                changed |= bool((new & f.live) - varying)
                varying |= new & f.live


def scattered(graph: Graph, f: Facts) -> float:
    """The part of the live values that lanes read or write in memory at places of their own."""
    places = [graph.args[value][0] for value in f.live if graph.ops[value] == "load"] + [s.place for s in f.stores]
    return sum(place in f.varying for place in places) / max(len(f.live), 1)
