"""Tables and figures of fits to real measurements, judged on runs that they have not seen."""

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from rich.console import Console

from ..experiments import dfki, pendulum_data
from .style import HYBRID, INK, PRUNED, RIVAL, empty_table, finish

COLOURS = (RIVAL, HYBRID, PRUNED, INK)


def draw_errors(panels: Mapping[str, Mapping[str, Float[np.ndarray, " windows"]]]) -> Figure:
    """For each panel and model the share of held-out windows whose error is below a limit."""
    figure = Figure(figsize=(0.6 + 3.6 * len(panels), 3.4), layout="constrained")
    for axes, (title, models) in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels.items(), strict=True):
        for colour, (name, errors) in zip(COLOURS, models.items(), strict=False):
            ordered = np.degrees(np.sort(errors))
            axes.step(ordered, np.arange(1, len(ordered) + 1) / len(ordered), where="post", color=colour, label=name)
            axes.plot(np.median(ordered), 0.5, "o", color=colour, markersize=4)
        axes.set(xscale="log", xlabel="error of a window [degrees]", ylim=(0, 1))
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_title(title, loc="left", fontsize=9)
        axes.axhline(0.9, color=INK, linewidth=0.5, linestyle=":")
        axes.legend(frameon=False, fontsize=7)
    figure.axes[0].set_ylabel("share of held-out windows")
    return figure


def show_pendulums(out: Path, quick: bool) -> None:
    """Two double pendulums that nobody drives: one filmed, one with encoders."""
    console, began = Console(), time.perf_counter()
    progress = console.is_terminal
    if quick:
        results = {"multi-arm pendulum": pendulum_data.decaying(held_out=(25,), train=(0,), progress=progress)}
    else:
        results = {
            "filmed pendulum (IBM)": pendulum_data.filmed(progress=progress),
            "multi-arm pendulum": pendulum_data.decaying(progress=progress),
        }
    panels = {}
    for title, found in results.items():
        console.print(
            f"[bold]{title}[/bold], held-out runs {', '.join(found.held_out)}; errors in degrees", highlight=False
        )
        console.print(found.table(), highlight=False)
        console.print(found.fits["friction"].summary(), highlight=False, markup=False, soft_wrap=True)
        if "filmed" in title:
            rate = pendulum_data.frame_rate(found.fits["friction"])
            console.print(f"link 1 has its published length at {rate:.1f} frames a second", highlight=False)
        for _, window, start in found.errors:
            same = {c.model: e for c, e in found.errors.items() if (c.window, c.start) == (window, start)}
            panels[f"{title}, {window:g} s,\nstart fitted to {start}"] = same
    finish(console, draw_errors(panels), out / "pendulums.png", began)


def show_dfki(out: Path, quick: bool) -> None:
    """A driven arm: every run judged by models of all others."""
    import hybridsim as hs

    console, began = Console(), time.perf_counter()
    logs = [dfki.log_of(run) for run in hs.data.dfki_runs()]
    with console.status("leaving one run out after the other"):
        found = dfki.leave_one_out(logs[:2] if quick else logs)
    panels = {}
    for title, part in {"as logged": "as_logged", "zero of the encoders from the first 2 s": "zero_known"}.items():
        shown = empty_table(
            f"DFKI arm, held-out runs, windows of 1 s, {title}: degrees", "model", "median", "90 %", "windows"
        )
        panels[title] = {name: np.concatenate([getattr(h, part) for h in runs]) for name, runs in found.items()}
        for name, errors in panels[title].items():
            median, ninth = np.degrees(np.quantile(errors, (0.5, 0.9)))
            shown.add_row(name, f"{median:.2f}", f"{ninth:.2f}", str(len(errors)))
        console.print(shown)
    finish(console, draw_errors(panels), out / "dfki.png", began)
