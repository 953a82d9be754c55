"""The best, the usual and the worst window of the best model, near enough to see samples."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...calibrate.result import Calibration, Prediction, Stage
from .numbers import error, number
from .overlays import legend, worst_joints
from .picture import INK, MUTED, Picture, drawing, picture, stage_colour
from .units import Units
from .windows import (
    compared,
    cut,
    limits,
    log_time,
    measured_samples,
    same_window,
    thinned,
    window_errors,
    window_errors_of,
)


def zoom(calibration: Calibration, names: dict[str, str], units: Units) -> Picture:
    stages = compared(calibration)
    prediction = stages[-1].prediction
    errors = window_errors(prediction)
    order = np.argsort(errors, kind="stable")
    windows = {"best": int(order[0]), "median": int(order[len(order) // 2]), "worst": int(order[-1])}
    if len(order) < 3:
        del windows["median"]
    joints = worst_joints(stages[-1], 3)
    with drawing():
        figure = Figure(figsize=(9.4, 0.8 + 1.6 * len(joints)), layout="constrained")
        grid = figure.subplots(len(joints), len(windows), sharex=True, squeeze=False)
        for column, (which, window) in enumerate(windows.items()):
            for row, joint in enumerate(joints):
                _draw(grid[row, column], stages, window, joint, units.of(prediction.joints[joint]).factor)
            grid[0, column].set_title(f"{which} window: {_error(prediction, window, units)}")
            grid[-1, column].set_xlabel("time in the window [s]")
        for row, joint in enumerate(joints):
            name = prediction.joints[joint]
            grid[row, 0].set_ylabel(f"{name} [{units.of(name).unit}]")
        figure.legend(handles=legend(stages, prediction.begin, dots=True), loc="outside upper left", ncols=5)
        caption = f"The {', '.join(windows)} of {len(errors)} windows by the error of the model “{stages[-1].name}”: "
        caption += "; ".join(
            f"{names[prediction.runs[w]]} from {number(log_time(prediction, w), 5)} s" for w in windows.values()
        )
        return picture("windows", figure, "Measured and simulated positions in three windows, enlarged", caption)


def _error(prediction: Prediction, window: int, units: Units) -> str:
    found = window_errors_of(prediction, window)
    return " and ".join(error(kind.factor * float(found.of(kind.si).rmse[0]), kind.unit) for kind in units.kinds)


def _draw(axes: Axes, stages: tuple[Stage, ...], window: int, joint: int, factor: float) -> None:
    reference = stages[-1].prediction
    begin = reference.times[window, 0]
    lines = []
    for stage in stages:
        own = same_window(reference, stage.prediction, window)
        if own is not None:
            keep = thinned(stage.prediction.times.shape[1], 200)
            x = stage.prediction.times[own, keep] - begin
            lines.append((stage, x, factor * stage.prediction.simulated[own, keep, joint]))
    keep = measured_samples(reference, window, joint, 40)
    measured = factor * reference.measured[window, keep, joint]
    low, high = limits(measured, lines[-1][2], lines[0][2])
    if reference.begin > 0:
        axes.axvspan(0, reference.begin, color=MUTED, lw=0, alpha=0.15)
    axes.plot(reference.times[window, keep] - begin, measured, ".", color=INK, ms=4, mew=0, zorder=3)
    for stage, x, line in lines:
        axes.plot(x, cut(line, low, high), color=stage_colour(stage.name), lw=1.6)
    axes.set_ylim(low, high)
    axes.margins(x=0.01)
