"""What tables and figures share."""

import time
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.text import Text
from rich import box
from rich.console import Console
from rich.table import Table

from ..escape import for_people

INK, HYBRID, PRUNED, RIVAL = "#333333", "#2a7f9e", "#0b3c5d", "#d9822b"


def empty_table(title: str, *columns: str) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right")
    return table


def finish(console: Console, figure: Figure, path: Path, began: float) -> None:
    figure.savefig(path, dpi=150)
    console.print(f"{path}, after {time.perf_counter() - began:.0f} s", highlight=False)


def with_visible_names(figure: Figure) -> Figure:
    """The same figure. Names in it come from files: controls would break the SVG, and stray bytes the drawing."""
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_text(for_people(text.get_text()))
    return figure
