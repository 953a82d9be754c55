"""A picture of the networks in a model, as Figure 10 of NeuralSim: what each looks at, and how much.

All lengths are in inches.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch

from ..augment import Custom, Networks, Site
from ..augment.networks import InputLayer
from ..augment.structure import Structure
from ..model import Model, ModelError
from .style import with_visible_names

MOST_NETWORKS = 12
MOST_UNITS = 8
"""Of one layer; those to which most comes in."""
MOST_INPUTS = 24
"""The strongest."""
VANISHED = 1e-6
"""Beside the strongest: what is weaker counts as nothing."""

INK, GREY, PALE, PAPER, CARD = "#1f2933", "#a3acb6", "#d7dce1", "#ffffff", "#f8fafb"
INPUT, HIDDEN, OUTPUT = "#1f5fa8", "#5b6b7b", "#c2571a"
FONT, TITLE = 8.0, 9.5
ROW, COLUMN, RADIUS = 0.26, 1.15, 0.075
GAP, INSET, TITLE_HEIGHT, FOOT = 0.15, 0.15, 0.5, 0.28
WIDEST = 22.0
"""Of a page, if there is a choice."""

TIMES = "\N{MULTIPLICATION SIGN}"

Point = tuple[float, float]


@dataclass(frozen=True)
class _Input:
    label: str
    size: int
    columns: slice | None
    """Of the first layer; None where only the law around the network knows it."""


@dataclass(frozen=True)
class _Graph:
    """What is drawn of one network."""

    title: str
    subtitle: str
    inputs: tuple[_Input, ...]
    more: int
    """How many inputs there is no room for."""
    outputs: tuple[tuple[str, int], ...]
    """Labels and sizes."""
    layers: tuple[np.ndarray, ...]
    """Weights: units by inputs, next units by units, ..., outputs by units. Empty for a module of one's own."""
    boxes: tuple[str, ...]
    """What stands between the network and the outputs: structures, the innermost first; or a module of one's own."""
    remembers: bool

    @property
    def columns(self) -> int:
        """Gaps between columns of nodes."""
        return max(len(self.layers), 1) + bool(self.boxes)

    @property
    def rows(self) -> int:
        shown = len(self.inputs) + bool(self.more)
        hidden = max((min(len(w), MOST_UNITS + 1) for w in self.layers[:-1]), default=1)
        return max(shown, hidden + 1, len(self.outputs), 3)


def draw_blueprint(model: Model, path: str | Path | None = None) -> Figure:
    """Every network of the model as a graph; written to `path` if that is given.

    Lines from inputs are as wide and dark as the norms of their weights in the first layer, beside the strongest one;
    inputs whose weights have vanished are grey.
    """
    networks = model.augmentation
    if not isinstance(networks, Networks) or not networks.sites:
        raise ModelError("there are no networks in this model to be drawn; blueprint.graft(model) puts them there")
    graphs = [_graph(site) for site in networks.sites[:MOST_NETWORKS]]
    # Names come from files: a dollar is a dollar, not mathematics.
    with mpl.rc_context({"font.family": "DejaVu Sans", "font.size": FONT, "text.parse_math": False}):
        figure = with_visible_names(_page(graphs, len(networks.sites) - len(graphs)))
        if path is not None:
            figure.savefig(path, dpi=160)
    return figure


