"""What the model lacked, and what else was tried."""

import math

from ...calibrate.result import Calibration, Candidate, Finding
from .markup import Html, bar, section, table, tag
from .numbers import ordinal, percent, sentence_of

_AT_ONCE = 12


def missing(calibration: Calibration) -> Html:
    if calibration.findings:
        said = tag("ul", *(_finding(finding) for finding in calibration.findings), class_="findings")
    elif calibration.candidates:
        said = tag("p", "Nothing that was tried explains what is left of the error: the model lacks none of it.")
    else:
        stopped = " since the run was stopped before" if calibration.stopped else ""
        said = tag("p", f"The search for missing effects was not made{stopped}.")
    return section("missing", "What the model lacked", said, *_tried(calibration.candidates))


def _finding(finding: Finding) -> Html:
    title = " · ".join(part for part in (finding.effect, finding.where) if part)
    gain = tag("p", bar(finding.gain, "explained"), f" explains {percent(finding.gain)} of the error", class_="small")
    return tag("li", tag("strong", title[:1].upper() + title[1:]), tag("p", sentence_of(finding.words)), gain)


def _tried(candidates: tuple[Candidate, ...]) -> list[Html]:
    if not candidates:
        return []
    chosen = sorted((c for c in candidates if c.chosen), key=lambda c: c.order)
    others = sorted((c for c in candidates if not c.chosen), key=lambda c: -c.gain if math.isfinite(c.gain) else 0.0)
    ranked = chosen + others
    note = (
        "The gain is the part of the squared error of left-out data that an effect explains beside what was chosen "
        "before it."
    )
    shown = [tag("h3", f"All {len(candidates)} candidates"), tag("p", note, class_="small"), _table(ranked[:_AT_ONCE])]
    if rest := ranked[_AT_ONCE:]:
        shown.append(tag("details", tag("summary", f"{len(rest)} more with less gain"), _table(rest)))
    return shown


def _table(candidates: list[Candidate]) -> Html:
    rows = []
    for c in candidates:
        mark = (
            tag("span", f"chosen {ordinal(c.order + 1)}" if c.order >= 0 else "chosen", class_="badge")
            if c.chosen
            else ""
        )
        colour = "explained" if c.chosen else "muted"
        rows.append([c.effect, c.where or "everywhere", mark, bar(c.gain, colour), percent(c.gain)])
    return table(["effect", "where", "", "", "gain"], rows, texts=range(4))
