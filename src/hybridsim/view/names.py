"""The named variables of a model's step, for people and for programs."""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..simulate import Mark
from .tables import terminal

WIDTH = 120
"""Columns of text, at most."""

EXPLANATION = (
    "A network at a variable may depend on everything above it; on what is below by hs.previous. 'read': as input only."
)


def show_names(marks: Sequence[Mark], title: str, console: Console | None = None) -> None:
    """Print a table of the variables in the order in which a step computes them."""
    console = console or terminal(WIDTH)
    console.width = min(console.width, WIDTH)
    console.print(title, style="bold", markup=False, highlight=False, soft_wrap=True)
    console.print(names_table(marks))
    console.print(EXPLANATION, highlight=False)


def names_table(marks: Sequence[Mark]) -> Table:
    """One row a variable; the part of the step is said where it begins."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("", justify="right", style="dim")
    table.add_column("stage")
    table.add_column("variable", no_wrap=True)
    table.add_column("shape", no_wrap=True)
    table.add_column("unit", overflow="fold")
    table.add_column("networks")
    table.add_column("meaning", overflow="fold")
    stage = None
    for i, mark in enumerate(marks):
        variable = mark.variable
        table.add_row(
            str(i + 1),
            "" if variable.stage == stage else variable.stage,
            escape(mark.name),
            " x ".join(map(str, mark.shape)) or "1",
            escape(variable.unit),
            _networks(mark),
            escape(variable.text),
        )
        stage = variable.stage
    return table


def _networks(mark: Mark) -> str:
    if not mark.changes:
        return "read"
    return "change" if mark.rows is None else f"change {len(mark.rows)} rows"


def names_record(marks: Sequence[Mark]) -> dict[str, Any]:
    """The same for programs, with the names that each may depend on."""
    return {"variables": [_record(i, mark) for i, mark in enumerate(marks)]}


def _record(i: int, mark: Mark) -> dict[str, Any]:
    variable = mark.variable
    return {
        "name": mark.name,
        "order": i + 1,
        "stage": variable.stage,
        "shape": list(mark.shape),
        "unit": variable.unit,
        "axis": variable.axis,
        "kind": variable.kind,
        "changes": mark.changes,
        "text": variable.text,
        "inputs": list(mark.inputs),
    }
