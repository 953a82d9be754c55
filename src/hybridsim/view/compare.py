"""Two runs of `hybridsim fit` side by side."""

from math import floor, inf, log10

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .summary_errors import Record, errors_in, shown_unit, units_in
from .tables import terminal

WIDTH = 120


def compared(name_a: str, a: Record, name_b: str, b: Record) -> Record:
    """What differs between the summaries of two runs."""
    alike = all(a.get(key) == b.get(key) for key in ("window", "held_out")) and units_in(a) == units_in(b)
    units = tuple(dict.fromkeys((*units_in(a), *units_in(b))))
    stages = {unit: _stages(a["stages"], b["stages"], unit) for unit in units}
    return {
        "a": name_a,
        "b": name_b,
        "units": list(units),
        "comparable": alike,
        "stages": [stage | {"unit": unit} for unit in units for stage in stages[unit]],
        "findings": _findings(a["findings"], b["findings"]),
        "parameters": _parameters(a["parameters"], b["parameters"]),
    }


def _stages(a: list[Record], b: list[Record], unit: str) -> list[Record]:
    """Errors in one unit of each stage that either has."""
    titles = {stage["name"]: stage["title"] for stage in (*a, *b)}
    in_a, in_b = ({stage["name"]: stage for stage in stages} for stages in (a, b))
    keys = ("median", "ninth")
    return [
        {"name": name, "title": title}
        | {f"{key}_a": errors_in(in_a.get(name, {}), unit).get(key) for key in keys}
        | {f"{key}_b": errors_in(in_b.get(name, {}), unit).get(key) for key in keys}
        for name, title in titles.items()
    ]


def _findings(a: list[Record], b: list[Record]) -> Record:
    """In words; the same effect at the same place counts as the same."""
    in_a, in_b = ({(f["effect"], f["where"]): f["words"] for f in findings} for findings in (a, b))
    return {
        "both": [words for key, words in in_a.items() if key in in_b],
        "only_a": [words for key, words in in_a.items() if key not in in_b],
        "only_b": [words for key, words in in_b.items() if key not in in_a],
    }


def _parameters(a: list[Record], b: list[Record]) -> list[Record]:
    """All of either run; `differs` where their intervals do not meet."""
    in_a, in_b = ({p["name"]: p for p in parameters} for parameters in (a, b))
    kept = ("value", "lower", "upper")
    rows = []
    for name in dict.fromkeys((*in_a, *in_b)):
        p, q = in_a.get(name), in_b.get(name)
        sides = [None if side is None else {key: side[key] for key in kept} for side in (p, q)]
        differs = p is not None and q is not None and _apart(p, q)
        rows.append({"name": name, "unit": (p or q)["unit"], "a": sides[0], "b": sides[1], "differs": differs})
    return rows


def _apart(p: Record, q: Record) -> bool:
    (p_lower, p_upper), (q_lower, q_upper) = _interval(p), _interval(q)
    return p_upper < q_lower or q_upper < p_lower


def _interval(p: Record) -> tuple[float, float]:
    """An end that the data do not set is null in JSON."""
    return -inf if p["lower"] is None else p["lower"], inf if p["upper"] is None else p["upper"]


def show_comparison(found: Record, console: Console | None = None) -> None:
    """Print errors, findings, and the parameters that differ beyond their intervals."""
    console = console or terminal(WIDTH)
    for unit in found["units"]:
        console.print(_errors_table(found, unit))
    if not found["comparable"]:
        _say(console, "Horizon, unit or held-out runs of the two differ, so their errors cannot be compared.")
    for title, which in (("both", "both"), (f"only {found['a']}", "only_a"), (f"only {found['b']}", "only_b")):
        for words in found["findings"][which]:
            _say(console, f"{title}: {words}")
    differing = [p for p in found["parameters"] if p["differs"]]
    if differing:
        console.print(_parameters_table(differing))
    both = sum(p["a"] is not None and p["b"] is not None for p in found["parameters"])
    _say(console, f"{len(differing)} of the {both} parameters that both have differ beyond their intervals of 95 %.")
    for side, other in (("a", "b"), ("b", "a")):
        if only := [p["name"] for p in found["parameters"] if p[other] is None]:
            _say(console, f"Only {found[side]} has {', '.join(only)}.")


def _errors_table(found: Record, unit: str) -> Table:
    scale, word = shown_unit(unit)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(f"error on held-out runs \\[{word}]")
    for column in ("median a", "median b", "b / a", "90 % a", "90 % b"):
        table.add_column(column, justify="right")
    for stage in (stage for stage in found["stages"] if stage["unit"] == unit):
        a, b = stage["median_a"], stage["median_b"]
        ratio = f"{b / a:.3g}" if a and b is not None and found["comparable"] else ""
        cells = ("" if x is None else f"{scale * x:.3g}" for x in (a, b, stage["ninth_a"], stage["ninth_b"]))
        a_text, b_text, ninth_a, ninth_b = cells
        table.add_row(escape(stage["title"]), a_text, b_text, ratio, ninth_a, ninth_b)
    table.caption, table.caption_justify = escape(f"a: {found['a']}, b: {found['b']}"), "left"
    return table


def _parameters_table(differing: list[Record]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("parameter that differs")
    for column in ("a", "b"):
        table.add_column(f"{column}: found", justify="right")
        table.add_column(f"{column}: interval", justify="right")
    table.add_column("unit")
    for p in differing:
        cells = []
        for side in (p["a"], p["b"]):
            value, *ends = rounded(side["value"], *_interval(side))
            cells += [value, " to ".join(ends)]
        table.add_row(escape(p["name"]), *cells, escape(p["unit"]))
    return table


def rounded(value: float, lower: float, upper: float) -> tuple[str, str, str]:
    """With as many places as the width of the interval has a meaning."""
    width = upper - lower
    if not 0 < width < inf:
        return f"{value:.4g}", f"{lower:.4g}", f"{upper:.4g}"
    places = max(0, 1 - floor(log10(width / 2)))
    return f"{value:.{places}f}", f"{lower:.{places}f}", f"{upper:.{places}f}"


def _say(console: Console, sentence: str) -> None:
    console.print(sentence, markup=False, highlight=False, soft_wrap=not console.is_terminal)
