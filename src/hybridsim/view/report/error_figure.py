"""How the error grows with the time that a model runs by itself, and how it is spread over windows."""

import warnings

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from ...calibrate.result import Calibration
from .numbers import number
from .picture import MUTED, PAPER, Picture, drawing, picture, stage_colour
from .units import Kind, Units


def error_by_horizon(calibration: Calibration, units: Units) -> Picture:
    with drawing():
        count = len(units.kinds)
        figure = Figure(figsize=(9.4, 3.5 * count), layout="constrained")
        grid = figure.subplots(count, 2, width_ratios=(1.3, 1), sharey="row", squeeze=False)
        for kind, (left, right) in zip(units.kinds, grid, strict=True):
            _horizon(left, calibration, kind)
            _spread(right, calibration, kind)
            left.yaxis.set_major_locator(LogLocator(numticks=8))
            left.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
            left.minorticks_off()
            right.minorticks_off()
        caption = (
            "Left: the longer a model runs by itself, the further it is off (median over windows; grey: used to find the "
            "start). Right: the error of every window, and the median. Both axes of errors are logarithmic and the same."
        )
        return picture("error_by_horizon", figure, "Error over the horizon, of each model", caption)


def _horizon(axes: Axes, calibration: Calibration, kind: Kind) -> None:
    ends = []
    for stage in calibration.stages:
        with warnings.catch_warnings():
            # A moment at which no window has a measured joint.
            warnings.filterwarnings("ignore", message="Mean of empty slice")
            time, distance = stage.held_out.of(kind.si).by_horizon()
        distance = kind.factor * distance
        known = np.isfinite(distance) & (distance > 0) & (distance < 1e6 * kind.factor)
        if known.any():
            axes.semilogy(time[known], distance[known], color=stage_colour(stage.name), lw=1.8)
            last = int(np.flatnonzero(known)[-1])
            lost = bool((distance[last + 1 :] > 0).any())
            ends.append((float(np.log10(distance[last])), stage.name, lost))
    begin = calibration.stages[0].prediction.begin
    if begin > 0:
        axes.axvspan(0, begin, color=MUTED, alpha=0.15, lw=0)
    axes.set_xlim(0, None)
    axes.set_title("By the time since the start of a window")
    axes.set_xlabel("time since the start of the window [s]")
    axes.set_ylabel(f"error [{kind.unit}]")
    if ends:
        _name_ends(axes, sorted(ends))


def _name_ends(axes: Axes, ends: list[tuple[float, str, bool]]) -> None:
    """Each curve carries its name at its end, moved where two would lie on one another."""
    low, high = np.log10(axes.get_ylim())
    apart, below = 0.06 * (high - low), -np.inf
    for height, name, lost in ends:
        below = max(height, below + apart)
        text = f"{name} (diverges)" if lost else name
        axes.annotate(text, (1, 10**below), xycoords=axes.get_yaxis_transform(), xytext=(5, 0), fontweight="bold",
                      textcoords="offset points", color=stage_colour(name), va="center", fontsize=8)  # fmt: skip


def _spread(axes: Axes, calibration: Calibration, kind: Kind) -> None:
    """A dot a window; windows without an end are triangles at the top."""
    every = [stage.held_out.of(kind.si) for stage in calibration.stages]
    finite = np.concatenate([e[np.isfinite(e) & (e > 0)] for e in (errors.rmse for errors in every)])
    top = 3 * kind.factor * float(finite.max()) if finite.size else 1.0
    for k, stage in enumerate(calibration.stages):
        errors = kind.factor * every[k].rmse
        # Beside one another by the golden ratio, which looks like chance and is always the same.
        x = k + 0.5 * (np.arange(len(errors)) * 0.618034 % 1 - 0.5)
        colour, lost = stage_colour(stage.name), ~np.isfinite(errors)
        axes.semilogy(x[~lost], errors[~lost], "o", color=colour, ms=3, alpha=0.55, mew=0)
        axes.semilogy(x[lost], np.full(lost.sum(), top), "^", color=colour, ms=4, alpha=0.7, mew=0)
        if np.isfinite(middle := kind.factor * every[k].median):
            axes.plot([k - 0.36, k + 0.36], [middle, middle], color=PAPER, lw=4.5)
            axes.plot([k - 0.36, k + 0.36], [middle, middle], color=colour, lw=2.4)
    if any(np.isinf(errors.rmse).any() for errors in every):
        axes.annotate("▲ diverged", (1, top), xycoords=axes.get_yaxis_transform(), ha="right", va="bottom",
                      xytext=(0, 4), textcoords="offset points", color=MUTED, fontsize=7.5)  # fmt: skip
    axes.set_xticks(range(len(calibration.stages)), [stage.name for stage in calibration.stages])
    axes.set_xlim(-0.6, len(calibration.stages) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.set_title("Of every window")
    axes.set_ylabel(f"error [{kind.unit}]")
    axes.tick_params(axis="y", labelleft=True)
