"""What a run found, on one screen: stages side by side, what was missing, and the surest changes."""

from collections.abc import Sequence
from math import degrees, inf, isfinite
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..view.compare import rounded
from ..view.tables import terminal

MOST_PARAMETERS = 8
MUCH = 5.0
"""Times the sensors' noise: an error beyond it has a cause."""
WIDTH = 100


def show_outcome(record: dict[str, Any], console: Console | None = None) -> None:
    """Print a run's summary, as `hybridsim.calibrate.summary` gives it, with its folder and report."""
    console = console or terminal(WIDTH)
    console.print(f"\n[bold]{escape(record['title'])}[/]", highlight=False)
    console.print(stages_table(record))
    _say(console, *(f"- {finding['words']}" for finding in record["findings"]))
    if not record["findings"]:
        _say(console, _nothing(record))
    parameters = surest(record["parameters"])
    if parameters:
        console.print(parameters_table(parameters))
    more = len(record["parameters"]) - len(parameters)
    if more > 0:
        _say(console, f"{more} more {'is' if more == 1 else 'are'} in parameters.json.")
    _say(console, f"Report: {record['report']}")


def _nothing(record: dict[str, Any]) -> str:
    """Why there are no findings."""
    if not record.get("candidates", True):
        return "What is missing was not asked yet."
    left = min((number(stage["median"]) for stage in record["stages"]), default=0.0)
    noise = record.get("noise") or 0.0
    if noise and left > MUCH * noise:
        return f"Nothing on the menu explains the error that is left, {left / noise:.2g} times the sensors' noise."
    return "Nothing was found that the model lacks."


def stages_table(record: dict[str, Any]) -> Table:
    """One row a model."""
    shown, unit = shown_unit(record["unit"])
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    runs = "held-out runs" if record.get("held_out", True) else "the runs of the fit"
    table.add_column(f"error on {runs} over {record['window']:g} s")
    for column in (f"median \\[{unit}]", f"90 % \\[{unit}]", "times better"):
        table.add_column(column, justify="right")
    settled = any(stage.get("settled") for stage in record["stages"])
    if settled:
        table.add_column(f"zero known \\[{unit}]", justify="right")
    first = number(record["stages"][0]["median"]) if record["stages"] else inf
    for i, stage in enumerate(record["stages"]):
        median, ninth = number(stage["median"]), number(stage["ninth"])
        better = f"{first / median:.3g}" if i and 0 < median < inf else ""
        cells = [escape(stage["title"]), f"{shown(median):.3g}", f"{shown(ninth):.3g}", better]
        if settled:
            cells.append(f"{shown(number(stage['settled'][0])):.3g}" if stage.get("settled") else "")
        table.add_row(*cells)
    return table


def parameters_table(parameters: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("parameter")
    for column in ("in the file", "found", "interval of 95 %"):
        table.add_column(column, justify="right")
    table.add_column("unit")
    for p in parameters:
        start = "" if p["start"] is None else f"{p['start']:.4g}"
        value, *ends = rounded(p["value"], number(p["lower"], -inf), number(p["upper"]))
        table.add_row(escape(p["name"]), start, value, " to ".join(ends), escape(p["unit"]))
    return table


def surest(parameters: Sequence[dict[str, Any]], most: int = MOST_PARAMETERS) -> list[dict[str, Any]]:
    """Those that have changed by the most of their standard deviations."""

    def changes(p: dict[str, Any]) -> float:
        deviation = number(p["deviation"])
        start = p["value"] if p["start"] is None else p["start"]
        return abs(p["value"] - start) / deviation if 0 < deviation < inf else 0.0

    return sorted(parameters, key=changes, reverse=True)[:most]


def shown_unit(unit: str):
    """How errors are shown to people: degrees and millimetres."""
    if unit == "rad":
        return degrees, "deg"
    return (lambda x: 1e3 * x), "mm"


def number(value: float | None, otherwise: float = inf) -> float:
    """JSON has null for what is not finite."""
    return otherwise if value is None or not isfinite(value) else value


def _say(console: Console, *sentences: str) -> None:
    for sentence in sentences:
        console.print(sentence, markup=False, highlight=False, soft_wrap=not console.is_terminal)
