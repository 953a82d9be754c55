"""An elementary function as a graph of its own: what is emitted once and called from many places."""

from dataclasses import dataclass
from functools import cache

from ..fuse import fuse
from ..graph import Graph
from ..live import facts
from ..scalars import Scalars
from ..types import type_of
from . import FUNCTIONS


@dataclass(frozen=True)
class Alone:
    graph: Graph
    parameters: list[int]
    result: int
    """It is also stored in a buffer that stands for the returned number, so that it counts as needed."""

    def operations(self) -> list[int]:
        """Values to compute, in order."""
        live = facts(self.graph).live
        return [item for item in self.graph.top.items if isinstance(item, int) and item in live]


@cache
def alone(name: str, arguments: int, type_name: str) -> Alone:
    """The function `name` of numbers of one type."""
    graph, type = Graph(), type_of(type_name)
    parameters = [graph.fresh("parameter", type, graph.top) for _ in range(arguments)]
    result = FUNCTIONS[name](Scalars(graph), *parameters)
    graph.store(graph.buffer(type, 1, "output", region=graph.top), graph.constant(0, type_of("int64")), result)
    fuse(graph)
    return Alone(graph, parameters, result)
