"""The page: its parts in order."""

from dataclasses import dataclass
from pathlib import Path

from ...calibrate.result import Calibration
from .curve_figure import curve_figure
from .data_quality import data_quality
from .error_figure import error_by_horizon
from .error_tables import error_tables
from .headline import advice, cards, sentence
from .markup import Html, section, tag, together
from .missing import missing
from .numbers import short_names
from .overlays import overlay
from .parameters import parameters
from .picture import Picture
from .run_folder import run_folder
from .units import Units, units_of
from .windows import compared, shown_runs
from .zoom import zoom

_CONTENTS = {
    "missing": "What it lacked",
    "motion": "Before and after",
    "errors": "Errors",
    "parameters": "Parameters",
    "forces": "Learned force",
    "data": "Data",
    "files": "This run",
}


@dataclass(frozen=True)
class Page:
    html: str
    pictures: tuple[Picture, ...]


def page(calibration: Calibration, files: dict[str, str]) -> Page:
    units = units_of(calibration.stages[0].model, calibration.stages[0].held_out)
    names = _names(calibration)
    motion = _motion(calibration, names, units)
    horizon = error_by_horizon(calibration, units)
    forces = [curve_figure(curve, f"force_{k + 1}") for k, curve in enumerate(calibration.curves)]
    parts = [
        missing(calibration),
        section("motion", "Before and after", *_introduction(calibration), *(p.in_page() for p in motion)),
        section("errors", "Errors", horizon.in_page(), error_tables(calibration, units, names)),
        parameters(calibration),
    ]
    if forces:
        better = calibration.best.name
        note = [] if better == "hybrid" else [tag("p", f"Of the hybrid model; “{better}” is better on these runs.")]
        drawn = tag("div", *(p.in_page() for p in forces), class_="pairs")
        parts.append(section("forces", "Learned force", *note, drawn))
    parts += [data_quality(calibration, names), run_folder(calibration, files)]
    absent = () if forces else ("forces",)
    body = tag("main", _head(calibration, units, files), _contents(absent), *parts)
    return Page(_document(calibration.title, body), (*motion, horizon, *forces))


def _names(calibration: Calibration) -> dict[str, str]:
    """Of runs, for people."""
    runs = [t.run for t in (*calibration.training, *calibration.held_out)] + list(calibration.qualities)
    runs += [run for stage in calibration.stages for run in (*stage.held_out.runs, *stage.prediction.runs)]
    return short_names(list(dict.fromkeys(runs)))


def _motion(calibration: Calibration, names: dict[str, str], units: Units) -> list[Picture]:
    prediction = compared(calibration)[-1].prediction
    if not prediction.runs:
        return []
    runs = shown_runs(prediction)
    overlays = [overlay(calibration, run, names[run], units, f"run_{k + 1}") for k, run in enumerate(runs)]
    return [*overlays, zoom(calibration, names, units)]


def _introduction(calibration: Calibration) -> list[Html]:
    stages = compared(calibration)
    if not stages[-1].prediction.runs:
        return [tag("p", "There is no window to show.")]
    which = (
        "Runs that no fit has seen" if calibration.held_out else "Runs that the fit has seen, since none was held out"
    )
    models = " and ".join(f"“{stage.name}” ({stage.title})" for stage in stages)
    return [tag("p", f"{which}: as measured, and as simulated by {models}.")]


def _head(calibration: Calibration, units: Units, files: dict[str, str]) -> Html:
    notes = []
    if calibration.stopped:
        notes.append(
            "The run was stopped before its end: later models are missing, and the results are those until then."
        )
    if not calibration.held_out:
        notes.append(
            "No run was held out, so these errors are of runs that the fit has seen. They say little about other motions: "
            "log a second run."
        )
    return tag(
        "header",
        tag("p", "Calibration report", class_="kicker"),
        tag("h1", calibration.title),
        tag("p", sentence(calibration, units), class_="lead"),
        *([tag("p", words, class_="advice")] if (words := advice(calibration, files)) else []),
        *(tag("p", note, class_="notice") for note in notes),
        cards(calibration, units),
        tag(
            "p",
            f"Error: root mean square over joints and samples of a window of {calibration.window:g} s; the big number is the "
            f"median over windows.{_two_units(units)}",
            class_="small",
        ),
    )


def _two_units(units: Units) -> str:
    if len(units.kinds) < 2:
        return ""
    return (
        " What turns and what slides have errors of their own: of a free body the angle by which it is turned away, and the "
        "distance. The best model has the least product of both."
    )


def _contents(absent: tuple[str, ...]) -> Html:
    return tag("nav", *(tag("a", title, href=f"#{name}") for name, title in _CONTENTS.items() if name not in absent))


def _document(title: str, body: Html) -> str:
    style = Html(Path(__file__).with_name("page.css").read_text(encoding="utf-8"))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title}: calibration report"),
        tag("style", style),
    )
    return "<!DOCTYPE html>\n" + together([tag("html", head, tag("body", body), lang="en")]) + "\n"
