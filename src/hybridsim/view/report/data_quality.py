"""What the logs are like, and which were used for what."""

import math

from ...calibrate.result import Calibration
from ...data.log import Quality
from .markup import Html, section, table, tag
from .numbers import NONE, counted, number, percent

_AT_ONCE = 6
_WORST = {"bad": 2, "look": 1, "good": 0}
_SAID = {"bad": "bad", "look": "take a look", "good": "good"}


def data_quality(calibration: Calibration, names: dict[str, str]) -> Html:
    uses = {t.run: "held out" for t in calibration.held_out} | {t.run: "fit" for t in calibration.training}
    runs = list(dict.fromkeys([*uses, *calibration.qualities]))
    if not runs:
        return section("data", "Data", tag("p", "Nothing is known of the logs."))
    runs.sort(key=lambda run: uses.get(run, "not used") != "fit")
    rows = [_row(names.get(run, run), uses.get(run, "not used"), calibration.qualities.get(run)) for run in runs]
    header = ["run", "used for", "verdict", "duration", "rate", "jitter", "holes", "longest hole"]
    details = [
        _details(names.get(run, run), calibration.qualities[run]) for run in runs if run in calibration.qualities
    ]
    return section("data", "Data", table(header, rows, range(3)), *_verdicts(calibration, names), *details)


def _row(name: str, use: str, quality: Quality | None) -> list[str]:
    if quality is None:
        return [name, use, "not examined", *[NONE] * 5]
    worst = max((level for level, _ in quality.verdicts), key=_WORST.__getitem__, default="good")
    hole = f"{number(quality.longest_hole)} s" if quality.holes else NONE
    numbers = [f"{number(quality.duration)} s", f"{number(quality.rate)} Hz", percent(quality.jitter)]
    return [name, use, _badge(worst), *numbers, str(quality.holes), hole]


def _badge(level: str) -> Html:
    return tag("span", _SAID[level], class_=f"level {level}")


def _verdicts(calibration: Calibration, names: dict[str, str]) -> list[Html]:
    """What is not good, each sentence once with the runs of which it is said."""
    said: dict[tuple[str, str], list[str]] = {}
    for run, quality in calibration.qualities.items():
        for level, words in quality.verdicts:
            if level != "good":
                said.setdefault((level, words), []).append(names.get(run, run))
    if not said:
        return [tag("p", "Nothing in the logs needs attention.")]
    ranked = sorted(said.items(), key=lambda item: -_WORST[item[0][0]])
    items = [tag("li", _badge(level), f" {_whose(runs, calibration)}: {words}") for (level, words), runs in ranked]
    shown = [tag("ul", *items[:_AT_ONCE], class_="plain")]
    if rest := items[_AT_ONCE:]:
        more = tag("summary", f"{counted(len(rest), 'remark')} more")
        shown.append(tag("details", more, tag("ul", *rest, class_="plain")))
    return shown


def _whose(runs: list[str], calibration: Calibration) -> str:
    return "all runs" if len(runs) == len(calibration.qualities) > 1 else ", ".join(runs)


def _details(name: str, quality: Quality) -> Html:
    header = ["channel", "low", "high", "measured", "noise (std)", "sensor step", "at limit", "longest stuck"]
    rows = [
        [
            tag("code", c.key),
            number(c.low),
            number(c.high),
            percent(c.measured, 3),
            number(c.noise, 2),
            number(c.quantum, 2) if c.quantum > 0 else NONE,
            percent(c.saturated) if c.saturated > 0 else NONE,
            f"{number(c.stuck, 2)} s" if c.stuck > 0 else NONE,
        ]
        for c in quality.channels
    ]
    notes = [f"Delay of {key}: {delay}." for key, delay in quality.delays.items()]
    notes += [
        f"The measured velocity of {joint} is {number(ratio)} times that of its positions."
        for joint, ratio in quality.velocity_ratios.items()
        if math.isfinite(ratio) and abs(ratio - 1) > 0.05
    ]
    notes += [f"Good: {words}" for level, words in quality.verdicts if level == "good"]
    summary = tag("summary", f"{name}: {counted(len(quality.channels), 'channel')}")
    said = [tag("ul", *(tag("li", note) for note in notes))] if notes else []
    return tag("details", summary, table(header, rows), *said)