def _page(graphs: list[_Graph], left_out: int) -> Figure:
    left = max(_width(_labelled(x.label, x.size)) for g in graphs for x in (*g.inputs, _Input("", 1, None)))
    right = max(_width(_labelled(*output)) for g in graphs for output in g.outputs)
    titles = max(max(_width(g.title, TITLE), _width(g.subtitle)) for g in graphs)
    middle = max(max(g.columns for g in graphs) * COLUMN, titles - left - right)
    width = left + middle + right + 2 * INSET
    across = max(min({4: 2}.get(len(graphs), 3), len(graphs), int(WIDEST / (width + GAP))), 1)
    shelves = [graphs[i : i + across] for i in range(0, len(graphs), across)]
    heights = [max(g.rows for g in shelf) * ROW + TITLE_HEIGHT + 2 * INSET for shelf in shelves]
    page = max(across * (width + GAP) + GAP, 5.5), sum(heights) + (len(heights) + 1) * GAP + FOOT
    figure = Figure(figsize=page, facecolor=PAPER)
    for i, graph in enumerate(graphs):
        x, y = GAP + (i % across) * (width + GAP), page[1] - sum(h + GAP for h in heights[: i // across + 1])
        height = heights[i // across]
        axes = figure.add_axes((x / page[0], y / page[1], width / page[0], height / page[1]))
        axes.set(xlim=(-left - INSET, middle + right + INSET), ylim=(-INSET, height - INSET))
        axes.set(xticks=[], yticks=[], facecolor=CARD)
        for side in axes.spines.values():
            side.set_color(PALE)
        top = height - 2 * INSET
        _draw(axes, graph, middle, top - TITLE_HEIGHT)
        axes.text(-left, top, graph.title, size=TITLE, weight="bold", color=INK, va="top")
        axes.text(-left, top - 0.2, graph.subtitle, color=HIDDEN, va="top")
    foot = "Width of a line: weights of an input beside those of the strongest. Grey: vanished."
    if any(x.columns is None for g in graphs for x in g.inputs):
        foot += " Dashed: only the law around the network knows it."
    if left_out:
        foot += f" Not shown: {left_out} more network{'s' if left_out > 1 else ''}."
    figure.text(GAP / page[0], 0.12 / page[1], foot, color=HIDDEN, size=FONT - 1)
    return figure


def _width(text: str, size: float = FONT) -> float:
    """Room for a text beside a node."""
    return 0.56 * size / 72 * len(text) + 2.5 * RADIUS


def _labelled(label: str, size: int) -> str:
    return label if size == 1 else f"{label}  {TIMES}{size}"


# From a network to its graph


def _graph(site: Site) -> _Graph:
    plan, architecture = site.plan, site.plan.augment.network
    laws: list[str] = []
    while isinstance(architecture, Structure):
        laws.insert(0, type(architecture).__name__)
        architecture = architecture.network
    core = _core(site.network)
    layers = () if core is None else _layers(core)
    columns = {} if core is None else core.first.columns
    silent = plan.mode != "replace" and bool(layers) and not np.any(layers[-1])
    whole = slice(None) if core is None else None
    inputs = [_Input(block.label, block.size, columns.get(block.label, whole)) for block in plan.signature.inputs]
    known = {x.label for x in inputs}
    inputs += [_Input(label, s.stop - s.start, s) for label, s in columns.items() if label not in known]
    # What only a law knows comes last, so that its way to the law is free.
    inputs.sort(key=lambda x: x.columns is None)
    if len(inputs) > MOST_INPUTS and layers:
        norms = [0.0 if x.columns is None else float(np.linalg.norm(layers[0][:, x.columns])) for x in inputs]
        weakest = np.argsort(norms, kind="stable")[: len(inputs) - MOST_INPUTS]
        shown = [x for i, x in enumerate(inputs) if i not in weakest]
    else:
        shown = inputs[:MOST_INPUTS]
    sign = {"add": "+=", "scale": "*=", "replace": "="}[plan.mode]
    entities = ", ".join(plan.entities)
    return _Graph(
        title=f"{', '.join(plan.augment.outputs)} {sign} {''.join(f'{law} ' for law in reversed(laws))}{_name(architecture)}",
        subtitle=f"{entities if len(entities) < 48 else f'{len(plan.entities)} entities'}, apply='{plan.augment.apply}'"
        + (", no effect yet: the last layer is zero" if silent else ""),
        inputs=tuple(shown),
        more=len(inputs) - len(shown),
        outputs=tuple((block.label, block.size) for block in plan.signature.outputs),
        layers=layers,
        boxes=tuple(laws) if layers else (_name(architecture), *laws),
        remembers=hasattr(core, "recurrent"),
    )


def _core(network: Any) -> Any:
    """The node with the input layer in it, in whatever it is wrapped; None where there is none."""

    def is_core(node):
        return isinstance(getattr(node, "first", None), InputLayer)

    return next((node for node in jax.tree.leaves(network, is_leaf=is_core) if is_core(node)), None)


def _layers(core: Any) -> tuple[np.ndarray, ...]:
    first = np.asarray(core.first.weight)
    if hasattr(core, "recurrent"):
        # All gates of a unit are drawn as one.
        units = np.shape(core.recurrent)[1]
        first = np.linalg.norm(first.reshape(-1, units, first.shape[1]), axis=0)
    last = (np.asarray(core.last.weight),) if hasattr(core, "last") else ()
    return (first, *(np.asarray(layer.weight) for layer in getattr(core, "middle", ())), *last)


def _name(architecture: Any) -> str:
    if isinstance(architecture, Custom):
        module = architecture.module
        return getattr(module, "__name__", type(module).__name__)
    kind = type(architecture).__name__
    if hasattr(architecture, "hidden"):
        return f"{kind}({'-'.join(map(str, architecture.hidden))}, {architecture.activation})"
    return f"{kind}({architecture.units})" if hasattr(architecture, "units") else kind


# From a graph to a drawing


def _draw(axes: Axes, graph: _Graph, width: float, height: float) -> None:
    shown = len(graph.inputs) + bool(graph.more)
    heights = _spread(shown, height)
    step = width / graph.columns
    outputs = [(width, y) for y in _spread(len(graph.outputs), height)]
    starts = [(0.0, y) for y in heights[: len(graph.inputs)]]
    if graph.more:
        axes.text(
            -2 * RADIUS, heights[-1], f"and {graph.more} more", color=GREY, ha="right", va="center", style="italic"
        )

    strength = _strength(graph)
    if graph.boxes:
        gate = width - step, height / 2
        last, counts = [gate], [len(graph.layers[-1])] if graph.layers else [1]
        _lines(axes, [(gate, end) for end in outputs], np.ones(len(outputs)), HIDDEN, "outputs")
        law = [start for x, start in zip(graph.inputs, starts, strict=True) if x.columns is None]
        _lines(axes, [(start, gate) for start in law], np.full(len(law), 0.5), INPUT, "law", linestyle=(0, (4, 3)))
        _box(axes, gate, graph.boxes)
    else:
        last, counts = outputs, [size for _, size in graph.outputs]
    hidden = [_column(axes, w, (i + 1) * step, height, graph.remembers) for i, w in enumerate(graph.layers[:-1])]
    size, before, kind = strength, starts, "inputs"
    for i, (units, places) in enumerate(hidden):
        _lines(axes, _between(before, places), _relative(size[units]), HIDDEN if i else INPUT, kind)
        size, before, kind = np.abs(graph.layers[i + 1])[:, units], places, "weights"
    _lines(axes, _between(before, last), _relative(_by_end(size, counts)), HIDDEN if hidden else INPUT, kind)

    listened = _relative(np.linalg.norm(strength, axis=0))
    for x, (_, y), share in zip(graph.inputs, starts, listened, strict=True):
        lives = bool(share > VANISHED) or x.columns is None
        _node(axes, 0.0, y, INPUT if lives else PALE, filled=lives)
        label = _labelled(x.label, x.size)
        axes.text(-2 * RADIUS, y, label, color=INK if lives else GREY, ha="right", va="center")
    for (label, size), (x, y) in zip(graph.outputs, outputs, strict=True):
        _node(axes, x, y, OUTPUT)
        axes.text(x + 2 * RADIUS, y, _labelled(label, size), color=INK, va="center")


def _strength(graph: _Graph) -> np.ndarray:
    """Of each unit of the first layer and each input: the norm of their weights. A module of one's own has one unit."""
    first = graph.layers[0] if graph.layers else np.ones((1, 1))
    none = np.zeros(len(first))
    columns = [none if x.columns is None else np.linalg.norm(first[:, x.columns], axis=1) for x in graph.inputs]
    return np.array(columns).reshape(-1, len(first)).T


def _column(axes: Axes, weight: np.ndarray, x: float, height: float, remembers: bool) -> tuple[np.ndarray, list[Point]]:
    """Draw the units of a hidden layer: which are drawn, and where."""
    units, more = _strongest(weight)
    heights = _spread(len(units) + more, height)
    for y in heights[: len(units)]:
        _node(axes, x, y, HIDDEN)
    if more:
        axes.text(x, heights[-1], f"+{len(weight) - len(units)}", color=HIDDEN, ha="center", va="center")
    if remembers:
        axes.text(x, heights[0] + 1.2 * RADIUS, "memory", color=HIDDEN, size=FONT - 1, ha="center", va="bottom")
    return units, [(x, y) for y in heights[: len(units)]]


def _between(before: list[Point], after: list[Point]) -> list[tuple[Point, Point]]:
    return [(a, b) for b in after for a in before]


def _relative(size: np.ndarray) -> np.ndarray:
    """Beside the largest."""
    return (size / max(size.max(initial=0.0), np.finfo(float).tiny)).ravel()


def _strongest(weight: np.ndarray) -> tuple[np.ndarray, bool]:
    """Units to be drawn, and whether there are more."""
    if len(weight) <= MOST_UNITS:
        return np.arange(len(weight)), False
    return np.sort(np.argsort(-np.linalg.norm(weight, axis=1), kind="stable")[:MOST_UNITS]), True


def _by_end(size: np.ndarray, counts: Sequence[int]) -> np.ndarray:
    """Norms of the rows that lead to the same node."""
    ends = np.cumsum([0, *counts])
    return np.array([np.linalg.norm(size[a:b], axis=0) for a, b in pairwise(ends)])


def _spread(count: int, height: float) -> list[float]:
    """Heights of a column of nodes, from the top, around the middle."""
    row = min(ROW if count > 4 else 1.35 * ROW, height / max(count, 1))
    return [height / 2 + row * ((count - 1) / 2 - i) for i in range(count)]


def _lines(axes: Axes, ends: list[tuple[Point, Point]], strength: np.ndarray, colour: str, kind: str, **style) -> None:
    """Those that are there; wide and dark where they are strong."""
    kept = np.flatnonzero(strength > VANISHED)
    widest = 2.2 if kind == "inputs" else 1.0
    rgb = to_rgb(colour)
    axes.add_collection(
        LineCollection(
            [ends[i] for i in kept],
            linewidths=0.25 + widest * strength[kept],
            colors=[(*rgb, 0.06 + 0.8 * s) for s in strength[kept]],
            capstyle="round",
            gid=kind,
            zorder=1,
            **style,
        )
    )


def _node(axes: Axes, x: float, y: float, colour: str, filled: bool = True) -> None:
    axes.add_patch(
        Circle((x, y), RADIUS, fc=colour if filled else PAPER, ec=colour if filled else GREY, lw=1, zorder=2)
    )


def _box(axes: Axes, centre: Point, words: Sequence[str]) -> None:
    width, height = max(0.075 * max(map(len, words)), 0.5) + 0.1, 0.17 * len(words) + 0.18
    corner = centre[0] - width / 2, centre[1] - height / 2
    style = "round,pad=0.0,rounding_size=0.07"
    axes.add_patch(FancyBboxPatch(corner, width, height, boxstyle=style, fc="#f4f6f8", ec=HIDDEN, lw=1, zorder=3))
    axes.text(*centre, "\n".join(words), color=INK, ha="center", va="center", zorder=4)
