"""Measured motion, and what two models say of it, over whole runs."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ...calibrate.result import Calibration, Stage
from .numbers import counted, number
from .picture import INK, MUTED, SOFT, Picture, drawing, picture, stage_colour
from .units import Units
from .windows import compared, cut, limits, log_time, measured_samples, same_window, shown_windows, thinned

_MOST_JOINTS = 8
_POINTS = 150
"""Of a line in a window."""


def overlay(calibration: Calibration, run: str, name: str, units: Units, file: str) -> Picture:
    """One run: joints below one another, windows beside one another. `name` is the run's for people, `file` the figure's."""
    stages = compared(calibration)
    shown = stages[-1]
    windows = shown_windows(shown.prediction, run)
    joints = worst_joints(shown, _MOST_JOINTS)
    with drawing():
        figure = Figure(figsize=(9.4, 0.9 + (1.9 if len(joints) < 3 else 1.5) * len(joints)), layout="constrained")
        rows = figure.subplots(len(joints), 1, sharex=True, squeeze=False)[:, 0]
        for axes, joint in zip(rows, joints, strict=True):
            _draw_joint(axes, stages, windows, joint, units)
        _label_windows(rows[-1], shown, windows)
        figure.legend(handles=legend(stages, shown.prediction.begin), loc="outside upper left", ncols=5)
        total = shown.prediction.runs.count(run)
        caption = (
            f"{name}: {_how_many(len(windows), total)} of {calibration.window:g} s (shaded in turn). Each begins anew at "
            f"the measured motion and then the model runs by itself."
        )
        left_out = len(shown.prediction.joints) - len(joints)
        if left_out:
            caption += f" The {counted(left_out, 'joint')} with the least error are not shown."
        alt = (
            f"Measured and simulated positions of {', '.join(shown.prediction.joints[j] for j in joints)} in run {name}"
        )
        return picture(file, figure, alt, caption)


def worst_joints(stage: Stage, most: int) -> list[int]:
    """Places of the joints with the largest error, in the order of the model."""
    prediction = stage.prediction
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.nan_to_num((prediction.simulated - prediction.measured) ** 2, posinf=1e300).mean(axis=(0, 1))
    return sorted(np.argsort(-squares, kind="stable")[:most].tolist())


def _how_many(shown: int, total: int) -> str:
    return counted(total, "window") if shown == total else f"{shown} of {total} windows"


def _draw_joint(axes: Axes, stages: tuple[Stage, ...], windows: list[int], joint: int, units: Units) -> None:
    reference = stages[-1].prediction
    length = window_length(stages[-1])
    for k in range(len(windows)):
        if k % 2:
            axes.axvspan(k * length, (k + 1) * length, color=SOFT, lw=0, zorder=0)
        if reference.begin > 0:
            axes.axvspan(k * length, k * length + reference.begin, 0, 0.035, color=MUTED, lw=0, alpha=0.7)
    x, measured = _measured(stages[-1], windows, joint)
    lines = [_simulated(stages[-1], stage, windows, joint) for stage in stages]
    name = reference.joints[joint]
    kind = units.of(name)
    low, high = limits(*(kind.factor * y for y in (measured, lines[-1][1], lines[0][1])))
    axes.plot(x, kind.factor * measured, color=INK, lw=3.2, alpha=0.28)
    for stage, (x, y) in zip(stages, lines, strict=True):
        axes.plot(x, cut(kind.factor * y, low, high), color=stage_colour(stage.name), lw=1.15)
    axes.set_ylim(low, high)
    axes.set_xlim(0, len(windows) * length)
    axes.grid(visible=False, axis="x")
    axes.set_title(name)
    axes.set_ylabel(f"position [{kind.unit}]")
    axes.tick_params(axis="x", length=0)


def _measured(stage: Stage, windows: list[int], joint: int) -> tuple[np.ndarray, np.ndarray]:
    """Windows beside one another: times and positions, with NaN between windows so that no line joins them."""
    prediction, length, parts = stage.prediction, window_length(stage), []
    for k, window in enumerate(windows):
        known = measured_samples(prediction, window, joint, _POINTS)
        since = prediction.times[window, known] - prediction.times[window, 0]
        parts.append((k * length + since, prediction.measured[window, known, joint]))
    return _joined(parts)


def _simulated(reference: Stage, stage: Stage, windows: list[int], joint: int) -> tuple[np.ndarray, np.ndarray]:
    """The same of what a stage says in its own windows that begin where those of the reference do."""
    prediction, length, parts = stage.prediction, window_length(reference), []
    for k, window in enumerate(windows):
        own = same_window(reference.prediction, prediction, window)
        if own is not None:
            keep = thinned(prediction.times.shape[1], _POINTS)
            since = prediction.times[own, keep] - reference.prediction.times[window, 0]
            parts.append((k * length + since, prediction.simulated[own, keep, joint]))
    return _joined(parts)


def _joined(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    rows = [np.stack([np.append(x, np.nan), np.append(y, np.nan)]) for x, y in parts]
    x, y = np.concatenate(rows, axis=1) if rows else np.zeros((2, 0))
    return x, y


def window_length(stage: Stage) -> float:
    """With the step to the next window [s]."""
    times = stage.prediction.times
    samples = times.shape[1]
    return float(np.median(times[:, -1] - times[:, 0])) * samples / max(samples - 1, 1) or 1.0


def _label_windows(axes: Axes, stage: Stage, windows: list[int]) -> None:
    length = window_length(stage)
    axes.set_xticks(
        [k * length for k in range(len(windows))], [number(log_time(stage.prediction, w), 5) for w in windows]
    )
    axes.set_xlabel("time in the log at which a window begins [s]")


def legend(stages: tuple[Stage, ...], begin: float, dots: bool = False) -> list:
    measured: dict = {"marker": ".", "ls": "", "mew": 0} if dots else {"lw": 3.2, "alpha": 0.28}
    lines: list = [Line2D([], [], color=INK, label="measured", **measured)]
    lines += [Line2D([], [], color=stage_colour(s.name), lw=1.4, label=_told(s)) for s in stages]
    if begin > 0:
        lines.append(Patch(color=MUTED, alpha=0.7, label=f"used to find the start ({begin:.2g} s)"))
    return lines


def _told(stage: Stage) -> str:
    return stage.name if np.isfinite(stage.held_out.score) else f"{stage.name} (diverged)"
