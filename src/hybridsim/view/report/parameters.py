"""The fitted numbers with their intervals, and what the data could not tell."""

import math
from fnmatch import fnmatchcase

from ...calibrate.result import Calibration
from ...identify import Estimate, Fit
from .markup import Html, section, table, tag, together
from .numbers import NONE, counted, digits_for, number, percent, sentence_of, unit_text

_AT_ONCE = 5
UNDETERMINED, AT_BOUND = "not determined by the data", "at its bound"
_HINTS = {
    "link/*": "log motions that accelerate the link strongly and in several poses, or fix it at its value from CAD",
    "joint/*/armature": "log quick reversals of the joint; slow motions do not show the inertia of a rotor",
    "joint/*/friction*": "log slow and fast motions of the joint in both directions",
    "joint/*/damping": "log slow and fast motions of the joint in both directions",
    "joint/*": "log motions that use the whole range of the joint",
    "control/delay": "log commands that change quickly, such as steps or chirps",
    "control/*": "log commands of several sizes and both signs",
    "sensor/*": "log the joint at a known pose, or take this number as known",
    "contact/*": "log more and different contacts: slides as well as hits",
    "shape/*": "log contacts of every side of the shape, and at several places of the ground, or measure it",
    "limit/*": "log motions in which the joint reaches its limit, slowly and fast",
}
"""What to do, by patterns of names; the first that fits."""


def parameters(calibration: Calibration) -> Html:
    shown = next((s for n in ("explained", "calibrated") if (s := calibration.stage(n)) and s.fit), None)
    if shown is None or shown.fit is None:
        return section("parameters", "Parameters", tag("p", "No parameters were fitted."))
    fit, hybrid = shown.fit, calibration.stage("hybrid")
    beside = {e.name: e for e in hybrid.fit.parameters} if hybrid and hybrid.fit else {}
    intro = f"Of the model “{shown.name}”. Intervals {fit.uncertainty}."
    legend = tag(
        "p", Html("&#9675; value in the file, &#9679; fitted, with the 95 % interval as a line."), class_="small"
    )
    header = ["parameter", "unit", "in the file", "fitted", "95 % interval", "", "change"]
    header += ["in hybrid"] if beside else []
    shown_rows = table(header, [_row(e, beside) for e in fit.parameters], (0, 1, 5))
    return section("parameters", "Parameters", tag("p", intro), legend, shown_rows, *_apart(fit), *_unknown(fit))


def _apart(fit: Fit) -> list[Html]:
    """Numbers of sensors and controls, which no model file can hold."""
    names = [e.name for e in fit.parameters if e.name.startswith(("control/", "sensor/"))]
    words = ": of the measurement, not of the mechanism. A model file cannot hold it; apply it to logs and commands."
    return [tag("p", *_listed(names), words, class_="small")] if names else []


def _row(e: Estimate, beside: dict[str, Estimate]) -> list[str]:
    digits = digits_for(e.value, e.deviation)
    sure = e.note != UNDETERMINED and math.isfinite(e.deviation)
    interval = f"{number(e.lower, digits, True)} to {number(e.upper, digits, True)}" if sure else "not determined"
    cells = [
        _name(e),
        tag("span", unit_text(e.unit), class_="nowrap"),
        number(e.start, 4),
        tag("b" if sure else "span", number(e.value, digits, True)),
        interval,
    ]
    cells += [interval_plot(e) if sure else "", _change(e)]
    if beside:
        cells.append(number(beside[e.name].value, digits, True) if e.name in beside else NONE)
    return cells


def _name(e: Estimate) -> Html:
    name = tag("code", e.name)
    if not e.note:
        return name
    level = {UNDETERMINED: "bad", AT_BOUND: "look"}.get(e.note, "quiet")
    return together([name, tag("br"), tag("span", e.note, class_=f"level {level}")])


def _change(e: Estimate) -> str:
    if not (math.isfinite(e.start) and math.isfinite(e.value)):
        return NONE
    if e.start == 0 and e.unit in ("m", "rad"):  # of a length or an angle, zero is a value like any other
        return f"{'+' if e.value > 0 else ''}{number(e.value, 2)} {e.unit}"
    if e.start == 0:
        return "new" if e.value else "none"
    change = (e.value - e.start) / abs(e.start)
    return ("+" if change > 0 else "") + percent(change)


def interval_plot(e: Estimate, width: int = 100, height: int = 16) -> Html:
    """Before, after and interval on a line of its own scale."""
    points = [x for x in (e.start, e.value, e.lower, e.upper) if math.isfinite(x)]
    low, span = min(points), max(max(points) - min(points), 1e-300)

    def x(value: float) -> float:
        return round(6 + (width - 12) * (min(max(value, low), low + span) - low) / span, 1)

    middle = height // 2
    parts = [tag("line", x1=2, x2=width - 2, y1=middle, y2=middle, stroke="var(--line)")]
    look = {"stroke": "var(--explained)", "stroke-width": 3, "stroke-linecap": "round", "opacity": 0.55}
    parts.append(tag("line", x1=x(e.lower), x2=x(e.upper), y1=middle, y2=middle, **look))
    parts += [
        tag("circle", cx=x(e.start), cy=middle, r=3.4, fill="var(--paper)", stroke="var(--original)", stroke_width=1.5),
        tag("circle", cx=x(e.value), cy=middle, r=3.2, fill="var(--explained)"),
    ]
    alt = f"{e.name}: {number(e.start)} in the file, {number(e.value)} fitted"
    return tag("svg", *parts, class_="spark", viewBox=f"0 0 {width} {height}", role="img", aria_label=alt)


def _unknown(fit: Fit) -> list[Html]:
    """What not to trust, and what to do about it."""
    unseen = "not seen in the logs: do not use the fitted value. What helps:"
    ended = "ended at a bound of the search. Check the bounds in fit.toml and the units of the logs; what also helps:"
    found = _advice(fit, UNDETERMINED, unseen) + _advice(fit, AT_BOUND, ended)
    head, *details = fit.identifiability.split("\n- ")
    parts = [tag("h3", "What the data could not tell"), tag("p", sentence_of(head))]
    if found:
        parts.append(tag("ul", *found))
    if details:
        items = tag("ul", *(tag("li", sentence_of(words)) for words in details))
        said = tag("summary", f"{counted(len(details), 'remark')} on what the data determine")
        parts.append(tag("details", said, items, open="open" if len(details) <= _AT_ONCE else ""))
    return parts


def _advice(fit: Fit, note: str, words: str) -> list[Html]:
    """One sentence for all numbers of the same hint."""
    groups: dict[str, list[str]] = {}
    for e in fit.parameters:
        if e.note == note:
            hint = next((h for pattern, h in _HINTS.items() if fnmatchcase(e.name, pattern)), "log richer motions")
            groups.setdefault(hint, []).append(e.name)
    return [tag("li", *_listed(names), f": {words} {hint}.") for hint, names in groups.items()]


def _listed(names: list[str]) -> list[str]:
    return [part for name in names for part in (", ", tag("code", name))][1:]
