"""The result in one sentence, and a card for each model."""

import math

from ...calibrate.result import Calibration, Stage
from .markup import Html, bar, tag
from .numbers import counted, error, number, percent, times
from .units import Units


def where(calibration: Calibration) -> str:
    """On which runs errors were found."""
    if calibration.held_out:
        return counted(len(calibration.held_out), "held-out run")
    count = len(calibration.training)
    return "the run of the fit itself" if count == 1 else f"the {count} runs of the fit itself"


def sentence(calibration: Calibration, units: Units) -> str:
    """The result, made from the numbers."""
    original, best = calibration.stages[0], calibration.best
    before, after = (units.text(stage.held_out) for stage in (original, best))
    on = f"On {where(calibration)}"
    horizon = f"the median error over {calibration.window:g} s"
    if math.isinf(best.held_out.score):
        return f"{on} every model runs away from the measured motion within {calibration.window:g} s."
    if best is original:
        if len(calibration.stages) == 1:
            return f"{on} {horizon} is {before} with the model as it is in the file; nothing was fitted."
        return f"{on} no fitted model is better than the one in the file: {horizon} is {before}."
    if math.isinf(original.held_out.score):
        return f"{on} the model of the file runs away; now {horizon} is {after}."
    return f"{on} {horizon} {_falls(original, best, units)} from {before} to {after}, {_gain(original, best, units)}."


def _ratios(original: Stage, best: Stage, units: Units) -> list[float]:
    """In each unit, how many times smaller the error is."""
    pairs = [[stage.held_out.of(kind.si).median for stage in (original, best)] for kind in units.kinds]
    return [before / after if after > 0 else math.inf for before, after in pairs]


def _falls(original: Stage, best: Stage, units: Units) -> str:
    """The best of all may be a little worse in one of two units."""
    return "falls" if min(_ratios(original, best, units)) >= 1 else "goes"


def _gain(original: Stage, best: Stage, units: Units) -> str:
    ratios = _ratios(original, best, units)
    if math.inf in ratios:
        return "to nothing"
    return f"{' and '.join(map(times, ratios))} times" + ("" if min(ratios) >= 1 else " smaller")


def advice(calibration: Calibration, files: dict[str, str]) -> str:
    """Which model to take, and whether the network is worth it."""
    best, hybrid = calibration.best, calibration.stage("hybrid")
    if best.name == "original":
        return "Keep the model of the file." if len(calibration.stages) > 1 else ""
    file = file_of(calibration, best, files)
    if hybrid is None:
        return f"Take {file}."
    simpler = min(
        (s for s in calibration.stages if s.name not in ("original", "hybrid")),
        key=lambda s: s.held_out.score,
        default=None,
    )
    if best is not hybrid:
        return f"The network adds nothing: take {file}."
    if simpler is None or not math.isfinite(simpler.held_out.score):
        return f"Take the hybrid model ({file})."
    gain = 1 - best.held_out.score / simpler.held_out.score
    if gain < 0.1:
        plain = file_of(calibration, simpler, files)
        return f"The network takes away only {percent(gain)} of the error: {plain}, without it, is nearly as good."
    return (
        f"The network takes away {percent(gain)} of the error that is left without it: take the hybrid model ({file})."
    )


def file_of(calibration: Calibration, stage: Stage, files: dict[str, str]) -> str:
    """The file of a stage in the folder of the run."""
    suffix = ".hybrid" if stage.name == "hybrid" else calibration.model_file.suffix
    usual = "model.hybrid" if stage.name == "hybrid" else f"calibrated{suffix}"
    own = f"{stage.name}{suffix}"
    return own if own in files else usual


def cards(calibration: Calibration, units: Units) -> Html:
    return tag("div", *(_card(calibration, stage, units) for stage in calibration.stages), class_="cards")


def _card(calibration: Calibration, stage: Stage, units: Units) -> Html:
    best = stage is calibration.best
    medians = [kind.factor * stage.held_out.of(kind.si).median for kind in units.kinds]
    ran_away = not all(map(math.isfinite, medians))
    shown = [(error(math.inf), "")] if ran_away else []
    shown = shown or [(number(x, full=True), kind.unit) for x, kind in zip(medians, units.kinds, strict=True)]
    ninth = math.isfinite(stage.held_out.ninth)
    return tag(
        "div",
        tag(
            "h3", stage.name, tag("span", "best", class_="badge") if best and len(calibration.stages) > 1 else Html("")
        ),
        tag("p", stage.title, class_="small"),
        *(
            tag("p", tag("span", value, class_="big" if unit else "big words"), " ", unit, class_="value")
            for value, unit in shown
        ),
        tag("p", f"90 % of windows below {units.text(stage.held_out, 'ninth')}" if ninth else _diverged(stage)),
        _settled(stage, units),
        _against_original(calibration, stage),
        class_="card best" if best else "card",
        style=f"border-top-color:var(--{stage.name})",
    )


def _settled(stage: Stage, units: Units) -> Html:
    """Where encoders have another zero in every run, the error once a run's first seconds have told it."""
    if stage.settled is None:
        return tag("p")
    return tag(
        "p",
        f"{units.text(stage.settled)} after the first seconds of a run have told its encoders' zeros",
        class_="small",
    )


def _against_original(calibration: Calibration, stage: Stage) -> Html:
    """A bar: the part of the original's error that is left."""
    before, after = calibration.stages[0].held_out.score, stage.held_out.score
    if not (math.isfinite(before) and before > 0):
        return Html("")
    left = after / before
    words = "the model of the file" if stage is calibration.stages[0] else f"{_left(left)} of the file's error"
    return tag("p", bar(left, stage.name), tag("br"), words, class_="small")


def _diverged(stage: Stage) -> str:
    errors = stage.held_out.rmse
    return f"{sum(map(math.isinf, errors))} of {counted(len(errors), 'window')} diverged"


def _left(share: float) -> str:
    return percent(share) if share < 10 else f"{number(share, 2)} times" if math.isfinite(share) else "no end"
