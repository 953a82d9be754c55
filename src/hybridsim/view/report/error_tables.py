"""Errors by joint and by run, the models side by side."""

import warnings

from ...calibrate.result import Calibration
from .markup import Html, table, tag
from .numbers import error, number
from .units import Kind, Units


def error_tables(calibration: Calibration, units: Units, names: dict[str, str]) -> Html:
    stages = calibration.stages
    header = [_heading(stage.name) for stage in stages]
    with warnings.catch_warnings():
        # A joint that was never measured.
        warnings.filterwarnings("ignore", message="Mean of empty slice")
        by_joint = [stage.held_out.by_joint() for stage in stages]
    joints = [
        [joint, units.of(joint).unit, *_row([e.get(joint, float("nan")) for e in by_joint], units.of(joint))]
        for joint in by_joint[0]
    ]
    return tag(
        "div",
        tag("div", tag("h3", "By joint, root mean square"), table(["joint", "unit", *header], joints, (0, 1))),
        *(
            tag("div", tag("h3", f"By run, median of windows [{kind.unit}]"), table(["run", *header], rows))
            for kind in units.kinds
            for rows in [_by_run(calibration, kind, names)]
        ),
        class_="narrow",
    )


def _by_run(calibration: Calibration, kind: Kind, names: dict[str, str]) -> list[list[str]]:
    found = [stage.held_out.of(kind.si).by_run() for stage in calibration.stages]
    return [[names.get(run, run), *_row([e.get(run, float("nan")) for e in found], kind)] for run in found[0]]


def _heading(stage: str) -> Html:
    return tag("span", tag("span", class_="dot", style=f"background:var(--{stage})"), stage, class_="nowrap")


def _row(values: list[float], kind: Kind) -> list[str]:
    """The least is bold, with all that look the same."""
    known = [v for v in values if v == v]
    least = min(known) if known else float("nan")
    texts = [error(v) if v == v and abs(v) == float("inf") else number(kind.factor * v, full=True) for v in values]
    best = texts[values.index(least)] if known and least < float("inf") else ""
    return [tag("b", text) if text == best else text for text in texts]
