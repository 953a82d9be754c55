"""Errors by joint and by run, the models side by side."""

import warnings

from ...calibrate.result import Calibration
from .markup import Html, table, tag
from .numbers import error, number
from .units import Units


def error_tables(calibration: Calibration, units: Units, names: dict[str, str]) -> Html:
    stages = calibration.stages
    header = [_heading(stage.name) for stage in stages]
    with warnings.catch_warnings():
        # A joint that was never measured.
        warnings.filterwarnings("ignore", message="Mean of empty slice")
        by_joint = [stage.held_out.by_joint() for stage in stages]
    by_run = [stage.held_out.by_run() for stage in stages]
    joints = [
        [joint, units.by_joint.get(joint, units.unit), *_row([e.get(joint, float("nan")) for e in by_joint], units)]
        for joint in by_joint[0]
    ]
    runs = [[names.get(run, run), *_row([e.get(run, float("nan")) for e in by_run], units)] for run in by_run[0]]
    return tag(
        "div",
        tag("div", tag("h3", "By joint, root mean square"), table(["joint", "unit", *header], joints, (0, 1))),
        tag("div", tag("h3", f"By run, median of windows [{units.unit}]"), table(["run", *header], runs)),
        class_="narrow",
    )


def _heading(stage: str) -> Html:
    return tag("span", tag("span", class_="dot", style=f"background:var(--{stage})"), stage, class_="nowrap")


def _row(values: list[float], units: Units) -> list[str]:
    """The least is bold, with all that look the same."""
    known = [v for v in values if v == v]
    least = min(known) if known else float("nan")
    texts = [error(v) if v == v and abs(v) == float("inf") else number(units.factor * v, full=True) for v in values]
    best = texts[values.index(least)] if known and least < float("inf") else ""
    return [tag("b", text) if text == best else text for text in texts]
