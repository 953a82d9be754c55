"""What all tables and figures of experiments share."""

import time
from pathlib import Path

from matplotlib.figure import Figure
from rich import box
from rich.console import Console
from rich.table import Table

INK, HYBRID, PRUNED, RIVAL = "#333333", "#2a7f9e", "#0b3c5d", "#d9822b"


def empty_table(title: str, *columns: str) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right")
    return table


def finish(console: Console, figure: Figure, path: Path, began: float) -> None:
    figure.savefig(path, dpi=150)
    console.print(f"{path}, after {time.perf_counter() - began:.0f} s", highlight=False)
