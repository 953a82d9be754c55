"""What a run found, on one screen: stages side by side, what was missing, and the surest changes."""

from collections.abc import Sequence
from math import inf, isfinite
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..view.compare import rounded
from ..view.summary_errors import errors_in, shown_unit, units_in
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
    units = units_in(record)
    noises = record.get("noises") or {units[0]: record.get("noise")}
    ratios = []
    for unit in units:
        left = min((number(errors_in(stage, unit)["median"]) for stage in record["stages"]), default=0.0)
        ratios += [left / noise] if (noise := noises.get(unit)) else []
    if max(ratios, default=0.0) > MUCH:
        return f"Nothing on the menu explains the error that is left, {max(ratios):.2g} times the sensors' noise."
    return "Nothing was found that the model lacks."


def stages_table(record: dict[str, Any]) -> Table:
    """One row a model; of errors in mm and deg the columns of either side by side."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    runs = "held-out runs" if record.get("held_out", True) else "the runs of the fit"
    table.add_column(f"error on {runs} over {record['window']:g} s")
    rows = [[escape(stage["title"])] for stage in record["stages"]]
    for unit in units_in(record):
        factor, word = shown_unit(unit)
        own = [errors_in(stage, unit) for stage in record["stages"]]
        settled = any(errors.get("settled") for errors in own)
        columns = [f"median \\[{word}]", f"90 % \\[{word}]", "times better"]
        for column in [*columns, f"zero known \\[{word}]"] if settled else columns:
            table.add_column(column, justify="right")
        first = number(own[0]["median"]) if own else inf
        for i, errors in enumerate(own):
            median, ninth = number(errors["median"]), number(errors["ninth"])
            rows[i] += [f"{factor * median:.3g}", f"{factor * ninth:.3g}"]
            rows[i].append(f"{first / median:.3g}" if i and 0 < median < inf else "")
            if settled:
                known = errors.get("settled")
                rows[i].append(f"{factor * number(known[0]):.3g}" if known else "")
    for row in rows:
        table.add_row(*row)
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


def number(value: float | None, otherwise: float = inf) -> float:
    """JSON has null for what is not finite."""
    return otherwise if value is None or not isfinite(value) else value


def _say(console: Console, *sentences: str) -> None:
    for sentence in sentences:
        console.print(sentence, markup=False, highlight=False, soft_wrap=not console.is_terminal)
