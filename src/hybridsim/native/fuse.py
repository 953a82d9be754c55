"""Products that only sums use become part of those: one operation, rounded once instead of twice.

The choice is made here and not by LLVM or a C compiler, so that it is the same for every number of lanes, for packed
code and for C.
"""

from .graph import Graph
from .live import facts, operands


def fuse(graph: Graph) -> None:
    """Turn sums of products into `fma` (a b + c), `fms` (a b - c) and `fnma` (c - a b), in place."""
    found = facts(graph)
    users: dict[int, list[int]] = {}
    for value in found.live:
        for x in operands(graph, value):
            users.setdefault(x, []).append(value)
    for product in sorted(found.live):
        if graph.ops[product] != "mul" or product in found.escaping or not graph.types[product].is_float:
            continue
        sums = users.get(product, [])
        if len(sums) == 1 and all(_can_absorb(graph, product, s) for s in sums):
            for s in sums:
                _absorb(graph, product, s)


def _can_absorb(graph: Graph, product: int, s: int) -> bool:
    a_sum = graph.ops[s] in ("add", "sub") and graph.regions[s] is graph.regions[product]
    return a_sum and graph.args[s][0] != graph.args[s][1]


def _absorb(graph: Graph, product: int, s: int) -> None:
    x, y = graph.args[product]
    first, second = graph.args[s]
    if graph.ops[s] == "add":
        op, other = "fma", second if first == product else first
    elif first == product:
        op, other = "fms", second
    else:
        op, other = "fnma", first
    graph.ops[s], graph.args[s] = op, (x, y, other)
